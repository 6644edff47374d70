"""Whom a trusted host acts for: who asks, and the circumstances of the call, read from the `_meta` of one request.

Host code sets these keys, a model cannot. Every call is bound anew; nothing of an earlier one is remembered.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from historian.errors import InvalidInputError
from historian.ids import normalise_id
from historian.messages import epoch_ms
from historian.model import Scope
from historian.session import Session
from historian.text import require_text
from historian.zones import load_zone, parse_instant
from server.binding import META_PREFIX, Binding, identity_keys

MAX_GROUPS = 1000
MAX_NAME_LENGTH = 100
MAX_PLACE_LENGTH = 200
MAX_SEQUENCE = 1_000_000
KNOWN_KEYS = (
    "user_id",
    "group_id",
    "groups",
    "sender_id",
    "sender_name",
    "conversation_id",
    "request_id",
    "end_seq",
    "time",
    "timezone",
    "location",
    "group_name",
    "agent_name",
)
"""What may stand behind `shiguan/`; docs/isolation.md says what each means."""


@dataclass(frozen=True, slots=True)
class TrustedBinder:
    """The host says for each call on whose behalf it acts. `defaults` hold where a call does not say otherwise."""

    defaults: Session

    def bind(self, meta: Mapping[str, Any] | None) -> Binding | None:
        """Return the binding of one call, or None where it names nobody: never an earlier or a default user."""
        return binding_from_meta(meta, self.defaults)


def binding_from_meta(meta: Mapping[str, Any] | None, defaults: Session) -> Binding | None:
    """Return whom the `shiguan/` keys of a request's `_meta` name, or None where there is no such key.

    `group_id` is the group of the request; `groups` are further ones that may be read in a private request. A key that
    is null is left out. Whether the caller may use these keys at all is for the caller of this function to know.

    Raises:
        InvalidInputError: a key is unknown or its value wrong, or there is no user; the sentence names the key.
    """
    if not identity_keys(meta):
        return None
    given = _Given({key.removeprefix(META_PREFIX): value for key, value in (meta or {}).items() if _is_ours(key)})
    user = given.identifier("user_id")
    if user is None:
        raise InvalidInputError(f"_meta names no user; send {META_PREFIX}user_id with every call.")
    group = given.identifier("group_id")
    groups = given.identifiers("groups") | ({group} if group is not None else frozenset())
    return Binding(Scope(user, group, groups), _session(given, defaults))


def _session(given: _Given, defaults: Session) -> Session:
    zone = given.text("timezone", MAX_NAME_LENGTH)
    named = replace(defaults, timezone=load_zone(zone).key) if zone is not None else defaults
    read: dict[str, Callable[[str], Any]] = {
        "conversation_id": given.identifier,
        "request_id": given.identifier,
        "end_seq": given.sequence,
        "sender_id": given.identifier,
        "sender_name": given.name,
        "agent_name": given.name,
        "group_name": given.name,
        "location": lambda key: given.text(key, MAX_PLACE_LENGTH),
    }
    said: dict[str, Any] = {key: value for key, reader in read.items() if (value := reader(key)) is not None}
    return replace(named, said_at=given.instant("time", named.timezone), **said)


class _Given:
    """The values of one request, each checked when it is read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        for key in sorted(values):
            if key not in KNOWN_KEYS:
                close = difflib.get_close_matches(key[:80], KNOWN_KEYS, n=1)
                hint = f"did you mean {META_PREFIX}{close[0]}?" if close else f"known are {', '.join(KNOWN_KEYS)}."
                raise InvalidInputError(f"_meta has an unknown key that begins with {META_PREFIX}; {hint}")

    def identifier(self, key: str) -> str | None:
        value = self._values.get(key)
        return None if value is None else _identifier(value, f"{META_PREFIX}{key} in _meta")

    def identifiers(self, key: str) -> frozenset[str]:
        value = self._values.get(key)
        if value is None:
            return frozenset()
        if not isinstance(value, list) or len(value) > MAX_GROUPS:
            raise InvalidInputError(f"{META_PREFIX}{key} in _meta must be a list of at most {MAX_GROUPS} ids.")
        return frozenset(_identifier(item, f"{META_PREFIX}{key}[{at}] in _meta") for at, item in enumerate(value))

    def sequence(self, key: str) -> int | None:
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SEQUENCE:
            raise InvalidInputError(f"{META_PREFIX}{key} in _meta must be a whole number from 0 to {MAX_SEQUENCE}.")
        return value

    def text(self, key: str, limit: int) -> str | None:
        value = self._values.get(key)
        if value is None:
            return None
        what = f"{META_PREFIX}{key} in _meta"
        if not isinstance(value, str):
            raise InvalidInputError(f"{what} must be a text.")
        return require_text(value, what, limit=limit) or None

    def name(self, key: str) -> str | None:
        value = self.text(key, MAX_NAME_LENGTH)
        return " ".join(value.split()) if value is not None else None

    def instant(self, key: str, timezone: str) -> str | None:
        value = self._values.get(key)
        if value is None:
            return None
        what = f"{META_PREFIX}{key} in _meta"
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InvalidInputError(f"{what} must be ISO 8601, or epoch seconds.")
        try:
            at = parse_instant(value, load_zone(timezone))[0]
            epoch_ms(at)
        except InvalidInputError as error:
            raise InvalidInputError(f"{what}: {error}") from None
        return at.isoformat()


def _identifier(value: object, what: str) -> str:
    """Chat platforms number their users and groups; such a number is the id that its digits spell."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInputError(f"{what} must be a text or a whole number.")
    return normalise_id(str(value), what)


def _is_ours(key: str) -> bool:
    return key.startswith(META_PREFIX)
