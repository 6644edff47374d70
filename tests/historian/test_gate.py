from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from historian.gate import MAX_FINDINGS, Finding, GateKind, inspect, is_absolute

ROOT = Path(__file__).resolve().parent.parent.parent
OWN = ROOT / "tests" / "cases" / "gate.jsonl"
SHARED = ROOT.parent / "shared" / "gate" / "cases.jsonl"


def _wrong(path: Path) -> list[str]:
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert cases
    return [
        f"{case['id']} {case['text']} {case['flags']}"
        for case in cases
        if {finding.kind.value for finding in inspect(case["text"])} != set(case["flags"])
    ]


def kinds(text: str) -> list[str]:
    return [finding.kind.value for finding in inspect(text)]


def test_every_case_of_our_own_labelled_set_is_right() -> None:
    assert _wrong(OWN) == []


def test_every_shared_starter_case_is_right() -> None:
    if not SHARED.exists():
        pytest.skip("../shared/gate/cases.jsonl is absent")
    assert _wrong(SHARED) == []


def test_nothing_in_our_own_set_is_copied_from_the_shared_cases() -> None:
    if not SHARED.exists():
        pytest.skip("../shared/gate/cases.jsonl is absent")
    ours, theirs = (
        {json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()}
        for path in (OWN, SHARED)
    )
    assert not ours & theirs


def test_findings_come_in_order_with_offsets_into_the_given_text() -> None:
    text = "Rita 说“昨天”很好，但她昨天在这里 met him last week。"
    found = inspect(text)
    assert [finding.found for finding in found] == ["她", "昨天", "这里", "him", "last week"]
    assert [finding.start for finding in found] == sorted(finding.start for finding in found)
    assert all(text[finding.start : finding.end] == finding.found for finding in found)


@pytest.mark.parametrize(
    ("finding", "hint"),
    [
        (Finding(GateKind.TIME, "昨天", 0, 2), 'Replace "昨天" with the absolute date.'),
        (Finding(GateKind.PRONOUN, "she", 0, 3), 'Replace "she" with the name of the person or thing.'),
        (Finding(GateKind.PLACE, "here", 0, 4), 'Replace "here" with the name of the place.'),
    ],
)
def test_a_hint_says_what_to_put_in_place_of_the_word(finding: Finding, hint: str) -> None:
    assert finding.hint == hint


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Judy left two weeks ago.", "two weeks ago"),
        ("Judy left about a year and a half ago.", "about a year and a half ago"),
        ("Judy left not long ago.", "not long ago"),
        ("Judy left a few years back.", "a few years back"),
        ("Judy met Ivan the other day.", "the other day"),
        ("Judy came last Friday night.", "last Friday night"),
        ("Judy is busy at the moment.", "at the moment"),
        ("Judy called earlier today.", "earlier today"),
        ("Judy slept badly over the past few days.", "the past few days"),
        ("Judy left the week before last.", "the week before last"),
        ("去年底张三搬家。", "去年底"),
        ("今年三月五号张三搬家。", "今年三月五号"),
        ("上个月五号张三搬家。", "上个月五号"),
        ("最近几天张三失眠。", "最近几天"),
        ("三个半小时以前张三到家。", "三个半小时以前"),
    ],
)
def test_a_finding_spans_the_whole_phrase_that_a_person_would_replace(text: str, phrase: str) -> None:
    assert [finding.found for finding in inspect(text)] == [phrase]


def test_a_phrase_never_reaches_into_the_finding_before_it() -> None:
    found = inspect("Judy said today this morning two days ago the other day 去年去年底。")
    assert all(first.end <= second.start for first, second in pairwise(found))
    assert len(found) == 6


def test_a_sequel_counts_only_where_nothing_dates_it() -> None:
    assert kinds("届时由李雷主持。") == ["time"]
    assert kinds("发布会定于 2026-05-20，届时由李雷主持。") == []
    assert kinds("The following day Judy flew home.") == ["time"]
    assert kinds("Judy landed on 2026-03-01 and left the following day.") == []
    assert kinds("李雷在 2026-03-01 摔伤，两周后拆线。") == []
    assert kinds("李雷两周后拆线。") == ["time"]


