"""The garbage collector while a process starts: what is loaded stays, so there is nothing to look for meanwhile.

Each look goes through the half million objects of all that is imported, while a client waits to be greeted.
"""

from __future__ import annotations

import gc


def collect_nothing() -> None:
    """Let what is loaded now be loaded undisturbed, until `keep_what_is_loaded` is called."""
    gc.disable()


def keep_what_is_loaded() -> None:
    """Collect again, but look no more through what is there now. Does nothing where collecting was never stopped."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
