from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from historian.message_question import Participant, understand
from historian.message_ranking import (
    GAP_MS,
    Core,
    Days,
    Placed,
    Signals,
    Turn,
    Wanted,
    cores,
    links_of,
    place,
)
from historian.messages import SEQUENCE_BITS
from historian.named_days import named_days

DAY = date(2026, 2, 20)
MINUTE = 60_000 << SEQUENCE_BITS
ROWS = [i * MINUTE for i in range(1, 13)]
NOW = datetime(2026, 2, 20, 10, tzinfo=UTC)
ANN: Participant = ("", "Ann")
BOB: Participant = ("b-7", "Bob Miller")


def turn(row: int, **changes: object) -> Turn:
    plain = Turn(row, ("user:ann", "c"), "user", ANN, 400, asks=False, day=DAY)
    return replace(plain, **changes)  # type: ignore[arg-type]


def alike(count: int = 4) -> tuple[list[Turn], dict[int, Core]]:
    """Return turns of different sessions that are about the same."""
    rows = [i * 2 * (GAP_MS << SEQUENCE_BITS) for i in range(1, count + 1)]
    return [turn(row) for row in rows], {row: Core(0.5, 0.0) for row in rows}


def order(placed: Sequence[Placed]) -> list[int]:
    return [one.row for one in placed]


@pytest.mark.parametrize(
    ("wanted", "better"),
    [
        (Wanted(authors=frozenset({BOB})), {"author": BOB}),
        (Wanted(role="assistant"), {"role": "assistant"}),
        (Wanted(days=(Days(date(2026, 5, 3), date(2026, 5, 3)),)), {"day": date(2026, 5, 3)}),
        (Wanted(days=(Days(date(2000, 5, 3), date(2000, 5, 3), yearly=True),)), {"day": date(2024, 5, 3)}),
    ],
    ids=["author", "role", "day", "day of any year"],
)
def test_what_the_question_names_comes_first_among_equals(wanted: Wanted, better: dict[str, object]) -> None:
    turns, found = alike()
    turns[1] = replace(turns[1], **better)  # type: ignore[arg-type]
    plain = place(turns, found, Wanted(), Signals(), 99)
    assert order(plain) == [one.row for one in reversed(turns)]
    assert order(place(turns, found, wanted, Signals(), 99))[0] == turns[1].row


@pytest.mark.parametrize("worse", [{"asks": True}, {"size": 12}], ids=["a question", "very short"])
def test_a_question_and_a_short_turn_come_last_among_equals(worse: dict[str, object]) -> None:
    turns, found = alike()
    turns[3] = replace(turns[3], **worse)  # type: ignore[arg-type]
    assert order(place(turns, found, Wanted(), Signals(), 99))[-1] == turns[3].row


def test_the_session_of_the_best_hit_comes_before_an_equal_hit_elsewhere() -> None:
    turns, found = alike(2)
    beside = turn(turns[0].row + MINUTE)
    found = {turns[0].row: Core(0.9, 0.0), beside.row: Core(0.5, 0.0), turns[1].row: Core(0.5, 0.0)}
    assert order(place([*turns, beside], found, Wanted(), Signals(), 99)) == [turns[0].row, beside.row, turns[1].row]


def test_a_turn_counts_for_its_neighbours_less_with_distance_and_not_beyond_two() -> None:
    found = cores(links_of([ROWS], ROWS), Signals(terms={ROWS[5]: [0]}, weights=[1.0]))
    words = [found[row].words for row in ROWS]
    assert words[5] > words[4] == words[6] > words[3] == words[7] > 0
    assert words[:3] == [0, 0, 0]
    assert words[8:] == [0, 0, 0, 0]


def test_similarity_spreads_to_the_neighbours_too() -> None:
    near = dict.fromkeys(ROWS, 0.1) | {ROWS[5]: 0.9}
    found = cores(links_of([ROWS], ROWS), Signals(similarity=near))
    score = [found[row].score for row in ROWS]
    assert score[5] > score[4] > score[3] > score[0] == 0
    assert score[6:8] == pytest.approx(score[4:2:-1])


def test_nothing_spreads_over_a_long_pause_or_into_another_conversation() -> None:
    later = [row + (GAP_MS << SEQUENCE_BITS) + 12 * MINUTE for row in ROWS]
    elsewhere = [row + 1 for row in ROWS]
    found = cores(links_of([ROWS + later, elsewhere], [*ROWS, *later, *elsewhere]), Signals({}, {ROWS[-1]: [0]}, [1.0]))
    assert {row for row, core in found.items() if core.words > 0} == set(ROWS[-3:])


