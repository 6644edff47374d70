"""`shiguan hook EVENT`: what the hooks of an agent host call. Whatever goes wrong, the host goes on."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from dataclasses import dataclass, field

from historian.errors import ShiguanError, told
from server.commands.common import bare_settings_from, complain
from server.hooks.events import HOOKS, NAMES
from server.hooks.payload import Payload

OFF = "SHIGUAN_HOOKS"
"""The variable that switches the hooks off, for one project or for all: `off`."""


@dataclass(slots=True)
class _Said:
    """What the hook has to say; written to stdout only when it came in time."""

    out: str = ""
    done: threading.Event = field(default_factory=threading.Event)


def run_hook(arguments: argparse.Namespace) -> int:
    """Run a hook within its seconds. Always returns 0: a memory that fails must not stop the work.

    It runs in a thread of its own, so that neither a hang nor a fault in it reaches the host.
    """
    if os.environ.get(OFF, "").strip().lower() in ("off", "0", "no", "false"):
        return 0
    said = _Said()
    hook = HOOKS.get(arguments.event or "")
    threading.excepthook = _report
    threading.Thread(target=_run, args=(arguments, said), daemon=True).start()
    if not said.done.wait(hook.seconds if hook else max(one.seconds for one in HOOKS.values())):
        complain("shiguan: the hook took too long and was left alone.")
        sys.stderr.flush()
        os._exit(0)  # the interpreter's own end may wait for what the thread holds, or die of it
    if said.out:
        sys.stdout.buffer.write(said.out.encode("ascii") + b"\n")
    return 0


def _run(arguments: argparse.Namespace, said: _Said) -> None:
    try:
        payload = Payload.read(sys.stdin.buffer)
        hook = HOOKS.get(arguments.event or NAMES.get(payload.event, ""))
        if hook is not None:
            said.out = hook.run(bare_settings_from(arguments), payload)
    except ShiguanError as error:
        complain(f"shiguan: {told(error)}")
    finally:
        said.done.set()


def _report(fault: threading.ExceptHookArgs) -> None:
    complain(f"shiguan: the hook failed ({fault.exc_type.__name__}).")
