"""Relative times in Chinese, English and both, against the instant at which they were said."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from historian.rewrite import RewriteContext, rewrite_offline
from historian.times import resolve_times

ROOT = Path(__file__).resolve().parents[2]
OWN_CASES = ROOT / "tests" / "cases" / "times.jsonl"
SHARED_CASES = ROOT.parent / "shared" / "time" / "cases.jsonl"
SATURDAY = datetime.fromisoformat("2026-02-21T14:30:00+08:00")


def _cases(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _wrong(path: Path) -> list[str]:
    wrong: list[str] = []
    for case in _cases(path):
        text, contains = str(case["text"]), case["contains"]
        assert isinstance(contains, list)
        got = rewrite_offline(text, RewriteContext(datetime.fromisoformat(str(case["said_at"])))).text
        if not (all(words in got for words in contains) if contains else got == text):
            wrong.append(f"{case['id']} {text} → {got}")
    return wrong


def _said(text: str, said_at: datetime = SATURDAY) -> str:
    return resolve_times(text, said_at).text


def test_every_case_of_our_own_set_comes_out_right() -> None:
    assert _wrong(OWN_CASES) == []


def test_our_own_set_is_large_and_a_fifth_of_it_must_not_change() -> None:
    cases = _cases(OWN_CASES)
    assert len(cases) >= 300
    assert sum(not case["contains"] for case in cases) >= len(cases) / 5
    assert len({case["id"] for case in cases}) == len(cases)


def test_every_shared_case_comes_out_right() -> None:
    if not SHARED_CASES.exists():
        pytest.skip("../shared/time/cases.jsonl is not there")
    assert _wrong(SHARED_CASES) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("昨天去了医院", "2026-02-20 去了医院"),
        ("昨晚十一点睡的", "2026-02-20 23:00 睡的"),
        ("昨天下午去游泳", "2026-02-20 下午去游泳"),
        ("我昨晚八点半到家", "我 2026-02-20 20:30 到家"),
        ("去年毕业", "2025 年毕业"),
        ("上周末去了海边", "2026-02-14 至 2026-02-15 去了海边"),
        ("上季度亏损", "2025-10 至 2025-12 亏损"),
        ("下午三点开会", "2026-02-21 15:00 开会"),
        ("明天下午两点到四点有培训", "2026-02-22 14:00 到 16:00 有培训"),
        ("昨天 deploy 了 v2", "2026-02-20 deploy 了 v2"),
        ("Trent 在 last Friday 提交了 PR", "Trent 在 2026-02-20 提交了 PR"),
        ("Last night 睡得很晚", "2026-02-20 晚上 睡得很晚"),
    ],
)
def test_chinese_and_mixed_sentences_read_naturally(text: str, expected: str) -> None:
    assert _said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went to the dentist yesterday", "I went to the dentist on 2026-02-20"),
        ("Yesterday Bob fixed the build.", "On 2026-02-20 Bob fixed the build."),
        ("I have a call on Friday.", "I have a call on 2026-02-27."),
        ("Today is my birthday.", "2026-02-21 is my birthday."),
        ("Tomorrow's meeting is cancelled.", "The 2026-02-22 meeting is cancelled."),
        ("I have been here since last March.", "I have been here since 2025-03."),
        ("We moved in March last year.", "We moved in 2025-03."),
        ("Call me in 10 minutes", "Call me at 14:40 on 2026-02-21"),
        ("The server crashed last night at 11.", "The server crashed on 2026-02-20 at 23:00."),
        ("Call the bank at 3pm tomorrow.", "Call the bank at 15:00 on 2026-02-22."),
        ("Slept badly last night", "Slept badly on the night of 2026-02-20"),
        ("It rained all day yesterday and today.", "It rained all day on 2026-02-20 and 2026-02-21."),
        ("Last week I was ill.", "In the week of 2026-02-09 to 2026-02-15 I was ill."),
    ],
)
def test_english_sentences_get_one_fitting_preposition(text: str, expected: str) -> None:
    assert _said(text) == expected


def test_offsets_point_into_the_original_text_and_nothing_relative_is_left() -> None:
    text = "昨天和 last Friday 都加班，明天休息"
    resolution = resolve_times(text, SATURDAY)
    assert [r.found for r in resolution.resolved] == ["昨天", "last Friday", "明天"]
    assert all(text[r.start : r.end] == r.found for r in resolution.resolved)
    assert resolve_times(resolution.text, SATURDAY).resolved == ()


def test_what_is_resolved_once_is_not_resolved_again() -> None:
    for case in _cases(OWN_CASES):
        said_at = datetime.fromisoformat(str(case["said_at"]))
        once = resolve_times(str(case["text"]), said_at).text
        again = resolve_times(once, said_at).text
        assert again == once, once


@pytest.mark.parametrize(
    ("text", "vague"),
    [
        ("前两天发烧", ("前两天",)),
        ("最近很忙，月底要出差", ("最近", "月底")),
        ("几天前见过面", ("几天前",)),
        ("两三天前见过面", ("两三天前",)),
        ("These days I work from home.", ("These days",)),
        ("I called a few weeks ago.", ("a few weeks ago",)),
        ("A couple of days ago it broke.", ("A couple of days ago",)),
        ("明天三点有事", ("三点",)),
    ],
)
def test_vague_times_stay_and_are_listed(text: str, vague: tuple[str, ...]) -> None:
    resolution = resolve_times(text, SATURDAY)
    assert resolution.vague == vague
    assert all(words in resolution.text for words in vague)


@pytest.mark.parametrize(
    "text",
    [
        "他说“我昨天到的”",
        "《昨天》和《今年》",
        "歌名 'Yesterday' 很短",
        'She sang "Tomorrow" well',
        "`last_week = 7`",
        "```\nyesterday\n```",
        "见 https://example.com/昨天",
        "昨天_备份.zip 坏了",
        "On Black Friday",
        "每周五和每个周末",
        "every Monday",
        "on Mondays",
        "目前天气以前天天",
    ],
)
def test_quotations_titles_code_and_what_recurs_stay(text: str) -> None:
    resolution = resolve_times(text, SATURDAY)
    assert (resolution.text, resolution.resolved) == (text, ())


def test_an_apostrophe_opens_no_quotation() -> None:
    assert "2026-02-20" in _said("The boys' room was clean yesterday and the girls' too")


def test_today_of_a_user_east_of_greenwich_is_the_next_calendar_day() -> None:
    """P74: written at 23:30 UTC by a user at +8, 今天 is the next calendar day."""
    said_at = datetime.fromisoformat("2026-02-20T23:30:00+00:00").astimezone(ZoneInfo("Asia/Shanghai"))
    assert _said("今天过生日", said_at) == "2026-02-21 过生日"
    assert _said("It happened today", said_at) == "It happened on 2026-02-21"


def test_a_message_of_2023_is_resolved_against_2023() -> None:
    """P76: the message's own date counts, not the day of processing."""
    said_at = datetime.fromisoformat("2023-05-24T18:40:00+00:00")
    resolved = _said("I went camping last week, yesterday it rained", said_at)
    assert "2023-05-15 to 2023-05-21" in resolved
    assert "2023-05-23" in resolved
    assert "2023-05-16" in _said("上周二去看牙", said_at)


