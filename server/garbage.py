"""The garbage collector while a process starts: what is loaded stays, so there is nothing to look for meanwhile.

Each look goes through the half million objects of all that is imported, while a client waits to be greeted.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

NEW_OBJECTS = 5_000
"""How many objects there are more than at the last look before there is another one: a call alone makes thousands that
are gone with it, and 700 of them, as is usual, cost each call three looks.
"""


def collect_nothing() -> None:
    """Let what is loaded now be loaded undisturbed, until `keep_what_is_loaded` is called."""
    gc.disable()


def keep_what_is_loaded() -> None:
    """Collect again, but look no more through what is there now. Does nothing where collecting was never stopped."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()


@contextmanager
def undisturbed() -> Generator[None]:
    """Collect nothing while the block loads, and afterwards as before."""
    collects = gc.isenabled()
    collect_nothing()
    try:
        yield
    finally:
        if collects:
            keep_what_is_loaded()
