"""What is asked in other words than it is told in, and in the other language, is found by words alone too."""

from __future__ import annotations

from pathlib import Path

import pytest

from historian.bridges import bridge
from historian.embed_fake import HashingEmbedder
from historian.errors import PermanentModelError
from tests.kit.home import home

TOLD = (
    "Mira works as a nurse in Berlin.",
    "Mira drives a grey Volvo.",
    "Mira 的生日是 1992-07-18。",
    "Mira 的女朋友是小学老师。",
    "Mira has a dog called Biscuit.",
    "Mira 2026-02-10 搬到了西湖区。",
    "Mira's sister Ana studies law.",
    "Mira 对花生过敏。",
)


async def test_what_is_told_in_other_words_is_found_and_nothing_for_what_nobody_told(tmp_path: Path) -> None:
    off = HashingEmbedder(failures=[PermanentModelError("The embedder is off.")] * 1000)
    async with home(tmp_path, embedder=off) as house, house.client() as alice:
        await alice.remember(*TOLD)
        for asked, told in (
            ("What is my job?", 0),
            ("which car do I have", 1),
            ("我开什么车", 1),
            ("how old am I", 2),
            ("我多大了", 2),
            ("what does my girlfriend do", 3),
            ("do I have any pets", 4),
            ("我有什么宠物", 4),
            ("我住在哪里", 5),
            ("我的姐姐读什么专业", 6),
            ("我不能吃什么", 7),
        ):
            assert TOLD[told] in await alice.texts(asked, top_k=3), asked
        for asked in ("what is the capital of France", "怎么煮米饭", "write a haiku about the sea"):
            assert await alice.texts(asked, top_k=3) == [], asked


@pytest.mark.parametrize(
    "asked",
    [
        "finish the job queue",
        "the age of enlightenment",
        "park the car",
        "the meeting with Ana on Friday",
        "工作日志",
        "部署脚本",
        "season of mists",
    ],
)
def test_what_asks_for_nothing_of_the_kind_is_left_as_it_is(asked: str) -> None:
    assert bridge(asked) == ""
