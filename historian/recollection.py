"""Recalling and verifying on behalf of one request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from historian.evidence_reading import ScopedEvidence
from historian.model import Scope
from historian.narrowing import instant_bounds, role_named
from historian.parts import Parts
from historian.recall_parts import Progress
from historian.session import Session
from historian.zones import load_zone

if TYPE_CHECKING:
    from historian.memory_view import MemoryView


class ScopedRecollection:
    """What one request may recall. Methods block. All raise InvalidInputError and StoreError."""

    def __init__(self, parts: Parts, scope: Scope, session: Session, evidence: ScopedEvidence) -> None:
        self._parts = parts
        self._scope = scope
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
        view = recaller.recall(wish, self._evidence, self._session.timezone, progress, is_cancelled)
        return self._noted(view)

    def verify(self, view: object) -> MemoryView:
        """Return a view that some agent made, verified against the record."""
        from historian.verifying import ViewVerifier
        from historian.view_reading import read_view

        verifier = ViewVerifier(self._evidence, load_zone(self._session.timezone))
        return self._noted(verifier.verify(read_view(view)))

    def _noted(self, view: MemoryView) -> MemoryView:
        """Remember what is given back, so that an agent that hands it in as an observation brings no news."""
        given: Iterable[str] = (*(one.text for one in view.points), *(one.content for one in view.evidence))
        self._parts.closer.note_returned(self._scope, list(given))
        return view
