"""Recalling and verifying on behalf of one request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from historian.evidence_reading import ScopedEvidence
from historian.narrowing import instant_bounds, role_named
from historian.parts import Parts
from historian.recall_parts import Progress
from historian.session import Session
from historian.zones import load_zone

if TYPE_CHECKING:
    from historian.memory_view import MemoryView


class ScopedRecollection:
    """What one request may recall. Methods block. All raise InvalidInputError and StoreError."""

    def __init__(self, parts: Parts, session: Session, evidence: ScopedEvidence) -> None:
        self._parts = parts
        self._session = session
        self._evidence = evidence

    def recall(
        self,
        question: str,
        *,
        time_range: object = None,
        role: str = "",
        progress: Progress = lambda done, most, what: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> MemoryView:
        """Return what is remembered about a question; see `Recaller.recall`.

        Raises:
            NotConfiguredError: no chat model is set for recall.
        """
        from historian.recalling import Recaller, Wish

        since, until = instant_bounds(time_range, load_zone(self._session.timezone))
        wish = Wish(question, since, until, role_named(role))
        recaller = Recaller(self._parts.recalling)
        return recaller.recall(wish, self._evidence, self._session.timezone, progress, is_cancelled)

    def verify(self, view: object) -> MemoryView:
        """Return a view that some agent made, verified against the record."""
        from historian.verifying import ViewVerifier
        from historian.view_reading import read_view

        verifier = ViewVerifier(self._evidence, load_zone(self._session.timezone))
        return verifier.verify(read_view(view))
