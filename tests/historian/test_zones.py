"""Time zones and instants as callers write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from historian.errors import InvalidInputError
from historian.zones import load_zone, parse_bounds, parse_instant, zone_of

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
    ("since", "until", "first", "end"),
    [
        ("2026-03-01", "2026-03-01", "2026-03-01T00:00+08:00", "2026-03-02T00:00+08:00"),
        ("2026-02-27", "2026-03-01T00:00", "2026-02-27T00:00+08:00", "2026-03-01T00:00+08:00"),
        ("2026-03-01T12:00", "20260301", "2026-03-01T12:00+08:00", "2026-03-02T00:00+08:00"),
        (None, "2026-03-01T00:00Z", None, "2026-03-01T00:00+00:00"),
        ("", "2026-12-31", None, "2027-01-01T00:00+08:00"),
        ("2026-03-01", None, "2026-03-01T00:00+08:00", None),
    ],
)
def test_an_upper_bound_that_is_a_date_includes_its_day(
    since: str | None, until: str | None, first: str | None, end: str | None
) -> None:
    """P75, P79: in the zone of who asks; an instant stays exclusive."""
    expected = tuple(None if one is None else datetime.fromisoformat(one) for one in (first, end))
    assert parse_bounds(since, until, SHANGHAI) == expected


@pytest.mark.parametrize("until", ["2026-03-01", "2026-03-04"])
def test_days_that_are_the_wrong_way_round_are_both_whole_once_swapped(until: str) -> None:
    end, first = parse_bounds("2026-03-05", until, SHANGHAI)
    assert first == datetime.fromisoformat(f"{until}T00:00+08:00")
    assert end == datetime.fromisoformat("2026-03-06T00:00+08:00")


def test_a_day_in_which_the_clocks_change_is_whole_and_the_calendar_has_an_end() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    since, until = parse_bounds("2026-03-29", "2026-03-29", berlin)
    assert since is not None
    assert until is not None
    assert until.astimezone(UTC) - since.astimezone(UTC) == timedelta(hours=23)
    assert parse_bounds(None, "9999-12-31", UTC)[1] == datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


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
