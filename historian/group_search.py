"""Finding active statements of one group, by meaning and words. Group and status are part of the search itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from historian.calibration import BORDER
from historian.engine import Engine
from historian.errors import StoreError
from historian.group_question import looked_for
from historian.group_statements import GroupStatement
from historian.group_store import GroupStore
from historian.group_versions import Moment, Version
from historian.messages import instant_of
from historian.model import Owner
from historian.ranking import fused
from historian.retrieval import WARM_UP_SECONDS, Patience, Retrieval

CANDIDATES = 200
"""Hits of each signal that are looked at; a group has far fewer statements."""


@dataclass(frozen=True, slots=True)
class StatementHits:
    """Statements with their scores, best first, without a threshold; and what did not work."""

    scored: tuple[tuple[Version, float], ...]
    degraded: tuple[str, ...]


class GroupSearch:
    """Searches. Only active statements are indexed, each under its group alone. Thread-safe."""

    def __init__(self, store: GroupStore, retrieval: Retrieval, engine: Engine) -> None:
        self._store = store
        self._retrieval = retrieval
        self._engine = engine

    def find(self, group: Owner, query: str, patience: Patience | None = None) -> StatementHits:
        """Return the statements of a group that have to do with `query`; scores are 0..1."""
        reach = frozenset({group.key})
        self._hold(group)
        seconds = WARM_UP_SECONDS if patience is None else patience.left
        hits = self._retrieval.find(
            "group_memories", looked_for(query), reach, limit=CANDIDATES, since=None, until=None, patience=seconds
        )
        found = self._store.active_rows(group, hits.scores)
        scored = [(version, fused(*hits.scores[row])) for row, version in found.items()]
        scored.sort(key=lambda one: (-one[1], -one[0].updated_ms, one[0].memory_id))
        return StatementHits(tuple(scored), hits.degraded)

    def _hold(self, group: Owner) -> None:
        """Have the vectors of the group in memory: of many groups each is seldom asked for, and read for one search."""
        if self._engine.ready.is_set():
            with suppress(StoreError):  # the search itself meets it too, and says so
                self._engine.vectors.hold("group_memories", group.key, lambda: self._store.active_ids(group))


class OfferedStatements:
    """The statements of a group that go into the context of a turn; see `group_statements.GroupStatements`."""

    def __init__(self, store: GroupStore, search: GroupSearch, moment: Callable[[], Moment]) -> None:
        self._store = store
        self._search = search
        self._moment = moment

    def strongest(self, group_id: str, query: str, limit: int, patience: Patience) -> Sequence[GroupStatement]:
        """Return up to `limit` active statements of this group: those that fit `query` first, then the strongest."""
        if limit < 1:
            return ()
        group, moment = Owner("group", group_id), self._moment()
        fitting = self._search.find(group, query, patience).scored if query.strip() else ()
        first = [version for version, score in fitting if score >= BORDER]
        others = sorted(self._store.heads(group), key=lambda one: (-moment.strength(one), one.memory_id))
        chosen = {one.memory_id: one for one in [*first, *others]}
        return [
            GroupStatement(one.memory_id, one.statement, moment.strength(one), instant_of(one.confirmed_ms))
            for one in [*chosen.values()][:limit]
        ]
