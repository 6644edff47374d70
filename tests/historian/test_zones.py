"""Time zones and instants as callers write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from historian.errors import InvalidInputError
from historian.zones import load_zone, parse_instant, zone_of

SHANGHAI = ZoneInfo("Asia/Shanghai")
INSTANT = datetime(2026, 2, 21, 6, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("raw", "zone_known"),
    [
        ("2026-02-21T06:30:00Z", False),
        ("2026-02-21T06:30:00z", False),
        ("2026-02-21T14:30:00+08:00", True),
        ("2026-02-21T06:30:00+00:00", True),
        ("2026-02-21T14:30:00", True),
        ("2026-02-21 14:30", True),
        ("  2026-02-21T14:30:00  ", True),
        ("20260221T143000", True),
        (1771655400, False),
        (1771655400.0, False),
        (1771655400000, False),
        ("1771655400", False),
        ("1771655400000", False),
    ],
)
def test_one_instant_in_every_spelling_is_one_instant(raw: str | float, zone_known: bool) -> None:
    """P75: the same instant as Z, +08:00, naive and epoch is the same instant."""
    at, known = parse_instant(raw, SHANGHAI)
    assert at == INSTANT
    assert at.tzinfo is not None
    assert known is zone_known


def test_a_date_alone_is_midnight_in_the_default_zone() -> None:
    at, known = parse_instant("2026-02-21", SHANGHAI)
    assert at == datetime(2026, 2, 21, tzinfo=SHANGHAI)
    assert known


@pytest.mark.parametrize(
    "raw",
    ["2026-13-45", "2026-02-30", "", "   ", "yesterday", "昨天", "14:30", "2026", "2026-02-21T25:00", "2026-W08-6",
     True, float("nan"), float("inf"), 10**30, "9" * 5000, "2026-02-21\x00"],
)  # fmt: skip
def test_what_is_no_time_is_refused_with_one_helpful_sentence(raw: str | float) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_instant(raw, SHANGHAI)
    message = str(caught.value)
    assert "2026-02-20" in message
    assert len(message) < 250
    assert "\n" not in message


def test_the_ends_of_the_calendar_are_refused_rather_than_failing_later() -> None:
    with pytest.raises(InvalidInputError):
        parse_instant("0001-01-01T00:00:00+14:00", SHANGHAI)


def test_the_known_zone_of_a_user_comes_first_then_the_offset_then_the_default() -> None:
    with_offset = datetime.fromisoformat("2026-02-21T14:30:00+08:00")
    bare_z = datetime(2026, 2, 21, 6, 30, tzinfo=UTC)
    assert zone_of("Europe/Berlin", with_offset, True, "UTC") == ZoneInfo("Europe/Berlin")
    assert zone_of(None, with_offset, True, "UTC").utcoffset(None) == timedelta(hours=8)
    assert zone_of(None, bare_z, False, "Asia/Shanghai") == SHANGHAI
    assert zone_of("", bare_z, False, "Asia/Shanghai") == SHANGHAI


@pytest.mark.parametrize(
    "name", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime", "北京", "a" * 5000, "Asia", "\x00"]
)
def test_an_unknown_zone_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(InvalidInputError, match="Asia/Shanghai"):
        load_zone(name)
