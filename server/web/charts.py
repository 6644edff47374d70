"""Small bar charts: where each bar stands, for a template that draws them as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 360
HEIGHT = 96
FLOOR = 80
"""Where bars stand, from above; below are the labels."""
CEILING = 14
"""Above it stands the text of the scale."""
_GAP = 0.25


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, in the units of the chart. `text` says what it is of and how much."""

    x: float
    y: float
    width: float
    height: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars from left to right, and the texts at both ends of the floor and at the top of the scale."""

    bars: tuple[Bar, ...]
    first: str
    last: str
    top: str


def chart(values: Sequence[tuple[str, float | None, str]], top: float | None = None, top_text: str = "") -> Chart:
    """Return a chart of `(label, value, text of the value)`; a value of None has no bar.

    The scale ends at `top`, or at the greatest value.
    """
    known = [(value, text) for _, value, text in values if value is not None]
    greatest = max(known, default=(0.0, ""))
    scale = top if top is not None else greatest[0]
    step = WIDTH / max(len(values), 1)
    bars: list[Bar] = []
    for place, (label, value, text) in enumerate(values):
        if value is None or scale <= 0 or value <= 0:
            continue
        height = max(round(min(value / scale, 1.0) * (FLOOR - CEILING), 1), 1.0)
        bars.append(
            Bar(
                round((place + _GAP / 2) * step, 1),
                FLOOR - height,
                round(step * (1 - _GAP), 1),
                height,
                f"{label}: {text}",
            )
        )
    ends = (values[0][0], values[-1][0]) if values else ("", "")
    return Chart(tuple(bars), *ends, top_text or greatest[1])
