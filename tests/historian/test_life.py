"""What people tell of their lives is kept by rules in both languages alike, and what only looks like it in neither."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from historian.capture_rules import LONGEST, worth_keeping
from historian.considering import by_rules, line_of
from historian.model import Message
from historian.rewrite import RewriteContext, rewrite_offline

CASES = Path(__file__).parents[1] / "cases" / "life.jsonl"


class Pair(NamedTuple):
    zh: str
    en: str
    kept: bool


PAIRS = [Pair(one["zh"], one["en"], one["kept"]) for one in map(json.loads, CASES.read_text("utf-8").splitlines())]
TOLD = [text for pair in PAIRS if pair.kept for text in (pair.zh, pair.en)]
NOT_TOLD = [text for pair in PAIRS if not pair.kept for text in (pair.zh, pair.en)]
NOW = datetime(2026, 3, 1, tzinfo=UTC)
CONTEXT = RewriteContext(said_at=NOW, speaker_name="Mara")


def remembered(said: str) -> list[str]:
    """Return the sentences that are remembered of a message without a model."""
    line = line_of(Message("m", "c", "user", said, NOW), "Mara", CONTEXT, is_new=True)
    return [finding.original for finding in by_rules([line]).found]


@pytest.mark.parametrize("said", TOLD)
def test_what_somebody_tells_of_their_life_is_kept_in_both_languages(said: str) -> None:
    """P69."""
    assert remembered(said) == [said]


@pytest.mark.parametrize("said", NOT_TOLD)
def test_questions_tasks_moments_others_and_what_is_supposed_or_quoted_are_kept_in_neither(said: str) -> None:
    """P80: junk is not stored."""
    assert remembered(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "i broke my arm",
        "im training for a marathon",
        "my bike was stolen",
        "Btw, I bought a camera",
        "So I lost my job.",
    ],
)
def test_a_life_is_told_in_hasty_writing_too(said: str) -> None:
    assert remembered(said) == [said]


@pytest.mark.parametrize(
    "unit",
    [
        "我",
        "我刚",
        "我上个月",
        "上周",
        "我的",
        "我买了一台",
        "一",
        "I ",
        "I just ",
        "my dear old ",
        "I had a ",
        "so ",
        "a-b ",
        "I run every ",
    ],
)
def test_the_time_that_a_hostile_sentence_takes_stays_small(unit: str) -> None:
    """As long as a sentence may be, it takes milliseconds; the bound is wide for a machine that is busy."""
    sentence = (unit * LONGEST)[:LONGEST]
    worth_keeping(sentence)
    before = time.process_time()
    worth_keeping(sentence)
    assert time.process_time() - before < 0.5


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("My dog died", "Mara's dog died"),
        ("I moved to Leeds last month", "Mara moved to Leeds in 2026-02"),
        ("我的狗去世了", "Mara 的狗去世了"),
        ("我上个月搬到利兹了", "Mara 2026-02 搬到利兹了"),
        (
            "I don't drink cow's milk any more and use oat milk",
            "Mara doesn't drink cow's milk any more and uses oat milk",
        ),
        ("I don't eat meat anymore, and I love tofu", "Mara doesn't eat meat anymore, and Mara loves tofu"),
        ("I don't drink and drive", "Mara doesn't drink and drive"),
        ("I don't smoke or drink at all", "Mara doesn't smoke or drink at all"),
    ],
)
def test_the_statement_says_it_of_the_speaker(said: str, statement: str) -> None:
    assert rewrite_offline(said, CONTEXT).text == statement