def test_what_may_answer_are_the_seeds_and_the_two_rows_beside_them() -> None:
    links = links_of([ROWS], [ROWS[5]])
    assert links.rows == set(ROWS[3:8])
    assert links.known == set(ROWS[1:10])


def test_without_vectors_the_words_count_in_full() -> None:
    terms = {ROWS[0]: [0, 1]}
    alone = cores(links_of([ROWS[:1]], ROWS[:1]), Signals({}, terms, [1.0, 1.0]))[ROWS[0]]
    beside = cores(links_of([ROWS[:1]], ROWS[:1]), Signals({ROWS[0]: 0.1}, terms, [1.0, 1.0]))[ROWS[0]]
    assert alone.score == 1.0 > beside.score


def test_a_weak_arm_is_not_blown_up_to_full_strength() -> None:
    """One rare word in twenty must not outdo a clear likeness."""
    signals = Signals({ROWS[0]: 0.2, ROWS[9]: 0.6}, {ROWS[0]: [0]}, [1.0] * 20)
    found = cores(links_of([ROWS[:1], ROWS[9:10]], [ROWS[0], ROWS[9]]), signals)
    assert found[ROWS[9]].score > found[ROWS[0]].score


def test_how_says_what_spoke_for_a_turn() -> None:
    signals = Signals({ROWS[1]: 0.5}, {ROWS[1]: [0], ROWS[2]: [1]}, [1.0, 1.0])
    found = cores(links_of([ROWS], ROWS), signals)
    wanted = Wanted(frozenset({ANN}), None, (Days(DAY, DAY),))
    placed = {one.row: one for one in place(map(turn, ROWS), found, wanted, signals, 99)}
    assert placed[ROWS[1]].how == ("semantic", "lexical", "neighbors", "author", "date")
    assert placed[ROWS[3]].how == ("neighbors", "author", "date")
    assert placed[ROWS[1]].words == 0.5
    assert placed[ROWS[9]].words == 0


shares = st.floats(allow_nan=True, allow_infinity=True)
similarities = st.dictionaries(st.sampled_from(ROWS), shares)
term_sets = st.dictionaries(st.sampled_from(ROWS), st.lists(st.integers(0, 3), unique=True))
weighings = st.lists(st.floats(0, 9), min_size=4, max_size=4)
some_turns = st.lists(
    st.builds(
        turn,
        st.sampled_from(ROWS),
        role=st.sampled_from(["user", "assistant"]),
        author=st.sampled_from([ANN, BOB]),
        size=st.integers(0, 1000),
        asks=st.booleans(),
    ),
    unique_by=lambda one: one.row,
)
wishes = st.builds(
    Wanted,
    st.sets(st.sampled_from([ANN, BOB])).map(frozenset),
    st.sampled_from([None, "user", "assistant"]),
    st.sampled_from([(), (Days(DAY, DAY),)]),
)


@given(some_turns, wishes, similarities, term_sets, weighings, st.randoms(use_true_random=False))
def test_scores_are_finite_within_bounds_and_do_not_depend_on_the_order_of_turns(
    turns: list[Turn],
    wanted: Wanted,
    similarity: dict[int, float],
    terms: dict[int, list[int]],
    weights: list[float],
    chance: random.Random,
) -> None:
    signals = Signals(similarity, terms, weights)
    mixed, shuffled = ROWS[:], turns[:]
    chance.shuffle(mixed)
    chance.shuffle(shuffled)
    first = place(turns, cores(links_of([ROWS], ROWS), signals), wanted, signals, 99)
    assert place(shuffled, cores(links_of([mixed], mixed), signals), wanted, signals, 99) == first
    assert {one.row for one in first} == {one.row for one in turns}
    assert all(0 <= one.score <= 1 and 0 <= one.words <= 1 for one in first)
    assert [one.score for one in first] == sorted((one.score for one in first), reverse=True)


@given(st.lists(st.floats(0, 1), min_size=12, max_size=12), st.integers(0, 11), st.floats(0, 1), term_sets, weighings)
def test_more_likeness_never_costs_a_place(
    values: list[float], which: int, more: float, terms: dict[int, list[int]], weights: list[float]
) -> None:
    rows = [row * 100 for row in ROWS]  # each a session of its own
    own = {row * 100: numbers for row, numbers in terms.items()}
    before = dict(zip(rows, values, strict=True))
    after = before | {rows[which]: max(more, before[rows[which]])}

    def place_of(similarity: dict[int, float]) -> int:
        found = cores(links_of([[row] for row in rows], rows), Signals(similarity, own, weights))
        return sorted(rows, key=lambda row: (-round(found[row].score, 9), row != rows[which])).index(rows[which])

    assert place_of(after) <= place_of(before)


