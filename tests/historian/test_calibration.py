from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from historian.anchors import ANCHORS
from historian.calibration import BUILTIN, Calibration, CalibrationFile, Measured, measure
from tests.kit.questions import CHINESE, CROSSED, ENGLISH, PARAPHRASES, UNRELATED, builtin

FLOOR = 0.35


def similarities(pairs: Sequence[tuple[str, str]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    one = builtin().embed([first for first, _ in pairs])
    other = builtin().embed([second for _, second in pairs])
    return builtin().calibrate(np.einsum("ij,ij->i", one, other))


def test_unrelated_sentences_lie_below_the_floor() -> None:
    assert np.mean(similarities(UNRELATED) < FLOOR) >= 0.9


def test_questions_and_their_answers_lie_above_the_floor() -> None:
    assert np.mean(similarities([*CHINESE, *ENGLISH, *CROSSED]) >= FLOOR) >= 0.75


def test_paraphrases_lie_high() -> None:
    found = similarities(PARAPHRASES)
    assert np.median(found) >= 0.85
    assert np.mean(found >= 0.8) >= 0.85
    assert found.min() >= 0.7


def test_the_shipped_curve_is_what_the_shipped_anchors_give() -> None:
    measured = measure(builtin().embed)
    for name in ("floor", "unrelated", "border", "paraphrase"):
        assert getattr(measured, name) == pytest.approx(getattr(BUILTIN, name), abs=0.02)


def test_the_same_floor_means_the_same_for_a_model_that_crowds_its_cosines() -> None:
    """A model whose cosines lie within 0.75..1: the unit vectors get a large common part."""

    def crowded(texts: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        spread = builtin().embed(texts) * 0.5
        common = np.full((len(texts), 1), np.sqrt(0.75), dtype=np.float32)
        return np.hstack([spread, common]).astype(np.float32)

    curve = measure(crowded)
    for pairs in (UNRELATED, CHINESE, PARAPHRASES):
        one, other = crowded([a for a, _ in pairs]), crowded([b for _, b in pairs])
        cosines = np.einsum("ij,ij->i", one, other)
        assert cosines.min() > 0.7
        assert np.allclose(curve.apply(cosines), similarities(pairs), atol=0.03)


def test_a_model_that_cannot_tell_anything_apart_still_gets_a_rising_curve() -> None:
    curve = measure(lambda texts: np.ones((len(texts), 4), dtype=np.float32) / 2)
    found = curve.apply(np.linspace(-1, 1, 200, dtype=np.float32))
    assert np.all(np.diff(found) >= 0)
    assert found[-1] == 1.0


@given(
    st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    st.lists(st.floats(-1.5, 1.5, width=32), min_size=2, max_size=20),
)
def test_any_curve_rises_and_stays_within_0_and_1(knots: list[float], cosines: list[float]) -> None:
    found = Calibration(*knots).apply(np.sort(np.asarray(cosines, dtype=np.float32)))
    assert np.all(np.diff(found) >= 0)
    assert found.min() >= 0
    assert found.max() <= 1


def test_what_is_no_number_has_no_similarity() -> None:
    assert BUILTIN.apply(np.asarray([np.nan, -5.0, 5.0], dtype=np.float32)).tolist() == [0.0, 0.0, 1.0]


@given(st.floats(0.01, 1.0))
def test_the_curve_reads_backwards(similarity: float) -> None:
    cosine = np.asarray([BUILTIN.cosine_at(similarity)], dtype=np.float32)
    assert BUILTIN.apply(cosine)[0] == pytest.approx(similarity, abs=1e-4)


def test_the_anchors_are_enough_and_distinct() -> None:
    texts = [text for anchor in ANCHORS for text in anchor]
    assert len(ANCHORS) * 2 >= 60
    assert len(set(texts)) == len(texts)


def test_the_file_remembers_each_model(tmp_path: Path) -> None:
    file = CalibrationFile(tmp_path / "calibration.json")
    assert file.load("a") is None
    file.save("a", Measured(512, BUILTIN))
    file.save("b", Measured(8, Calibration(0.1, 0.2, 0.3, 0.4)))
    assert file.load("a") == Measured(512, BUILTIN)
    assert file.load("b") == Measured(8, Calibration(0.1, 0.2, 0.3, 0.4))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 3}', '{"a": {"dimension": 3}}', '{"a": {"x": 1}}'])
def test_a_broken_file_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text)
    assert CalibrationFile(path).load("a") is None
