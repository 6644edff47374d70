"""Time zones and instants as callers write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from historian.errors import InvalidInputError

_EPOCH: Final = re.compile(r"[+-]?\d{9,14}(?:\.\d{1,9})?")
_MILLISECONDS_FROM: Final = 100_000_000_000  # seconds of this size lie after the year 5138
_BARE_Z: Final = re.compile(r"[Zz]\s*$")
_DATED: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}(?!\d)")
_PLAIN_DAY: Final = re.compile(r"\s*\d{4}-?\d{2}-?\d{2}\s*")
_LONGEST: Final = 64
_EXAMPLE: Final = "write it like 2026-02-20, 2026-02-20T14:30:00+08:00 or 1771569000"


def load_zone(name: str) -> ZoneInfo:
    """Return the IANA time zone of a name.

    Raises:
        InvalidInputError: there is no such zone on this machine.
    """
    try:
        return ZoneInfo(name.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        shown = name[:_LONGEST]
        message = (
            f"There is no time zone called {shown!r}; use an IANA name such as Asia/Shanghai, Europe/Berlin or UTC."
        )
        raise InvalidInputError(message) from error


def zone_of(known: str | None, ts: datetime, zone_known: bool, default: str) -> tzinfo:
    """Return the zone in which a message was said: its user's known zone, else its explicit offset, else `default`.

    `zone_known` is false where the source gave a bare `Z` or an epoch, which name an instant but no local time.

    Raises:
        InvalidInputError: a name is no zone.
    """
    if known:
        return load_zone(known)
    if zone_known and ts.tzinfo is not None:
        return ts.tzinfo
    return load_zone(default)


def parse_instant(raw: str | int | float, default_zone: tzinfo) -> tuple[datetime, bool]:
    """Return the aware instant that a caller wrote, and whether it says a local time as well.

    Reads ISO 8601 with or without offset, dates alone (midnight), epoch seconds and epoch milliseconds. A time without
    offset is in `default_zone`. A bare `Z` and an epoch say no local time: they come back in UTC, with False.

    Raises:
        InvalidInputError: it is none of these, or no such day exists.
    """
    if isinstance(raw, bool):
        raise _unreadable(str(raw))
    if isinstance(raw, (int, float)):
        return _from_epoch(float(raw)), False
    text = raw.strip()
    if not text:
        raise InvalidInputError(f"The time is empty; {_EXAMPLE}.")
    if _EPOCH.fullmatch(text):
        return _from_epoch(float(text)), False
    return _from_iso(text, default_zone)


def parse_bounds(
    since: str | int | float | None,
    until: str | int | float | None,
    zone: tzinfo,
    names: tuple[str, str] = ("since", "until"),
) -> tuple[datetime | None, datetime | None]:
    """Return the aware instants from which (inclusive) and before which (exclusive) a caller asks.

    An upper bound that is a date without a time of day includes that day in `zone`. Bounds that are the wrong way
    round stay so, and to swap the instants keeps both days whole.

    Raises:
        InvalidInputError: one of them is no time; `names` says which.
    """
    first, last = _edges(since, zone, names[0]), _edges(until, zone, names[1])
    if first is None or last is None:
        return (first[0] if first else None), (last[1] if last else None)
    is_backwards = first[0] > last[0] and first[0] >= last[1]
    return (first[1], last[0]) if is_backwards else (first[0], last[1])


def _edges(raw: str | int | float | None, zone: tzinfo, name: str) -> tuple[datetime, datetime] | None:
    """Return where what a caller wrote begins, and where it has ended: a day, or an instant."""
    if raw is None or raw == "":
        return None
    try:
        at, _ = parse_instant(raw, zone)
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error}") from None
    return at, _day_end(at) if isinstance(raw, str) and _PLAIN_DAY.fullmatch(raw) else at


def _day_end(midnight: datetime) -> datetime:
    try:
        end = midnight + timedelta(days=1)
        end.astimezone(UTC)
    except OverflowError:  # the calendar ends with this day
        return datetime.combine(midnight, time.max, midnight.tzinfo)
    return end


def _from_iso(text: str, default_zone: tzinfo) -> tuple[datetime, bool]:
    if len(text) > _LONGEST or not _DATED.match(text):
        raise _unreadable(text)
    try:
        at = datetime.fromisoformat(_BARE_Z.sub("+00:00", text))
        if at.tzinfo is None:
            at = at.replace(tzinfo=default_zone)
        at.astimezone(UTC)  # the ends of the calendar cannot be told in every zone
    except (ValueError, OverflowError) as error:
        raise _unreadable(text) from error
    return at, _BARE_Z.search(text) is None


def _from_epoch(number: float) -> datetime:
    try:
        seconds = number / 1000 if abs(number) >= _MILLISECONDS_FROM else number
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInputError(f"The time is outside the calendar; {_EXAMPLE}.") from error


def _unreadable(text: str) -> InvalidInputError:
    return InvalidInputError(f"The time {text[:_LONGEST]!r} is not a time; {_EXAMPLE}.")
