"""Held merges on behalf of one request: those of the profiles that it may change, and the deciding on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from historian.errors import NotFoundError, StoreError
from historian.merge import Statement
from historian.merge_reviews import Review
from historian.model import Scope
from historian.profile_reading import entities_of
from historian.reviewing import NO_REVIEW, Proposal, ReviewDesk

MAX_REASON = 500
"""Characters that are kept of a reason for rejecting one."""


@dataclass(frozen=True, slots=True)
class HeldView:
    """A held merge, its statements, and what it would make of the profile now.

    Where it cannot be carried out there is no proposal, and `trouble` says why.
    """

    review: Review
    statements: tuple[Statement, ...]
    proposal: Proposal | None
    trouble: str = ""


class ScopedReviews:
    """The desk as one request may use it. What is not its own is not there. Methods block."""

    def __init__(self, desk: ReviewDesk, scope: Scope, guarded: Callable[[str], str]) -> None:
        """`guarded` returns a reason as it may be stored."""
        self._desk = desk
        self._scope = scope
        self._guarded = guarded

    def held(self) -> list[Review]:
        """Return the held merges, profile by profile, the oldest first."""
        return [review for entity in entities_of(self._scope) for review in self._desk.held(entity)]

    def show(self, review_id: int) -> HeldView:
        """Return one of them. Raises NotFoundError."""
        review = self._own(review_id)
        statements = tuple(self._desk.show(review_id)[1])
        try:
            return HeldView(review, statements, self._desk.proposal(review))
        except StoreError as error:
            return HeldView(review, statements, None, str(error))

    def accept(self, review_id: int) -> Review:
        """Carry one out on the profile as it stands now. Raises as `ReviewDesk.accept`."""
        self._own(review_id)
        return self._desk.accept(review_id)

    def reject(self, review_id: int, reason: str = "") -> Review:
        """Keep the statements of one out of the profile for good. Raises as `ReviewDesk.reject`."""
        self._own(review_id)
        return self._desk.reject(review_id, self._guarded(reason)[:MAX_REASON])

    def _own(self, review_id: int) -> Review:
        review = self._desk.show(review_id)[0]
        if review.entity not in entities_of(self._scope):
            raise NotFoundError(NO_REVIEW)
        return review
