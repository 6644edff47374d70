"""The write guard: what is handed over to be remembered loses its credentials, or is refused, before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from historian.credentials import CARD_NUMBER, find_credentials
from historian.errors import InvalidInputError

Credentials = Literal["mask", "refuse", "off"]
"""What becomes of credentials: masked, refused, or stored as they are."""

IDENTIFIERS = frozenset({"message_id", "conversation_id", "sender_id", "reply_to", "role", "ts"})
"""Fields that name something and are compared as they are: a credential in them is refused, never masked."""
DEEPEST = 64
"""Levels of a JSON value that is looked through; a deeper one is refused."""
NOTES = 8
"""Sentences given back for one call; what more was masked is counted."""


class Guard:
    """Looks through texts one after the other and remembers what it masked, for one call."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._masked: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each text in which something was masked, the first few."""
        more = len(self._masked) - NOTES
        return (*self._masked[:NOTES], *([f"Credentials in {more} more places were masked too."] if more > 0 else []))

    def text(self, text: str, what: str) -> str:
        """Return `text` as it may be stored; `what` is how the caller knows it.

        Raises:
            InvalidInputError: it holds a credential, and those are to be refused.
        """
        found = find_credentials(text) if self._credentials != "off" else []
        if not found:
            return text
        kinds = " and ".join(dict.fromkeys(one.kind for one in found))
        if self._credentials == "refuse":
            raise InvalidInputError(f"{what} holds a credential ({kinds}); take it out, the memory keeps none.")
        self._masked.append(f"A credential in {what} was masked ({kinds}); the memory keeps none.")
        parts: list[str] = []
        done = 0
        for one in found:
            parts += [text[done : one.start], f"[masked: {one.kind}]"]
            done = one.end
        return "".join([*parts, text[done:]])

    def value(self, value: Any, what: str, depth: int = 0) -> Any:
        """Return a JSON value with each of its texts as it may be stored. Raises as `text`."""
        if isinstance(value, str):
            return self.text(value, what)
        if depth > DEEPEST:
            raise InvalidInputError("The object is nested too deeply; send a flatter one.")
        if isinstance(value, Mapping):
            return {key: self._field(key, inner, what, depth) for key, inner in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return [self.value(inner, f"{what}[{at}]", depth + 1) for at, inner in enumerate(value)]
        return value

    def _field(self, key: object, value: Any, what: str, depth: int) -> Any:
        what = f"{what}.{str(key)[:40]}"
        if key not in IDENTIFIERS or not isinstance(value, str):
            return self.value(value, what, depth + 1)
        self.identifier(value, what)
        return value

    def identifier(self, value: str, what: str) -> None:
        """Refuse an identifier that is a credential. A long number is none: many identifiers are.

        Raises:
            InvalidInputError: it is one.
        """
        if self._credentials != "off" and any(one.kind != CARD_NUMBER for one in find_credentials(value)):
            raise InvalidInputError(f"{what} holds a credential; identify it otherwise, the memory keeps none.")
