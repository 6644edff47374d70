"""What a caller narrows a search of the record to, as it is written in a call, and what that means."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from historian.errors import InvalidInputError
from historian.ids import normalise_id
from historian.model import ROLES, Role
from historian.readable import MessageFilter
from historian.zones import parse_bounds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEYS = ("role", "time_range", "conversation_id", "sender_id")
_BOUNDS = ("since", "until")
_TIMES = (str, int, float)
SWAPPED = "since was after until; they were swapped."


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A filter, how it was understood (`applied`: names and JSON values), and what was understood differently."""

    wanted: MessageFilter
    applied: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def narrowing(raw: Mapping[str, object], zone: tzinfo) -> Narrowing:
    """Return what `{role?, time_range: {since?, until?}?, conversation_id?, sender_id?}` means; blank is left out.

    `since` is inclusive, `until` exclusive, but a date alone includes its day; times without an offset are in `zone`,
    and bounds that are the wrong way round are swapped with a warning.

    Raises:
        InvalidInputError: an unknown key, an unknown role, or a value that is no time or no id.
    """
    given = _known("filter", raw, _KEYS)
    since, until, warnings = in_order(*instant_bounds(given.get("time_range"), zone))
    role, conversation, sender = _role(given), _id(given, "conversation_id"), _id(given, "sender_id")
    wanted = MessageFilter(role, _ms(since), _ms(until), conversation, sender)
    applied = {
        "since": _shown(since, zone),
        "until": _shown(until, zone),
        "role": role,
        "conversation_id": conversation,
        "sender_id": sender,
    }
    return Narrowing(wanted, {name: value for name, value in applied.items() if value is not None}, warnings)


def instant_bounds(raw: object, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Return the aware bounds in `{since?, until?}`, in the order in which they are given. Raises InvalidInputError."""
    times = _known("time_range", _mapping(raw or {}), _BOUNDS)
    since, until = (_written(times, name) for name in _BOUNDS)
    return parse_bounds(since, until, zone)


def in_order(
    since: datetime | None, until: datetime | None
) -> tuple[datetime | None, datetime | None, tuple[str, ...]]:
    """Return two aware bounds, swapped where they are the wrong way round, and what to say then."""
    if since is None or until is None or since <= until:
        return since, until, ()
    return until, since, (SWAPPED,)


def role_named(raw: str) -> Role | None:
    """Return the role that is named, or None for a blank. Raises InvalidInputError."""
    return _role({"role": raw.strip()} if raw.strip() else {})


def _known(what: str, raw: Mapping[str, object], known: tuple[str, ...]) -> dict[str, object]:
    """Return what is set, refusing names that do not exist: a filter that is passed over would widen the answer."""
    for name in raw:
        if name not in known:
            close = difflib.get_close_matches(str(name)[:80], known, n=1)
            shown = name if len(name) <= 40 and name.isprintable() else "that"
            hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(known)}."
            raise InvalidInputError(f"{what} has no key {shown}; {hint}")
    return {name: value for name, value in raw.items() if value is not None and value not in ("", {})}


def _mapping(raw: object) -> Mapping[str, object]:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            raw = None
    if not isinstance(raw, Mapping):
        raise InvalidInputError("time_range must be an object with since and until.")
    return raw


def _written(times: Mapping[str, object], name: str) -> str | int | float | None:
    value = times.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, _TIMES):
        raise InvalidInputError(f"{name}: The time must be a text or a number.")
    return value


def _role(given: Mapping[str, object]) -> Role | None:
    role = given.get("role")
    if role is None:
        return None
    if role not in ROLES:
        raise InvalidInputError(f"role must be one of {', '.join(ROLES)}.")
    return role


def _id(given: Mapping[str, object], name: str) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInputError(f"{name} must be a text.")
    return normalise_id(str(value), name) if str(value).strip() else None


def _ms(instant: datetime | None) -> int | None:
    """Return whole milliseconds since 1970, rounded down: far bounds are no error, they only bound nothing."""
    return None if instant is None else (instant - _EPOCH) // timedelta(milliseconds=1)


def _shown(instant: datetime | None, zone: tzinfo) -> str | None:
    try:
        return instant.astimezone(zone).isoformat() if instant else None
    except OverflowError:  # the last hours of the calendar exist in some zones only
        return instant.isoformat() if instant else None
