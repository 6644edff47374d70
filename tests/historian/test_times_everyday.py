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
        ("周三的课取消了", "2026-03-18 的课取消了"),
        ("我周一参加了一个会议", "我 2026-03-09 参加了一个会议"),
        ("周五去了音乐会", "2026-03-06 去了音乐会"),
        ("周二买了一个重要的礼物", "2026-03-10 买了一个重要的礼物"),
        ("周四聚会玩得很开心", "2026-03-05 聚会玩得很开心"),
        ("周五打了一下午麻将", "2026-03-06 打了一下午麻将"),
        ("周五我会去聚会", "2026-03-13 我会去聚会"),
        ("周五要开会", "2026-03-13 要开会"),
        ("周四将举行婚礼", "2026-03-12 将举行婚礼"),
        ("We rest this Friday and next Friday", "We rest on 2026-03-13 and 2026-03-20"),
        ("周四没时间吃饭，周五没空", "2026-03-12 没时间吃饭，2026-03-13 没空"),
        ("Ida is away from Friday to next Monday", "Ida is away from 2026-03-13 to 2026-03-16"),
        ("The call moved from Friday to tomorrow", "The call moved from 2026-03-13 to 2026-03-12"),
        ("Mum rang, she's coming Sunday", "Mum rang, she's coming on 2026-03-15"),
        ("The coming Monday is a holiday", "2026-03-16 is a holiday"),
        ("Ida could meet us on Monday", "Ida could meet us on 2026-03-16"),
        (
            "It was sent on Monday and should arrive on Friday",
            "It was sent on 2026-03-09 and should arrive on 2026-03-13",
        ),
        ("Ida fed the cat on Monday", "Ida fed the cat on 2026-03-09"),
        ("Ida had finished by Thursday", "Ida had finished by 2026-03-05"),
        ("周四手机被偷", "2026-03-05 手机被偷"),
        ("周四那天下大雨", "2026-03-05 那天下大雨"),
        ("周五以来一直咳嗽", "2026-03-06 以来一直咳嗽"),
        ("每晚10点睡，昨晚11点睡", "每晚 22:00 睡，2026-03-10 23:00 睡"),
        ("他1990年的今天出生", "他1990年的今天出生"),
        ("The lease runs to 30 June next year", "The lease runs to 30 June in 2027"),
        ("The exam is in 3 weeks and 2 days", "The exam is in 3 weeks and 2 days"),
        ("Ida moved to Rome on March 3", "Ida moved to Rome on 2026-03-03"),
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
    ("said", "becomes"),
    [
        ("Neither I nor Tom smoke", "Neither Mara nor Tom smoke"),
        ("Rarely do I eat meat", "Rarely does Mara eat meat"),
        ("Not until Monday did I notice", "Not until 2026-03-09 did Mara notice"),
        ("I dug the garden on Monday", "Mara dug the garden on 2026-03-09"),
        ("I overheard it", "Mara overheard it"),
        ("我行我素是他的风格", "我行我素是他的风格"),
        ("他们卿卿我我", "他们卿卿我我"),
    ],
)
def test_verbs_and_sayings_around_the_speaker_stay_sound(said: str, becomes: str) -> None:
    assert rewrite_offline(said, RewriteContext(WEDNESDAY, "Mara")).text == becomes


@pytest.mark.parametrize(
    ("said", "flag"),
    [
        ("昨天十点才睡", "time:十点"),
        ("Ida is away from Friday to tomorrow", "time:tomorrow"),
        ("从周一开始发烧", "time:周一"),
        ("The call on April 3 was moved to May 5", "time:April 3"),
        ("下周五到下周三出差", "time:下周三"),
        ("Ida ran last Monday and Friday", "time:Friday"),
        ("Let's meet Thursday the 18th", "time:Thursday the 18th"),
    ],
)
def test_what_may_be_another_day_or_hour_is_flagged(said: str, flag: str) -> None:
    assert flag in rewrite_offline(said, RewriteContext(WEDNESDAY)).flags
