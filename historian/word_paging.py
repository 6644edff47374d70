"""Paging through a search by words: the list is ranked once and kept, so that new messages neither repeat nor hide any.

More matches than can be ranked at once come in stretches of time: the newest ones ranked, then the next older ones.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from historian.errors import InvalidInputError
from historian.lexical_query import Mode
from historian.rankings import ID_BYTES, Ranking, Rankings
from historian.readable import MessageFilter, ReadableRecord

RANKED = 2_000
"""Matches that are ranked together."""

_WITHIN = struct.Struct(f">B{ID_BYTES}sI")
_OLDER = struct.Struct(">Bq")
_KEPT_LIST, _OLDER_LIST = 1, 2
_GONE = "This list is no longer kept; leave the cursor out to start anew."
_STRETCHES = f"More than {RANKED} messages match; the newest {RANKED} are ranked first, older ones follow."
_BEST_ONLY = "More messages have some of these words; only the best are listed, so use fewer or rarer words."


@dataclass(frozen=True, slots=True)
class WordPage:
    """Rows with their scores; `next_place` is where the next page begins, `total` None where it is not known."""

    rows: Sequence[tuple[int, float]]
    mode: Mode
    next_place: bytes | None
    total: int | None
    capped: bool
    warnings: tuple[str, ...]


class WordPager:
    """Gives searches by words out in pages. Thread-safe."""

    def __init__(self, rankings: Rankings) -> None:
        self._rankings = rankings

    def page(
        self, readable: ReadableRecord, query: str, wanted: MessageFilter, size: int, place: bytes | None
    ) -> WordPage:
        """Return the page that begins at `place`, or the first one.

        Raises:
            InvalidInputError: the list is no longer kept.
            StoreError: the record cannot be read or the list cannot be kept now.
        """
        if place is not None and place[0] == _KEPT_LIST:
            _, ranking_id, start = _WITHIN.unpack(place)
            ranking = self._rankings.get(ranking_id)
            if ranking is None:
                raise InvalidInputError(_GONE)
            return _cut(_present(readable, ranking, start, size), ranking, ranking_id, start + size)
        ranking = _ranked(readable, query, wanted, _OLDER.unpack(place)[1] if place is not None else None)
        ranking_id = b""
        if len(ranking.rows) > size:
            ranking = replace(ranking, stand_ins=readable.stand_ins(ranking.rows[size:]))
            ranking_id = self._rankings.keep(ranking)
        return _cut([*zip(ranking.rows[:size], ranking.scores[:size], strict=True)], ranking, ranking_id, size)


def _cut(rows: Sequence[tuple[int, float]], ranking: Ranking, ranking_id: bytes, end: int) -> WordPage:
    next_place = None
    if end < len(ranking.rows):
        next_place = _WITHIN.pack(_KEPT_LIST, ranking_id, end)
    elif ranking.older is not None:
        next_place = _OLDER.pack(_OLDER_LIST, ranking.older)
    told = _STRETCHES if ranking.older is not None else _BEST_ONLY if ranking.capped else None
    return WordPage(rows, ranking.mode, next_place, ranking.total, ranking.capped, (told,) if told else ())


def _ranked(readable: ReadableRecord, query: str, wanted: MessageFilter, before: int | None) -> Ranking:
    hits = readable.lexical_rows(query, wanted, limit=RANKED, before_row=before)
    goes_on = hits.capped and hits.mode != "any"
    return Ranking(
        rows=[hit.row for hit in hits.hits],
        scores=[hit.score for hit in hits.hits],
        mode=hits.mode,
        older=hits.last_row if goes_on else None,
        capped=hits.capped and not goes_on,
        total=len(hits.hits) if before is None and not hits.capped else None,
    )


def _present(readable: ReadableRecord, ranking: Ranking, start: int, size: int) -> list[tuple[int, float]]:
    """Return a page of a kept list; a message that took the place of a stand-in meanwhile stands where that stood."""
    part = slice(start, start + size)
    pairs = [*zip(ranking.rows[part], ranking.scores[part], strict=True)]
    moving = {row: ranking.stand_ins[row] for row, _ in pairs if row in ranking.stand_ins}
    if not moving:
        return pairs
    now = readable.rows_of(moving.values())
    return [(_nearest(row, now.get(moving[row], ())) if row in moving else row, score) for row, score in pairs]


def _nearest(row: int, rows: Sequence[int]) -> int:
    """Return the row nearest to where a message was; several owners in reach may use one id."""
    return min(rows, key=lambda other: abs(other - row), default=row)
