"""`shiguan serve --standalone`."""

from __future__ import annotations

import argparse
from functools import partial

from server.commands.common import log_to_stderr, require_one_identity, settings_from, tell_unknown_variables
from server.garbage import collect_nothing
from server.wire import claim_stdio, leave_within

AFTERWARDS_SECONDS = 1.0
"""How long threads that cannot be interrupted may hold up the end once everything is closed."""


def serve(arguments: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    collect_nothing()
    wire = claim_stdio()  # before the imports below, of which any may print
    log_to_stderr()
    tell_unknown_variables()
    from server.sessions import serve_standalone

    code = 1
    try:
        settings = settings_from(arguments)
        require_one_identity(arguments, settings)
        serve_standalone(settings, wire, partial(settings_from, arguments))
        code = 0
    finally:
        leave_within(AFTERWARDS_SECONDS, code)
    return code
