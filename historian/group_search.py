"""Finding active statements of one group, by meaning and words. Group and status are part of the search itself."""

from __future__ import annotations

from dataclasses import dataclass

from historian.group_store import GroupStore
from historian.group_versions import Version
from historian.model import Owner
from historian.ranking import fused
from historian.retrieval import Retrieval

CANDIDATES = 200
"""Hits of each signal that are looked at; a group has far fewer statements."""


@dataclass(frozen=True, slots=True)
class StatementHits:
    """Statements with their scores, best first, without a threshold; and what did not work."""

    scored: tuple[tuple[Version, float], ...]
    degraded: tuple[str, ...]


class GroupSearch:
    """Searches. Only active statements are indexed, each under its group alone. Thread-safe."""

    def __init__(self, store: GroupStore, retrieval: Retrieval) -> None:
        self._store = store
        self._retrieval = retrieval

    def find(self, group: Owner, query: str) -> StatementHits:
        """Return the statements of a group that have to do with `query`; scores are 0..1."""
        reach = frozenset({group.key})
        hits = self._retrieval.find("group_memories", query, reach, limit=CANDIDATES, since=None, until=None)
        found = self._store.active_rows(group, hits.scores)
        scored = [(version, fused(*hits.scores[row])) for row, version in found.items()]
        scored.sort(key=lambda one: (-one[1], -one[0].updated_ms, one[0].memory_id))
        return StatementHits(tuple(scored), hits.degraded)
