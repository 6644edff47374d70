from __future__ import annotations

import pytest

from historian.ranking import Candidate, decay, fused, normalised, rank

NOW = 1_800_000_000.0
DAY = 86_400.0


def candidate(
    id: str,  # noqa: A002
    similarity: float | None = None,
    lexical: float | None = None,
    *,
    days: float = 0.0,
    text: str | None = None,
) -> Candidate:
    return Candidate(id, similarity, lexical, NOW - days * DAY, text if text is not None else f"statement {id}")


def ids(candidates: list[Candidate], **changes: object) -> list[str]:
    options: dict[str, object] = {"now": NOW, "top_k": 10, "half_life_days": 14.0, **changes}
    return [found.id for found in rank(candidates, **options)]  # type: ignore[arg-type]


def test_nothing_relevant_gives_an_empty_list() -> None:
    assert rank([], now=NOW, top_k=3, half_life_days=14) == []
    assert ids([candidate("a", 0.34), candidate("b", None, None), candidate("c", 0.1, 0.0)]) == []


def test_a_lexical_hit_suffices_below_the_floor() -> None:
    found = rank([candidate("a", 0.1, 0.2), candidate("b", None, 0.1)], now=NOW, top_k=3, half_life_days=14)
    assert [(one.id, one.how) for one in found] == [("a", ("lexical",)), ("b", ("lexical",))]


def test_the_floor_itself_is_enough() -> None:
    assert ids([candidate("a", 0.35)]) == ["a"]
    assert ids([candidate("a", 0.35)], floor=0.36) == []


def test_with_a_floor_of_zero_what_was_not_searched_by_meaning_still_needs_words() -> None:
    assert ids([candidate("a", 0.0), candidate("b", None, None)], floor=0.0) == ["a"]


@pytest.mark.parametrize("text", ["x", "1", "👍", "…", "mixed", "ok", "嗯", "好的"])
def test_what_says_hardly_anything_is_found_by_its_words_or_by_what_means_nearly_the_same(text: str) -> None:
    """Short texts are all alike to a short query: a memo "x" is no answer to "tea"."""
    assert ids([candidate("a", 0.55, text=text), candidate("b", 0.2, 0.5, text=text)]) == ["b"]
    assert ids([candidate("a", 0.9, text=text)]) == ["a"]


@pytest.mark.parametrize("text", ["likes tea", "花生过敏", "k8s migration", "喝茶 tea"])
def test_two_words_are_found_by_their_meaning(text: str) -> None:
    assert ids([candidate("a", 0.4, text=text)]) == ["a"]


def test_both_witnesses_say_more_than_one() -> None:
    assert ids([candidate("meaning", 0.7), candidate("both", 0.7, 0.7), candidate("words", None, 0.7)]) == [
        "both",
        "meaning",
        "words",
    ]
    assert 0.7 < fused(0.7, 0.7) < 1.0
    assert fused(0.7, None) == pytest.approx(0.7)
    assert fused(None, None) == 0.0


def test_words_can_outweigh_meaning() -> None:
    assert ids([candidate("meaning", 0.6), candidate("words", 0.4, 1.0)]) == ["words", "meaning"]


def test_the_reranker_takes_the_place_of_the_fusion() -> None:
    candidates = [candidate("a", 0.9, 1.0), candidate("b", 0.4)]
    assert ids(candidates) == ["a", "b"]
    assert ids(candidates, rerank={"a": 0.1, "b": 0.8}) == ["b", "a"]
    found = rank(candidates, now=NOW, top_k=2, half_life_days=14, rerank={"b": 0.99}, decay_enabled=False)
    assert [(one.id, one.score, one.how) for one in found] == [
        ("b", 0.99, ("semantic", "rerank")),
        ("a", pytest.approx(fused(0.9, 1.0)), ("semantic", "lexical")),
    ]


def test_the_reranker_does_not_bring_back_what_is_not_relevant() -> None:
    assert ids([candidate("a", 0.2)], rerank={"a": 1.0}) == []


