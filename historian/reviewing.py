"""Deciding on merges that are held: carry one out, or keep its statements out of the profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from historian.biographer import Biographer
from historian.bullets import one_line
from historian.errors import NotFoundError
from historian.merge import MAX_RETIRED, Drop, Merge, Statement
from historian.merge_apply import carry_out
from historian.merge_reviews import MergeReviews, Review
from historian.merge_waiting import MergeWaiting
from historian.model import Owner
from historian.profile import Profile
from historian.profile_drops import ProfileDrops
from historian.profile_versions import difference
from historian.sameness import Sameness

_Make = Callable[[Profile | None], Merge]

REJECTED = "it was rejected in review"
NO_REVIEW = "There is no held merge of that id; list those that there are."


@dataclass(frozen=True, slots=True)
class Proposal:
    """A profile as it would be, as Markdown, and what would change in it, as lines of a unified diff."""

    text: str
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewDesk:
    """Where a person decides. Thread-safe. `changed` is called after a change, so that vectors follow at once."""

    biographer: Biographer
    waiting: MergeWaiting
    reviews: MergeReviews
    drops: ProfileDrops
    changed: Callable[[], None]

    def held(self, entity: Owner | None = None) -> list[Review]:
        """Return the held merges of everybody or of one entity, oldest first."""
        return self.reviews.list(entity)

    def show(self, review_id: int) -> tuple[Review, list[Statement]]:
        """Return a held merge and the statements that it waits with. Raises NotFoundError."""
        return self._required(review_id), self.waiting.held(review_id)

    def proposal(self, review: Review) -> Proposal:
        """Return what a held merge would make of the profile as it stands now.

        Raises:
            StoreError: it cannot be carried out; it can be rejected.
        """
        present, _ = self.biographer.read(review.entity)
        proposed = self._carried_out(present, review, self.waiting.held(review.id)).profile
        return Proposal(proposed.render(), difference(present, proposed))

    def accept(self, review_id: int) -> Review:
        """Carry a held merge out on the profile as it stands now; lines that were edited meanwhile stay as they are.

        Raises:
            NotFoundError: there is no such merge.
            StoreError, ConflictError: the profile cannot be written; the merge stays held.
        """
        review, statements = self.show(review_id)
        self._decide(review, statements, lambda profile: self._carried_out(profile, review, statements))
        return review

    def reject(self, review_id: int, reason: str = "") -> Review:
        """Leave the profile as it is, and keep the statements of a held merge out of it for good.

        Raises:
            NotFoundError: there is no such merge.
            StoreError, ConflictError: the profile cannot be written; the merge stays held.
        """
        review, statements = self.show(review_id)
        why = f"{REJECTED}: {one_line(reason)}" if reason.strip() else REJECTED

        def make(profile: Profile | None) -> Merge:
            present = profile or Profile(review.entity.kind, review.entity.id)
            new = [one.event_id for one in statements if one.event_id not in present.events]
            kept_out = replace(present, retired=(*present.retired, *new)[-MAX_RETIRED:])
            return Merge(kept_out, dropped=tuple(Drop(one.text, why) for one in statements))

        self._decide(review, statements, make)
        return review

    def _carried_out(self, profile: Profile | None, review: Review, statements: Sequence[Statement]) -> Merge:
        return carry_out(
            profile,
            review.plan,
            statements,
            entity=review.entity,
            max_lines=self.biographer.max_lines,
            same=Sameness(),
            forced=True,
        )

    def _decide(self, review: Review, statements: Sequence[Statement], make: _Make) -> None:
        def note(digest: str, merge: Merge) -> None:
            self.drops.add(review.entity, digest, merge.dropped)
            self.waiting.done(review.entity, statements)
            self.reviews.remove(review.id)

        self.biographer.change(review.entity, make, note)
        self.changed()

    def _required(self, review_id: int) -> Review:
        review = self.reviews.get(review_id)
        if review is None:
            raise NotFoundError(NO_REVIEW)
        return review
