"""Everyday sentences whose days were once misread: plans that are called off, lists of weekdays, late hours."""

from __future__ import annotations

from datetime import datetime

import pytest

from historian.rewrite import RewriteContext, rewrite_offline

WEDNESDAY = datetime.fromisoformat("2026-03-11T15:20:00+08:00")


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        ("周五不去爬山了", "2026-03-13 不去爬山了"),
        ("我周四不来了", "我 2026-03-12 不来了"),
        ("这周末不在家了，改下周末", "2026-03-14 至 2026-03-15 不在家了，改 2026-03-21 至 2026-03-22"),
        ("小王周五没来上班", "小王 2026-03-06 没来上班"),
        ("下周一、周三和周五我要值班", "2026-03-16、2026-03-18 和 2026-03-20 我要值班"),
        ("下周一三五要值夜班", "2026-03-16 2026-03-18 2026-03-20 要值夜班"),
        ("上周二四都去了健身房", "2026-03-03 2026-03-05 都去了健身房"),
        ("周一三五健身，周二四学法语", "周一三五健身，周二四学法语"),
        ("周一三人吃饭", "2026-03-16 三人吃饭"),
        ("19号周四开会", "19号 2026-03-19 开会"),
        ("周四（19号）开会", "2026-03-19（19号）开会"),
        ("他昨天十二点才回来", "他 2026-03-10 十二点才回来"),
        ("昨天加班到十一点", "2026-03-10 加班到十一点"),
        ("昨晚十一点睡的", "2026-03-10 23:00 睡的"),
        ("早上9点半到晚上9点，每周六天", "早上9点半到晚上9点，每周六天"),
        ("早上六点有飞机", "2026-03-11 06:00 有飞机"),
        ("We meet next Monday, Wednesday and Friday", "We meet on 2026-03-16, 2026-03-18 and 2026-03-20"),
        ("Ida ran last Monday, Tuesday and Friday", "Ida ran on 2026-03-09, 2026-03-10 and Friday"),
        ("Ida hasn't eaten meat in three months", "Ida hasn't eaten meat in three months"),
        ("Ida has never been ill in ten days", "Ida has never been ill in ten days"),
        ("Ida has a meeting in three days", "Ida has a meeting on 2026-03-14"),
        ("Let's meet Thursday the 19th", "Let's meet on 2026-03-19"),
        ("Ida was there on Monday, the 2nd", "Ida was there on 2026-03-02"),
        ("We watched Friday the 13th", "We watched Friday the 13th"),
        ("Ida went to bed at 10 yesterday", "Ida went to bed at 10 on 2026-03-10"),
        (
            "Ida got back last Sunday and leaves again Monday",
            "Ida got back on 2026-03-08 and leaves again on 2026-03-16",
        ),
        ("Ida got the keys and moved in on Monday", "Ida got the keys and moved in on 2026-03-09"),
        ("Dinner is at half past midnight tomorrow", "Dinner is at half past midnight on 2026-03-12"),
    ],
)
def test_everyday_days_are_read_as_they_are_meant(said: str, becomes: str) -> None:
    assert rewrite_offline(said, RewriteContext(WEDNESDAY)).text == becomes


@pytest.mark.parametrize(
    ("said", "flag"),
    [
        ("昨天十点才睡", "time:十点"),
        ("Ida ran last Monday and Friday", "time:Friday"),
        ("Let's meet Thursday the 18th", "time:Thursday the 18th"),
    ],
)
def test_what_may_be_another_day_or_hour_is_flagged(said: str, flag: str) -> None:
    assert flag in rewrite_offline(said, RewriteContext(WEDNESDAY)).flags