@pytest.mark.parametrize(
    ("text", "date"), [("上周二", "2026-02-10"), ("前天晚上", "2026-02-19"), ("下个月", "2026-03")]
)
def test_what_is_kept_keeps_its_when(text: str, date: str) -> None:
    """P79: 上周二, 前天晚上, 下个月 become explicit dates."""
    assert date in _said(f"{text}去看牙")


def test_hours_run_on_through_a_change_to_summer_time() -> None:
    """P79: on the day clocks change, hours are counted on the absolute time line and days on the calendar."""
    berlin = ZoneInfo("Europe/Berlin")
    before = datetime(2026, 3, 29, 1, 30, tzinfo=berlin)
    assert _said("一小时后提醒", before) == "2026-03-29 03:30 提醒"
    after = datetime(2026, 3, 29, 12, 0, tzinfo=berlin)
    assert _said("Taken 12 hours ago", after) == "Taken at 23:00 on 2026-03-28"
    assert _said("昨天", after) == "2026-03-28"


def test_the_hour_that_comes_twice_in_autumn_is_counted_twice() -> None:
    """P79: one hour after 02:30 summer time it is 02:30 again."""
    new_york = ZoneInfo("America/New_York")
    said_at = datetime(2026, 11, 1, 1, 30, tzinfo=new_york)
    assert _said("The call is in 1 hour.", said_at) == "The call is at 01:30 on 2026-11-01."


def test_last_friday_and_friday_of_the_week_before_differ_on_a_saturday() -> None:
    assert "2026-02-20" in _said("Last Friday it broke")
    assert "2026-02-13" in _said("上周五坏了")


