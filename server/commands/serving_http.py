"""`shiguan serve --http`: the owner of a data folder that is also reached over HTTP."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from historian.errors import FolderInUseError, InvalidInputError
from historian.hold import FolderHold
from server.bare import BareSettings
from server.commands.common import bare_settings_from, complain, log_to_stderr, settings_from, tell_unknown_variables
from server.folder import make_folder
from server.garbage import collect_nothing, keep_what_is_loaded
from server.owner.address import HTTP, OWNER, read_holder
from server.owner.ask import ask_running
from server.owner.attach import Starter

if TYPE_CHECKING:
    from server.settings import Settings

TAKE_OVER_SECONDS = 30.0
"""How long the present owner may take to finish what it does."""


def serve_over_http(arguments: argparse.Namespace) -> int:
    """Serve until told to stop. An owner that runs is told to leave; local clients come along.

    Raises:
        FolderInUseError: another HTTP server, or a `--standalone` one, holds the folder.
        NotConfiguredError, InvalidInputError, StoreError: as `open_doorway`.
    """
    collect_nothing()
    log_to_stderr()
    tell_unknown_variables()
    settings = _settings(arguments)
    make_folder(settings.data_dir)
    from server.http.serving import open_doorway, serve_http

    doorway = open_doorway(settings, alone=arguments.user is not None)
    if doorway.verifier is not None and arguments.user is not None:
        complain("shiguan: --user has no effect, since clients show tokens here.")
    hold = FolderHold(settings.data_dir)
    try:
        with Starter(settings.data_dir, time.monotonic() + TAKE_OVER_SECONDS) as starter:
            starter.wait_for_turn()
            take_over(hold, bare_settings_from(arguments))
            keep_what_is_loaded()  # what is refused at the door begins no session, and is garbage too
            serve_http(doorway, hold, starter)
    finally:
        hold.release()
        doorway.socket.close()
    return 0


def take_over(hold: FolderHold, settings: BareSettings) -> None:
    """Hold the folder, telling an owner of local clients to leave it.

    Raises:
        FolderInUseError: it does not, or the holder serves over HTTP too or is no owner.
    """
    deadline = time.monotonic() + TAKE_OVER_SECONDS
    is_told = False
    while True:
        try:
            hold.take(HTTP)
            return
        except FolderInUseError:
            is_owner = read_holder(settings.data_dir).get("purpose", OWNER) == OWNER
            if not is_owner or time.monotonic() > deadline:
                raise
        is_told = is_told or ask_running(settings, {"op": "stop"}) is not None
        time.sleep(0.05)


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = settings_from(arguments)
    if settings.trust_host:
        raise InvalidInputError("--trust-host is for stdio; over HTTP give the host a token with the scope act-as.")
    given: dict[str, Any] = {"host": arguments.host, "port": arguments.port}
    wanted = {name: value for name, value in given.items() if value is not None}
    try:
        server = type(settings.server).model_validate(settings.server.model_dump() | wanted)
    except ValidationError as error:
        raise InvalidInputError(f"--{error.errors()[0]['loc'][0]} is wrong: {error.errors()[0]['msg']}.") from None
    return settings.model_copy(update={"server": server})
