"""What a cosine means: a curve per embedding model from cosine to a similarity of 0..1.

One model spreads its cosines over −0.1..1, another crowds them into 0.75..1. The curve runs through points that mean
the same for every model: unrelated sentences lie low, the border between unrelated and related is `BORDER`, paraphrases
begin at `PARAPHRASE`. The points are measured with the shipped `anchors`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from historian.anchors import ANCHORS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNRELATED = 0.1
BORDER = 0.35
PARAPHRASE = 0.8

_GAP = 1e-3  # least distance between two neighbouring points, so that a degenerate model still has a rising curve


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising curve through four cosines. `floor` maps to 0 and a cosine of 1 to 1.

    `unrelated` is the median of unrelated pairs, `border` parts unrelated from related, `paraphrase` is where
    saying the same in other words begins.
    """

    floor: float
    unrelated: float
    border: float
    paraphrase: float

    def apply(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the similarity, 0..1, of each cosine; what is no number becomes 0."""
        import numpy as np

        knots = _rising([self.floor, self.unrelated, self.border, self.paraphrase, 1.0])
        values = np.nan_to_num(np.asarray(cosine, dtype=np.float64), nan=-1.0)
        curve = np.interp(values, knots, [0.0, UNRELATED, BORDER, PARAPHRASE, 1.0])
        return curve.astype(np.float32)

    def cosine_at(self, similarity: float) -> float:
        """Return the cosine that a similarity stands for: the curve read backwards."""
        import numpy as np

        knots = _rising([self.floor, self.unrelated, self.border, self.paraphrase, 1.0])
        return float(np.interp(similarity, [0.0, UNRELATED, BORDER, PARAPHRASE, 1.0], knots))


def _rising(knots: Sequence[float]) -> list[float]:
    """Return the points pushed apart downwards from the last, so that each lies above the one before."""
    out = [knots[-1]]
    for knot in reversed(knots[:-1]):
        out.append(min(knot, out[-1] - _GAP))
    return out[::-1]


def measure(embed: Callable[[Sequence[str]], NDArray[np.float32]]) -> Calibration:
    """Calibrate a model by embedding the shipped anchors (some ninety short sentences, one call).

    `embed` returns unit vectors, shape (n, dimension). Errors of the model pass through.
    """
    import numpy as np

    texts = [text for anchor in ANCHORS for text in anchor]
    vectors = np.asarray(embed(texts), dtype=np.float64).reshape(len(ANCHORS), 3, -1)
    statements, paraphrases, questions = vectors[:, 0], vectors[:, 1], vectors[:, 2]
    foreign = ~np.eye(len(ANCHORS), dtype=bool)
    unrelated = np.concatenate([(statements @ paraphrases.T)[foreign], (statements @ questions.T)[foreign]])
    related = np.einsum("ij,ij->i", statements, questions)
    same = np.einsum("ij,ij->i", statements, paraphrases)
    return Calibration(
        floor=float(np.quantile(unrelated, 0.02)),
        unrelated=float(np.median(unrelated)),
        border=float((np.quantile(unrelated, 0.95) + np.quantile(related, 0.10)) / 2),
        paraphrase=float(same.min()),
    )


BUILTIN = Calibration(floor=-0.06, unrelated=0.05, border=0.25, paraphrase=0.70)
"""Measured on the builtin model with `measure`, rounded; a test measures again."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found out about a model: the length of its vectors and its curve."""

    dimension: int
    calibration: Calibration


class CalibrationFile:
    """Remembers what was measured in one small JSON file, by the name of the model."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, model: str) -> Measured | None:
        """Return what is known of this model, or None when it was never measured or the file cannot be read."""
        row = dict(self._rows().get(model, {}))
        try:
            return Measured(int(row.pop("dimension")), Calibration(**row))
        except (KeyError, TypeError, ValueError):
            return None

    def save(self, model: str, measured: Measured) -> None:
        """Remember what was measured. Raises OSError when the folder cannot be written."""
        row = {"dimension": measured.dimension, **asdict(measured.calibration)}
        rows = {**self._rows(), model: row}
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(rows, indent=1, sort_keys=True), encoding="utf-8")
        temporary.replace(self._path)

    def _rows(self) -> dict[str, dict[str, float]]:
        try:
            loaded: object = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        rows = cast("dict[str, object]", loaded) if isinstance(loaded, dict) else {}
        return {key: cast("dict[str, float]", row) for key, row in rows.items() if isinstance(row, dict)}