def test_a_bare_weekday_is_the_coming_one_unless_the_sentence_is_in_the_past() -> None:
    assert _said("周三要交周报") == "2026-02-25 要交周报"
    assert _said("周三交了周报") == "2026-02-18 交了周报"
    assert _said("I will call on Friday.") == "I will call on 2026-02-27."
    assert _said("I called on Friday.") == "I called on 2026-02-20."


def test_a_second_weekday_follows_the_week_of_the_first() -> None:
    assert _said("下周一到周三出差") == "2026-02-23 到 2026-02-25 出差"
    assert _said("上周一和周四请假") == "2026-02-09 和 2026-02-12 请假"


def test_midnight_belongs_to_the_day_that_begins() -> None:
    assert _said("昨晚十二点才睡") == "2026-02-21 00:00 才睡"
    assert _said("昨晚一点睡的") == "2026-02-21 01:00 睡的"


def test_dates_beyond_the_calendar_stay_as_they_are() -> None:
    assert _said("9999 years ago") == "9999 years ago"
    assert _said("It ends in 9999 years") == "It ends in 9999 years"
    first_year = datetime.fromisoformat("0001-01-01T00:00:00+00:00")
    last_year = datetime.fromisoformat("9999-12-31T23:59:00+00:00")
    for text in (
        "昨天 大前天 去年 上周五 上个月 前年 周五了",
        "明天 明年 下周 下个月 下季度 next Friday tomorrow in 3 hours",
    ):
        assert isinstance(_said(text, first_year), str)
        assert isinstance(_said(text, last_year), str)


def test_a_naive_instant_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        resolve_times("昨天", datetime(2026, 2, 21))


@pytest.mark.parametrize("unit", ["“", "\"x'", "一", "a", "/a.b_"])
def test_much_hostile_text_takes_linear_time(unit: str) -> None:
    text = (unit * (300_000 // len(unit) + 1))[:300_000]
    started = time.thread_time()
    resolve_times(text, SATURDAY)
    assert time.thread_time() - started < 60


@pytest.mark.parametrize(
    "unit", ["昨天", "周五和", "下午三点到", "at 3pm ", "in 3 days ", "Friday to ", "I am 3 days ", "我妈"]
)
def test_many_expressions_take_time_in_proportion(unit: str) -> None:
    def seconds(size: int) -> float:
        started = time.thread_time()
        rewrite_offline((unit * size)[:size], RewriteContext(SATURDAY, "Alice", "Nova", "G", "Berlin"))
        return time.thread_time() - started

    seconds(1_000)
    assert seconds(40_000) < 40 * max(seconds(4_000), 0.05)


@pytest.mark.parametrize(
    "text",
    [
        "I don't work Friday",
        "I work on Saturday",
        "I teach Monday evening",
        "On Friday I don't work",
        "Tom works Sunday",
        "My wife doesn't eat meat Friday",
        "我周六加班",
        "我周五不上班",
        "周五我不吃肉",
        "我周三晚上上课",
        "店里周一不营业",
        "我 Saturday 加班",
        "周六 I work",
    ],
)
def test_a_weekday_of_what_is_done_every_week_or_once_is_flagged_and_not_guessed(text: str) -> None:
    resolution = resolve_times(text, SATURDAY)
    assert resolution.text == text
    assert len(resolution.vague) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have a meeting Friday", "I have a meeting on 2026-02-27"),
        ("I don't have time Friday", "I don't have time on 2026-02-27"),
        ("I'm off Friday", "I'm off on 2026-02-27"),
        ("I will work Saturday", "I will work on 2026-02-28"),
        ("I can't work Friday", "I can't work on 2026-02-27"),
        ("I start work Monday", "I start work on 2026-02-23"),
        ("I don't work until Monday", "I don't work until 2026-02-23"),
        ("I worked Saturday", "I worked on 2026-02-14"),
        ("Friday works for me", "2026-02-27 works for me"),
        ("I work Saturdays", "I work Saturdays"),
        ("I work on Saturday mornings", "I work on Saturday mornings"),
        ("周六去看牙", "2026-02-28 去看牙"),
        ("我周五开会", "我 2026-02-27 开会"),
        ("我周六要加班", "我 2026-02-28 要加班"),
        ("我周六去公司加班", "我 2026-02-28 去公司加班"),
        ("我周五没上班", "我 2026-02-20 没上班"),
        ("我下周一上班", "我 2026-02-23 上班"),
        ("我周五 off", "我 2026-02-27 off"),
    ],
)
def test_a_weekday_of_what_happens_once_is_resolved(text: str, expected: str) -> None:
    assert resolve_times(text, SATURDAY).text == expected
