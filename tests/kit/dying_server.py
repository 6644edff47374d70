"""`python tests/kit/dying_server.py POINT N serve …`: Shiguan, but it sends itself SIGKILL at the N-th time at POINT.

POINT is a step of the historian (`rewrite`), or a method, `before:module:Class.method` or `after:module:Class.method`.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any

STEPS = ("evidence", "rewrite", "store", "merge", "settle")


class Fate:
    """Counts the times at the point, and ends the process at the N-th."""

    def __init__(self, times: int) -> None:
        self._left = times
        self._lock = threading.Lock()
        self._seen = count(1)

    def meet(self) -> None:
        """Be at the point."""
        with self._lock:
            if next(self._seen) == self._left:
                os.kill(os.getpid(), signal.SIGKILL)


def doom_step(step: str, fate: Fate) -> None:
    """Meet fate when a job enters `step`."""
    from historian.steps import Steps

    enter = Steps.enter

    @wraps(enter)
    def entering(self: Steps, job_id: str, entered: str) -> None:
        if entered == step:
            fate.meet()
        enter(self, job_id, entered)

    Steps.enter = entering  # type: ignore[method-assign]


def doom_method(point: str, fate: Fate) -> None:
    """Meet fate before or after a method runs."""
    when, module, name = point.split(":")
    kind_name, method_name = name.split(".")
    kind = getattr(importlib.import_module(module), kind_name)
    method: Callable[..., Any] = getattr(kind, method_name)

    @wraps(method)
    def calling(*arguments: Any, **named: Any) -> Any:
        if when == "before":
            fate.meet()
        result = method(*arguments, **named)
        if when == "after":
            fate.meet()
        return result

    setattr(kind, method_name, calling)


def main() -> int:
    """Arrange the death and run the command."""
    point, times, *arguments = sys.argv[1:]
    fate = Fate(int(times))
    if point in STEPS:
        doom_step(point, fate)
    else:
        doom_method(point, fate)
    from server.cli import main as run

    return run(arguments)


if __name__ == "__main__":
    sys.path.pop(0)  # tests/kit, where this file lies
    sys.exit(main())