PEOPLE = [ANN, BOB, ("wang", "王小明"), ("", "Will"), ("12345", ""), ("", "AI"), ("", "assistant")]


@pytest.mark.parametrize(
    ("text", "meaning", "authors"),
    [
        ("What did Ann bake?", "What did I bake?", {ANN}),
        ("what did ann bake?", "what did I bake?", {ANN}),
        ("Does Bob's car run?", "Does I's car run?", {BOB}),
        ("Is Bob Miller in?", "Is I in?", {BOB}),
        ("王小明喜欢吃什么？", "我喜欢吃什么？", {PEOPLE[2]}),
        ("小明喜欢吃什么？", "我喜欢吃什么？", {PEOPLE[2]}),
        ("Will it rain? Ask Will.", "I it rain? Ask I.", {PEOPLE[3]}),
        ("When will it rain?", "When will it rain?", set()),
        ("Anna and the bobsled", "Anna and the bobsled", set()),
        ("What did the AI assistant say about 12345?", "What did the AI assistant say about 12345?", set()),
        ("Ann", "Ann", {ANN}),
    ],
)
def test_names_of_participants_are_taken_out_and_say_who_wrote_it(
    text: str, meaning: str, authors: set[Participant]
) -> None:
    question = understand(text, PEOPLE, NOW)
    assert question.meaning == meaning
    assert question.wanted.authors == authors


def test_naming_everybody_prefers_nobody() -> None:
    question = understand("What did Ann tell Bob?", [ANN, BOB], NOW)
    assert question.meaning == "What did I tell I?"
    assert question.words == "What did tell ?"
    assert question.wanted.authors == frozenset()


def test_names_of_others_stay() -> None:
    assert understand("What did Carol bake?", PEOPLE, NOW).meaning == "What did Carol bake?"


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("What did I say about the trip?", "user"),
        ("Can you tell me where my keys are?", "user"),
        ("What did you recommend to me?", "assistant"),
        ("我说过我住在哪里？", "user"),
        ("你还记得我的生日吗？", "user"),
        ("你给我推荐了哪些书？", "assistant"),
        ("我们什么时候去的？", None),
        ("When does the train leave?", None),
    ],
)
def test_the_first_person_spoken_of_says_whose_turn_it_was(text: str, role: str | None) -> None:
    assert understand(text, [], NOW).wanted.role == role


def only(day: date) -> Days:
    return Days(day, day)


def yearly(month: int, day: int) -> Days:
    return Days(date(2000, month, day), date(2000, month, day), yearly=True)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("What happened on May 3rd?", [yearly(5, 3)]),
        ("the 3rd of May 2023", [only(date(2023, 5, 3))]),
        ("on 3 May", [yearly(5, 3)]),
        ("in May 2023", [Days(date(2023, 5, 1), date(2023, 5, 31))]),
        ("What happened in May?", [Days(date(2000, 5, 1), date(2000, 5, 31), yearly=True)]),
        ("in February", [Days(date(2000, 2, 1), date(2000, 2, 29), yearly=True)]),
        ("between August 11 and August 15 2023", [Days(date(2023, 8, 11), date(2023, 8, 15))]),
        ("from May 3 to May 7", [Days(date(2000, 5, 3), date(2000, 5, 7), yearly=True)]),
        ("May 3 and May 7", [yearly(5, 3), yearly(5, 7)]),
        ("2023-05-03", [only(date(2023, 5, 3))]),
        ("2023/5", [Days(date(2023, 5, 1), date(2023, 5, 31))]),
        ("5月3日我说了什么", [yearly(5, 3)]),
        ("2023年4月27号", [only(date(2023, 4, 27))]),
        ("12 月份的安排", [Days(date(2000, 12, 1), date(2000, 12, 31), yearly=True)]),
        ("我昨天说了什么", [only(date(2026, 2, 19))]),
        ("what did I say yesterday", [only(date(2026, 2, 19))]),
        ("last month", [Days(date(2026, 1, 1), date(2026, 1, 31))]),
        ("last May", [Days(date(2025, 5, 1), date(2025, 5, 31))]),
        ("You may march on.", []),
        ("May I ask?", []),
        ("version 1.2023.5", []),
        ("13月40日", []),
        ("May 40", []),
        ("", []),
    ],
)
def test_days_that_a_question_names(text: str, days: list[Days]) -> None:
    assert [*named_days(text, NOW)] == days


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["May", "3", "to", "5月", "3日", "9999", "-", "2023", "of"])).map(" ".join)
)
def test_no_question_is_an_error(text: str) -> None:
    question = understand(text, PEOPLE, NOW + timedelta(days=1))
    assert (question.meaning == text) or question.meaning.strip()
