"""Asking the owner something from the command line: standard library only."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from historian.errors import InvalidInputError, ShiguanError, StoreError
from server.bare import BareSettings
from server.owner.address import connect, read_token
from server.owner.attach import START_SECONDS, attach, introduce, refuse_stopped
from server.owner.preamble import encode, greeting

HUNG_UP = "The owner of the data folder hung up; try again."


class Conversation:
    """An open control connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of one operation.

        Raises:
            InvalidInputError: the owner refuses; the sentence says why.
            StoreError: the owner hung up.
        """
        try:
            self._connection.sendall(encode(request))
            answer: Any = json.loads(self._lines.readline() or b"null")
        except (OSError, ValueError):
            raise StoreError(HUNG_UP) from None
        if not isinstance(answer, dict):
            raise StoreError(HUNG_UP)
        if not answer.get("ok"):
            raise InvalidInputError(str(answer.get("error", HUNG_UP)))
        result: dict[str, Any] = answer["result"]
        return result

    def close(self) -> None:
        """Hang up."""
        self._lines.close()
        self._connection.close()


@contextmanager
def conversation(settings: BareSettings, patience: float | None = None) -> Generator[Conversation]:
    """Talk to the owner, starting one where none runs. With `patience` it and each answer may take so many seconds.

    Raises:
        StoreError, InvalidInputError: as `attach`.
    """
    connection = attach(settings, "control", START_SECONDS if patience is None else patience).connection
    connection.settimeout(patience)
    talk = Conversation(connection)
    try:
        yield talk
    finally:
        talk.close()


def ask_running(settings: BareSettings, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Ask the running owner, or return None where none runs. Raises StoreError, InvalidInputError."""
    connection = connect(settings.data_dir)
    if connection is None:
        return None
    hello = greeting(settings, read_token(settings.data_dir), "control") | {"takeover": False}
    welcome = introduce(connection, encode(hello))
    if welcome is None or not welcome.get("ok"):
        connection.close()
        refuse_stopped(settings.data_dir)
        return None
    talk = Conversation(connection)
    try:
        return talk.ask(request)
    finally:
        talk.close()


def former_config(folder: Path) -> Mapping[str, Any] | None:
    """Return what the running owner took last from the settings file, or None where there is none that can tell."""
    nobody = BareSettings(folder, "local", (), "UTC", ())
    try:
        answer = ask_running(nobody, {"op": "settings"})
    except ShiguanError:
        return None
    former = answer.get("file") if answer is not None else None
    return former if isinstance(former, dict) else None
