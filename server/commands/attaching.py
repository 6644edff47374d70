"""`shiguan serve`: one client's end of the owner that all clients of a data folder share."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial

from server.commands.common import bare_settings_from, require_one_identity, tell_terminal, tell_unknown_variables
from server.owner.attach import attach
from server.owner.pump import Pump


def serve_attached(arguments: argparse.Namespace) -> int:
    """Pump between stdin and stdout and the owner until the host closes stdin."""
    tell_unknown_variables()
    tell_terminal()
    settings = bare_settings_from(arguments)
    require_one_identity(arguments, settings)
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb", closefd=False)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints now misses the protocol
    Pump(partial(attach, settings, "mcp"), sys.stdin.buffer, sink).run()
    return 0
