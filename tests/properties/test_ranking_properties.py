from __future__ import annotations

import math
import random

from hypothesis import given
from hypothesis import strategies as st

from historian.ranking import Candidate, Ranked, rank
from historian.sameness import same_statement

NOW = 1_800_000_000.0

shares = st.none() | st.floats(0, 1)
wild = st.none() | st.floats(allow_nan=True, allow_infinity=True)
texts = st.sampled_from(
    ["小李吃辣", "小李不吃辣", "小李不吃辣。", "parcel 17", "Parcel 17!", "parcel 18", "", "Tom likes tea"]
)
epochs = st.floats(NOW - 1e9, NOW + 1e6)


def candidates(signals: st.SearchStrategy[float | None]) -> st.SearchStrategy[list[Candidate]]:
    one = st.builds(Candidate, st.sampled_from("abcdefghijkl"), signals, signals, epochs, texts)
    return st.lists(one, max_size=12)


def ranked(given: list[Candidate], top_k: int = 50, rerank: dict[str, float] | None = None) -> list[Ranked]:
    return rank(given, now=NOW, top_k=top_k, half_life_days=14, rerank=rerank)


@given(candidates(shares), st.randoms(use_true_random=False))
def test_the_order_of_candidates_does_not_matter(given: list[Candidate], chance: random.Random) -> None:
    shuffled = given[:]
    chance.shuffle(shuffled)
    assert ranked(given) == ranked(shuffled)


@given(candidates(wild), st.dictionaries(st.sampled_from("abcdefghijkl"), st.floats()), st.integers(0, 5))
def test_results_are_few_distinct_finite_and_in_order(
    given: list[Candidate], rerank: dict[str, float], top_k: int
) -> None:
    found = ranked(given, top_k, rerank)
    assert len(found) <= top_k
    assert len({one.id for one in found}) == len(found)
    assert all(math.isfinite(one.score) and 0 <= one.score <= 1.2 + 1e-9 for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(one.how for one in found)


@given(candidates(shares))
def test_no_two_results_say_the_same(given: list[Candidate]) -> None:
    text_of = {one.id: "" for one in given}
    for one in given:
        text_of[one.id] = max(text_of[one.id], one.text)
    texts = [text_of[one.id] for one in ranked(given)]
    assert not any(same_statement(a, b) for i, a in enumerate(texts) for b in texts[:i])


@given(candidates(shares), st.integers(0, 12))
def test_a_smaller_cut_is_the_beginning_of_a_larger(given: list[Candidate], top_k: int) -> None:
    assert ranked(given, top_k) == ranked(given)[:top_k]


@given(st.floats(0, 1), st.floats(0, 1), shares, shares, epochs, st.booleans())
def test_more_of_a_signal_never_lowers_the_score(
    one: float, other: float, similarity: float | None, lexical: float | None, epoch: float, of_meaning: bool
) -> None:
    def score(value: float) -> float:
        pair = (value, lexical) if of_meaning else (similarity, value)
        found = ranked([Candidate("a", *pair, epoch, "text")])
        return found[0].score if found else 0.0

    low, high = sorted((one, other))
    assert score(low) <= score(high) + 1e-12


@given(st.floats(0.35, 1), shares, epochs, epochs)
def test_the_newer_of_two_alike_never_scores_lower(
    similarity: float, lexical: float | None, one: float, other: float
) -> None:
    old, new = sorted((one, other))
    scores = {
        found.id: found.score
        for found in ranked(
            [
                Candidate("old", similarity, lexical, old, "old text"),
                Candidate("new", similarity, lexical, new, "new text"),
            ]
        )
    }
    assert scores["new"] >= scores["old"]
