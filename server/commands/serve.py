"""`shiguan serve`."""

from __future__ import annotations

import argparse
import logging
import sys
from functools import partial

import anyio

from historian.session import Session
from server.binding import Binding
from server.commands.common import scope_of, settings_from
from server.sessions import serve_standalone
from server.toolsets import published


def serve(arguments: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    settings = settings_from(arguments)
    published(settings.toolsets)
    binding = Binding(scope_of(settings), Session(timezone=settings.timezone))
    anyio.run(partial(serve_standalone, settings, binding))
    return 0
