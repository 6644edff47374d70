"""Time zones and instants as callers write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from historian.errors import InvalidInputError

_EPOCH: Final = re.compile(r"[+-]?\d{9,14}(?:\.\d{1,9})?")
_MILLISECONDS_FROM: Final = 100_000_000_000  # seconds of this size lie after the year 5138
_BARE_Z: Final = re.compile(r"[Zz]\s*$")
_DATED: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}(?!\d)")
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
