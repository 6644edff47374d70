"""`shiguan serve --standalone`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from historian.hold import FolderHold
from server.commands.common import (
    log_to_stderr,
    require_one_identity,
    settings_from,
    tell_terminal,
    tell_unknown_variables,
)
from server.garbage import collect_nothing
from server.toolsets import require_toolsets
from server.wire import Wire, claim_stdio, leave_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from server.settings import Settings

AFTERWARDS_SECONDS = 1.0
"""How long threads that cannot be interrupted may hold up the end once everything is closed."""


def serve(arguments: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    collect_nothing()
    tell_terminal()
    wire = claim_stdio()  # before the imports below, of which any may print
    log_to_stderr()
    tell_unknown_variables()
    code = 1
    try:
        settings = settings_from(arguments)
        require_one_identity(arguments, settings)
        require_toolsets(settings.toolsets)
        _serve_held(settings, wire, partial(settings_from, arguments))
        code = 0
    finally:
        leave_within(AFTERWARDS_SECONDS, code)
    return code


def _serve_held(settings: Settings, wire: Wire, read: Callable[[], Settings]) -> None:
    hold = FolderHold(settings.data_dir)
    hold.take("serve --standalone")
    try:
        from server.sessions import serve_standalone  # most of a start: who is refused is told so before

        serve_standalone(settings, wire, read)
    finally:
        hold.release()
