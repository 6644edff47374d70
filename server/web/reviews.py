"""Merges that are held for a person: why, what they would change in the profile, and deciding on them."""

from __future__ import annotations

from collections.abc import Callable

from historian.errors import NotFoundError
from historian.reviewing import NO_REVIEW
from server.web.page import Asked, Done, Page

MAX_DIGITS = 17
"""More than any id has, and fewer than the database can count."""


class ReviewPages:
    """Shows held merges; `render` makes Markdown to HTML."""

    def __init__(self, render: Callable[[str], str]) -> None:
        self._render = render

    def list(self, asked: Asked) -> Page:
        """Return the held merges of the guest's profiles."""
        return Page("reviews.html", {"held": asked.memory.reviews.held()})

    def show(self, asked: Asked) -> Page:
        """Return one of them beside the profile as it is. Raises NotFoundError."""
        shown = asked.memory.reviews.show(_number(asked))
        entity = shown.review.entity
        present = asked.memory.look.profile(entity.kind, entity.id)
        values = {
            "review": shown.review,
            "shown": shown,
            "present": self._render(present.text) if present.text else "",
            "proposed": self._render(shown.proposal.text) if shown.proposal is not None else "",
        }
        return Page("review.html", values)

    def accept(self, asked: Asked) -> Done:
        """Carry one out. Raises as `ScopedReviews.accept`."""
        review = asked.memory.reviews.accept(_number(asked))
        return Done("profile", {"of": review.entity.key, "done": "accepted"})

    def reject(self, asked: Asked) -> Done:
        """Keep the statements of one out of the profile. Raises as `ScopedReviews.reject`."""
        asked.memory.reviews.reject(_number(asked), asked.field("reason"))
        return Done("reviews", {"done": "rejected"})


def _number(asked: Asked) -> int:
    number = asked.field("id")
    if not (number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS):
        raise NotFoundError(NO_REVIEW)
    return int(number)
