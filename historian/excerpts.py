"""How much of long messages one answer carries: short ones are always whole, long ones share what is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from historian.intake import MAX_CONTENT
from historian.messages import Excerpt, StoredMessage
from historian.readable import MessageFilter, ReadableRecord

BUDGET = 200_000
"""Characters of content in one answer; a message that comes alone is always whole."""
_READ_AT_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Newest:
    """A page of the newest messages, whether there are more, and how many there are as far as they were counted."""

    shown: Sequence[Excerpt]
    has_more: bool
    total: int

    @property
    def is_long(self) -> bool:
        """Whether contents may have been cut that the answer has room for, or have to be cut for want of it."""
        lengths = [excerpt.length for excerpt in self.shown]
        return sum(lengths) > BUDGET or max(lengths, default=0) > _READ_AT_MOST


def share(lengths: Iterable[int], budget: int) -> int:
    """Return the length at which texts are cut so that together they keep to `budget`; the longest pay first."""
    left = sorted(lengths)
    while left and left[0] * len(left) <= budget:
        budget -= left.pop(0)
    return budget // len(left) if left else MAX_CONTENT


def read_excerpts(readable: ReadableRecord, rows: Sequence[int]) -> Mapping[int, Excerpt]:
    """Return those of `rows` that may be read, cut so that the answer stays within `BUDGET`."""
    if len(rows) == 1:
        return readable.excerpts(rows, MAX_CONTENT)
    found = readable.excerpts(rows, max(_READ_AT_MOST, BUDGET // max(len(rows), 1)))
    lengths = [len(excerpt.stored.message.content) for excerpt in found.values()]
    if sum(lengths) <= BUDGET:
        return found
    most = share(lengths, BUDGET)
    return {row: cut(excerpt.stored, most, excerpt.length) for row, excerpt in found.items()}


def read_newest(
    readable: ReadableRecord,
    wanted: MessageFilter,
    *,
    limit: int,
    before_row: int | None = None,
    count_to: int = 0,
) -> Newest:
    """Return the newest messages that fit, newest first, cut as by `read_excerpts`; counted as `newest_excerpts`."""

    def read() -> Newest:
        found, total = readable.newest_excerpts(
            _READ_AT_MOST, wanted, limit=limit + 1, before_row=before_row, count_to=count_to
        )
        return Newest(found[:limit], len(found) > limit, total)

    newest = read()
    if not newest.is_long:
        return newest
    with readable.snapshot():
        newest = read()
        rows = [excerpt.stored.row for excerpt in newest.shown]
        whole = read_excerpts(readable, rows)
    return replace(newest, shown=[whole[row] for row in rows if row in whole])


def cut(stored: StoredMessage, most: int, length: int | None = None) -> Excerpt:
    """Return a message with at most `most` characters of its content."""
    content = stored.message.content
    whole = len(content) if length is None else length
    if len(content) <= most:
        return Excerpt(stored, whole)
    return Excerpt(replace(stored, message=replace(stored.message, content=content[:most])), whole)
