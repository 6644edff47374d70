"""Stdin and stdout of this process, taken for the protocol before anything else can print. Standard library only."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from typing import BinaryIO, NamedTuple

_HALF = r"\\u[dD][{}][0-9a-fA-F]{{2}}"
_ESCAPES = re.compile(rf"({_HALF.format('89abAB')}{_HALF.format('c-fC-F')}|\\[^u])|{_HALF.format('89a-fA-F')}")


class Wire(NamedTuple):
    """Private copies of what stdin and stdout were."""

    source: BinaryIO
    sink: BinaryIO


def claim_stdio() -> Wire:
    """Return the wire. From now on nobody else reads stdin, and whatever prints, also a child, does so on stderr."""
    wire = Wire(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")  # stray words show when they are said
    return wire


def mended(line: str) -> str:
    """Return a line of JSON in which half surrogate pairs, which hosts make that clip text, are replaced by U+FFFD.

    The SDK cannot parse them, and would leave the request without any answer.
    """
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _ESCAPES.sub(lambda found: found[1] or "\\ufffd", line)


def leave_within(seconds: float, code: int = 0) -> None:
    """End the process after `seconds` if it has not ended by then: some calls of others cannot be interrupted.

    Nothing acknowledged is lost: what a crash at any instant leaves is taken up by the next process.
    """

    def leave() -> None:
        sys.stderr.flush()
        os._exit(code)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()
