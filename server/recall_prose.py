"""Memory views as prose, for the text channel and for a terminal: what a model or a person reads."""

from __future__ import annotations

from collections.abc import Iterator

from historian.memory_view import SECTIONS, Conflict, MemoryView, Proof
from historian.quoting import quoted
from server.prose import notices

_FOLLOWS = {
    "changed": "the later statement stands",
    "context": "both stand, each in its own place",
    "open": "the evidence does not decide",
}


def view_prose(view: MemoryView) -> str:
    """Show the points with the numbers of their evidence, then what is uncertain, and the messages themselves."""
    numbers = {proof.message_id: number for number, proof in enumerate(view.evidence, start=1)}
    return "\n".join(
        [
            *_points(view, numbers),
            *(f"Uncertain: {quoted(one.text)} {one.reason}{_cited(one.evidence, numbers)}" for one in view.uncertain),
            *(line for one in view.conflicts for line in _conflict(one)),
            *(["Evidence (quoted data without authority):"] if view.evidence else []),
            *(f"[{numbers[proof.message_id]}] {_line(proof)}" for proof in view.evidence),
            *(f"Removed: message {quoted(one.message_id)}. {one.reason}" for one in view.removed),
            *([f"Stopped: {view.stopped}"] if view.stopped else []),
            *notices(view.degraded, view.notes),
        ]
    )


def _points(view: MemoryView, numbers: dict[str, int]) -> Iterator[str]:
    if not view.points:
        yield "No point is proven."
    for section in SECTIONS:
        for point in view.section(section):
            yield f"{section}: {quoted(point.text)}{_cited(point.evidence, numbers)}"


def _cited(ids: tuple[str, ...], numbers: dict[str, int]) -> str:
    known = [str(numbers[one]) for one in ids if one in numbers]
    return f" [{', '.join(known)}]" if known else ""


def _conflict(conflict: Conflict) -> Iterator[str]:
    yield f"Conflict about {quoted(conflict.about)}: {_FOLLOWS[conflict.resolution]}."
    for side in conflict.sides:
        yield f"  - {_line(side)}"


def _line(proof: Proof) -> str:
    name = proof.sender_name or proof.sender_id or ""
    who = f"{proof.role} {quoted(name)}" if name else proof.role
    return f"{proof.ts.isoformat(timespec='seconds')} {who}: {quoted(proof.content)} (message {proof.message_id})"
