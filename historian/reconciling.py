"""Comparing the vectors that there are with the rows that should have one, and making them agree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from historian.backlog import Backlog
from historian.vectors import VectorStore

_ROW = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows that are marked as embedded and have no vector, and ids of vectors that belong to no row."""

    missing: tuple[int, ...]
    orphans: tuple[str, ...]


def difference(backlog: Backlog, ids: Iterable[str], identity: str) -> Difference:
    """Return how the vectors `ids` of one collection differ from its rows.

    The ids must have been read before this is called: a row that came later is not marked yet, and never missed.
    """
    known: set[int] = set()
    wanted, marked = backlog.rows(identity)
    orphans: list[str] = []
    for one in ids:
        row = _row_of(one)
        if row is not None and row in wanted:
            known.add(row)
        else:
            orphans.append(one)
    return Difference(tuple(sorted(marked - known)), tuple(orphans))


def reconcile(store: VectorStore, backlog: Backlog, identity: str) -> int:
    """Delete vectors of no row, and have rows embedded again whose vector is gone; return how many that were.

    Raises:
        StoreError: the vector store failed.
    """
    found = difference(backlog, store.ids(backlog.collection), identity)
    if found.missing:
        backlog.forget(found.missing)
    if found.orphans:
        store.delete(backlog.collection, found.orphans)
    return len(found.missing) + len(found.orphans)


def _row_of(vector_id: str) -> int | None:
    """Return the row of a vector; a text in several pieces has several, each with its row in front. None for no row."""
    found = _ROW.match(vector_id)
    return int(found[0]) if found else None
