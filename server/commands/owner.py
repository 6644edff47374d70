"""`shiguan owner run|status|stop`: the process behind all clients of a data folder."""

from __future__ import annotations

import argparse
import json
import os
import time

from historian.errors import FolderInUseError, NotFoundError, StoreError
from historian.hold import FolderHold, is_held
from server.bare import folder_alone
from server.commands.common import log_to_stderr, say, settings_from
from server.garbage import collect_nothing
from server.owner.address import HTTP, OWNER, connect, read_holder
from server.owner.ask import ask_running

LEAVING_SECONDS = 20.0
"""How long a new owner waits for one that is leaving."""


def manage_owner(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    match arguments.action:
        case "run":
            return run_owner(arguments)
        case "status":
            return _show(arguments)
        case _:
            return _stop(arguments)


def run_owner(arguments: argparse.Namespace) -> int:
    """Own the data folder until nobody needs it; where another owner answers already, leave at once.

    Raises:
        FolderInUseError: a process that is no owner holds the folder.
    """
    collect_nothing()
    log_to_stderr()
    settings = settings_from(arguments)
    hold = FolderHold(settings.data_dir)
    deadline = time.monotonic() + LEAVING_SECONDS
    while True:
        try:
            hold.take(OWNER)
            break
        except FolderInUseError:
            connection = connect(settings.data_dir)
            if connection is not None:
                connection.close()
                return 0
            is_owner = read_holder(settings.data_dir).get("purpose", OWNER) in (OWNER, HTTP)
            if not is_owner or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    try:
        from server.owner.serving import serve_folder

        serve_folder(settings, hold)
    finally:
        hold.release()
    return 0


def _show(arguments: argparse.Namespace) -> int:
    settings = folder_alone(vars(arguments), os.environ)
    state = ask_running(settings, {"op": "status"})
    if state is None:
        say("No owner runs on this data folder.")
        return 1
    url = f" and serves {state['http']}" if "http" in state else ""
    sentence = f"Owner {state['pid']}, version {state['version']}, is running{url}."
    say(json.dumps(state) if arguments.json else sentence)
    return 0


def _stop(arguments: argparse.Namespace) -> int:
    settings = folder_alone(vars(arguments), os.environ)
    state = ask_running(settings, {"op": "stop"})
    if state is None:
        raise NotFoundError("No owner runs on this data folder.")
    deadline = time.monotonic() + LEAVING_SECONDS
    while is_held(settings.data_dir) and read_holder(settings.data_dir).get("pid") == state["pid"]:
        if time.monotonic() > deadline:
            raise StoreError(f"Owner {state['pid']} is still finishing its work; it leaves as soon as that is done.")
        time.sleep(0.05)
    say(f"Owner {state['pid']} has left.")
    return 0