def test_a_text_is_absolute_when_nothing_is_found() -> None:
    assert is_absolute("张三在 2026-02-21 搬到了杭州。")
    assert not is_absolute("张三昨天搬到了杭州。")
    assert is_absolute("")


@pytest.mark.parametrize(
    "mark", ["“{}”", '"{}"', "‘{}’", "'{}'", "「{}」", "『{}』", "《{}》", "〈{}〉", "`{}`", "```{}```"]
)
@pytest.mark.parametrize("words", ["我昨天在这里", "I don't like it here today"])
def test_quoted_speech_titles_and_code_are_exempt(mark: str, words: str) -> None:
    assert kinds(f"Rita 写了 {mark.format(words)} 三次。") == []
    assert kinds(words) != []


def test_an_apostrophe_opens_no_quotation() -> None:
    assert kinds("The users' tables and Bob's cat: she's asleep.") == ["pronoun"]


def test_an_unclosed_quotation_exempts_nothing() -> None:
    assert kinds("林涛说“我不吃辣。") == ["pronoun"]


@pytest.mark.parametrize(
    "code",
    [
        "me-and-you",
        "his_var",
        "/home/here/now.txt",
        "https://it.example/you?now",
        "me@here.it",
        "@you",
        "now()",
        "--now",
    ],
)
def test_identifiers_paths_and_addresses_are_exempt(code: str) -> None:
    assert kinds(f"Rita added {code} to the list.") == []
    assert kinds(f"丽塔把 {code} 加进列表。") == []


def test_a_weekday_counts_only_without_a_date_beside_it() -> None:
    assert kinds("The demo is on Friday, 13 March 2026.") == []
    assert kinds("2026-03-13（周五）演示。") == []
    assert kinds("The demo is on Friday.") == ["time"]
    assert kinds("周五演示。") == ["time"]


def test_all_capitals_are_names_unless_the_whole_text_is_shouted() -> None:
    assert kinds("The US and IT teams use HERE Maps.") == []
    assert kinds("WE WILL SHIP IT") == ["pronoun", "pronoun"]


def test_a_word_glued_to_chinese_text_is_still_a_word() -> None:
    assert kinds("联系me获取权限") == ["pronoun"]
    assert kinds("用户menu已更新") == []


@pytest.mark.parametrize(
    "unit",
    [
        "“",
        '"',
        " '",
        " 'a",
        "`",
        "a",
        "a.",
        "a-",
        "a'",
        "1",
        "我",
        "三天前",
        "last ",
        "Monday ",
        "每周一、",
        "‘a’",
        "I ",
        "附近",
        "in two weeks ",
        "离最近",
        "http://",
        "周一",
        "\n",
        "《",
        "this ",
        "over ",
        "following ",
        "a year and a half ago ",
        "届时",
        "两周后",
        "与其",
        "2026-01-01 刚",
    ],
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    """A generous ceiling for a loaded machine: quadratic rules would take hours."""
    text = unit * (200_000 // len(unit))
    began = time.thread_time()
    assert len(inspect(text)) <= MAX_FINDINGS
    assert time.thread_time() - began < 20


def test_a_sentence_takes_microseconds() -> None:
    """The receipt of `end` carries the gate's answer; the ceiling leaves room for a loaded machine."""
    text = "Carol 在 2026-04-02 确认 Atlas 于 2026 年 5 月上线，其他方案均已放弃，团队每周五同步进度，负责人是李雷。"
    inspect(text)
    began = time.thread_time()
    for _ in range(100):
        inspect(text)
    assert (time.thread_time() - began) / 100 < 0.002


@pytest.mark.process
@pytest.mark.parametrize("how", [["benchmarks/gate.py"], ["-m", "benchmarks.gate"]])
def test_the_scorer_lists_what_is_wrong_and_ends_with_the_score(how: list[str], tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(
        '{"id": "a", "text": "他走了。", "flags": ["pronoun"]}\n{"id": "b", "text": "她走了。", "flags": []}\n',
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", *how, str(cases)], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    lines = done.stdout.splitlines()
    assert lines[0].startswith("b  她走了。")
    assert lines[-1] == "1 of 2 right"