def test_time_decides_between_equals_and_near_equals() -> None:
    old, new = candidate("old", 0.62, days=100), candidate("new", 0.6, days=0)
    assert ids([old, new]) == ["new", "old"]
    assert ids([old, new], decay_enabled=False) == ["old", "new"]
    assert ids([old, new], boost=0.0) == ["old", "new"]
    assert ids([candidate("far better", 0.9, days=1000), new]) == ["far better", "new"]


def test_decay_comes_after_the_reranker() -> None:
    old, new = candidate("old", 0.5, days=100), candidate("new", 0.5)
    assert ids([old, new], rerank={"old": 0.62, "new": 0.6}) == ["new", "old"]


def test_time_does_not_lift_what_lies_below_the_floor() -> None:
    found = rank([candidate("a", 0.3, 0.5)], now=NOW, top_k=1, half_life_days=14)
    assert found[0].score == pytest.approx(fused(0.3, 0.5))


def test_decay_halves_its_lead_every_half_life() -> None:
    assert decay(0, half_life_days=14, boost=0.2) == pytest.approx(1.2)
    assert decay(14 * DAY, half_life_days=14, boost=0.2) == pytest.approx(1.1)
    assert decay(28 * DAY, half_life_days=14, boost=0.2) == pytest.approx(1.05)
    assert decay(-5 * DAY, half_life_days=14, boost=0.2) == pytest.approx(1.2), "the future is now"
    assert decay(DAY, half_life_days=0, boost=0.2) == 1.0


def test_near_duplicates_leave_the_best_and_then_the_cut_is_made() -> None:
    candidates = [
        candidate("a", 0.9, text="小李不能吃辣。"),
        candidate("b", 0.8, text="小李吃不了辣"),
        candidate("c", 0.7, text="小李能吃辣"),
        candidate("d", 0.6, text="包裹17到了"),
        candidate("e", 0.5, text="包裹18到了"),
    ]
    assert ids(candidates) == ["a", "c", "d", "e"]
    assert ids(candidates, top_k=2) == ["a", "c"]


def test_among_equal_duplicates_the_newer_stays() -> None:
    duplicates = [
        candidate("old", None, 0.5, days=9, text="Tom likes tea"),
        candidate("new", None, 0.5, text="Tom likes tea."),
    ]
    assert ids(duplicates) == ["new"]


def test_texts_without_words_are_no_duplicates() -> None:
    assert ids([candidate("a", 0.9, text=""), candidate("b", 0.9, text="…")]) == ["a", "b"]


def test_an_id_that_comes_twice_is_ranked_once_with_its_best_signals() -> None:
    found = rank([candidate("a", 0.5), candidate("a", None, 0.9)], now=NOW, top_k=5, half_life_days=14)
    assert [(one.id, one.similarity, one.lexical) for one in found] == [("a", 0.5, 0.9)]


def test_nonsense_from_a_model_counts_as_nothing() -> None:
    nan = float("nan")
    assert ids([candidate("a", nan, 0.5), candidate("b", nan, nan)], rerank={"a": nan}) == ["a"]


def test_scores_without_bound_become_shares_of_the_best() -> None:
    assert normalised({"a": 10.0, "b": 5.0, "c": 0.0, "d": float("inf")}) == {"a": 1.0, "b": 0.5}
    assert normalised({}) == {}


@pytest.mark.parametrize("others", [0, 1, 5, 90, 991])
def test_of_equals_the_one_stored_first_is_found_however_many_rows_are_others(others: int) -> None:
    """As texts, row 10 stands before row 9: whether those are one's rows depends on what others have stored."""
    rows = [str(others + mine) for mine in (8, 9, 10, 11)]
    assert ids([candidate(row, 0.8, 0.5, text=f"text {at}") for at, row in enumerate(rows)][::-1]) == rows
    assert ids([candidate(row, 0.8, 0.5, text="one text") for row in rows]) == rows[:1]
