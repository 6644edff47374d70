"""Reading the record as evidence: listing, searching by words and by meaning, and what was said around a message."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from historian.chains import ChainReader
from historian.clock import Clock
from historian.cursors import Cursors
from historian.errors import InvalidInputError
from historian.evidence_views import EventChain, EvidenceItem, EvidencePage
from historian.excerpts import BUDGET, Newest, cut, read_excerpts, read_newest, share
from historian.ids import normalise_id
from historian.intake import MAX_CONTENT
from historian.message_search import MessageQuery, MessageSearch, SearchMode
from historian.model import Message, Scope
from historian.narrowing import Narrowing, narrowing
from historian.overlap import has_no_content
from historian.readable import ReadableRecord
from historian.record import Record
from historian.session import Session
from historian.text import drop_unusable
from historian.turnstile import Turnstile
from historian.word_paging import WordPager
from historian.zones import load_zone

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_LIMIT = 200
"""Messages that one answer may hold; of neighbours, on each side."""
MAX_QUERY = 10_000
"""Characters of a query that are looked at; what is beyond is left out, not refused."""
COUNTED = 1_000
"""A list that is longer is not counted."""

_TOO_LITTLE = "The query says too little to search by meaning; give words, or seek one character with lexical_search."
_NOTHING_ASKED = "The query is blank, so nothing was looked for; give words, or read by time with messages_list."
_PLACE = struct.Struct(">q")


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    """What reads the record; `of` binds it to a request."""

    record: Record
    cursors: Cursors
    pager: WordPager
    search: MessageSearch
    chains: ChainReader
    clock: Clock
    turn: Turnstile

    def of(self, scope: Scope, session: Session) -> ScopedEvidence:
        """Return the evidence as one request may see it."""
        return ScopedEvidence(self, scope, session)


class ScopedEvidence:
    """The record on behalf of one request. Filters narrow; nothing here widens what the scope may read.

    Methods block. All raise InvalidInputError for arguments that the caller could have known to be wrong, and
    StoreError when a store cannot do its work now.
    """

    def __init__(self, reader: EvidenceReader, scope: Scope, session: Session) -> None:
        self._reader = reader
        self._scope = scope
        self._session = session
        self._zone = load_zone(session.timezone)

    @property
    def asker_in_group(self) -> str | None:
        """Who asks, where it is a request in a group, whose messages are those of several people."""
        return self._scope.user_id if self._scope.group_id is not None else None

    def list(self, filters: Mapping[str, object], *, page_size: int = 50, cursor: str = "") -> EvidencePage:
        """Return messages newest first by time and sequence."""
        _require_limit("page_size", page_size)
        narrowed = narrowing(filters, self._zone)
        bound_to = self._bound_to("messages_list", narrowed)
        before = _PLACE.unpack(self._place(cursor, bound_to))[0] if cursor.strip() else None
        count_to = 0 if narrowed.wanted.is_of_some else COUNTED + 1
        newest = read_newest(self._readable, narrowed.wanted, limit=page_size, before_row=before, count_to=count_to)
        place = _PLACE.pack(newest.shown[-1].stored.row) if newest.has_more else None
        page = EvidencePage(
            items=tuple(EvidenceItem.of(excerpt, ("time",)) for excerpt in newest.shown),
            mode="newest",
            applied={"page_size": page_size, **narrowed.applied},
            next_cursor=self._reader.cursors.seal(place, bound_to) if place else None,
            total=_total(newest, count_to, is_whole=before is None and not newest.has_more),
            truncated=newest.has_more,
            warnings=narrowed.warnings,
        )
        return _told(page)

    def by_words(
        self, query: str, filters: Mapping[str, object], *, page_size: int = 50, cursor: str = ""
    ) -> EvidencePage:
        """Return the messages that fit a query of words, phrases and operators, best first, ties newest first."""
        _require_limit("page_size", page_size)
        narrowed = narrowing(filters, self._zone)
        text = _clean(query)
        applied = {"page_size": page_size, **narrowed.applied}
        if not text:
            return _nothing_asked(narrowed, applied)
        bound_to = self._bound_to("lexical_search", narrowed, text)
        place = self._place(cursor, bound_to) if cursor.strip() else None
        found = self._reader.pager.page(self._readable, text, narrowed.wanted, page_size, place)
        excerpts = read_excerpts(self._readable, [row for row, _ in found.rows])
        page = EvidencePage(
            items=tuple(
                EvidenceItem.of(excerpts[row], ("lexical",), score=score, lexical_score=score)
                for row, score in found.rows
                if row in excerpts
            ),
            mode=found.mode,
            applied=applied,
            next_cursor=self._reader.cursors.seal(found.next_place, bound_to) if found.next_place else None,
            total=found.total,
            truncated=found.next_place is not None or found.capped,
            warnings=narrowed.warnings + found.warnings,
        )
        return _told(page)

    def by_meaning(
        self,
        query: str,
        filters: Mapping[str, object],
        *,
        vector: Sequence[object] = (),
        embedding_model: str = "",
        top_k: int = 20,
        min_score: float | None = None,
        mode: SearchMode = "hybrid",
    ) -> EvidencePage:
        """Return the messages that fit a query or a vector of one, best first."""
        _require_limit("top_k", top_k)
        narrowed = narrowing(filters, self._zone)
        text = _clean(query)
        applied: dict[str, object] = {"top_k": top_k, **narrowed.applied}
        if min_score is not None:
            applied["min_score"] = min_score
        if not vector and (not text or (mode != "lexical" and has_no_content(text))):
            return _nothing_asked(narrowed, applied, _TOO_LITTLE if text else _NOTHING_ASKED)
        wanted = MessageQuery(
            text=text,
            reach=self._scope.reach(),
            top_k=top_k + 1,
            vector=_vector(vector, embedding_model) if vector else None,
            embedding_model=embedding_model.strip() or None,
            filter=narrowed.wanted,
            min_score=min_score,
            mode=mode,
            asked_at=self._session.at(self._reader.clock.now()).astimezone(self._zone),
        )
        found = self._reader.search.search(wanted)
        shown = found.items[:top_k]
        most = share((len(item.stored.message.content) for item in shown), BUDGET) if len(shown) > 1 else MAX_CONTENT
        by_words_only = bool(found.degraded) and all(item.semantic_score is None for item in shown)
        page = EvidencePage(
            items=tuple(
                EvidenceItem.of(
                    cut(item.stored, most),
                    item.how,
                    score=item.score,
                    semantic_score=item.semantic_score,
                    lexical_score=item.lexical_score,
                )
                for item in shown
            ),
            mode="lexical" if by_words_only else "semantic" if not text else mode,
            applied=applied,
            truncated=len(found.items) > top_k,
            degraded=found.degraded,
            warnings=narrowed.warnings,
        )
        return _told(page)

    def neighbors(self, message_id: str, *, before: int = 20, after: int = 0) -> EvidencePage:
        """Return a message, marked, and those said around it in its conversation, oldest first.

        Raises:
            NotFoundError: there is no such message in scope.
        """
        _require_limit("before", before, lowest=0)
        _require_limit("after", after, lowest=0)
        named = normalise_id(message_id, "message_id")
        with self._reader.turn, self._readable.snapshot():
            anchor, rows = self._readable.rows_around(named, before + 1, after + 1)
            at = rows.index(anchor)
            shown = rows[max(0, at - before) : at + after + 1]
            found = read_excerpts(self._readable, shown)
        page = EvidencePage(
            items=tuple(
                EvidenceItem.of(found[row], ("anchor" if row == anchor else "neighbor",), anchor=row == anchor)
                for row in shown
                if row in found
            ),
            mode="around",
            applied={"before": before, "after": after},
            truncated=len(shown) < len(rows),
        )
        return _told(page)

    def messages(self, message_ids: Iterable[str]) -> Mapping[str, Sequence[Message]]:
        """Return the whole messages that ids or aliases name; what is unknown or somebody else's is absent.

        An id that several owners in reach use names several.
        """
        readable = self._readable
        rows = readable.rows_of(message_ids)
        found = readable.rows(row for id_rows in rows.values() for row in id_rows)
        named = {one: tuple(found[row].message for row in id_rows if row in found) for one, id_rows in rows.items()}
        return {one: messages for one, messages in named.items() if messages}

    def chain(self, event_id: str) -> EventChain:
        """Return an event with the messages it rests on and the profile lines that rest on it.

        Raises:
            NotFoundError: there is no such event in scope.
        """
        return self._reader.chains.read(self._scope, event_id)

    @property
    def _readable(self) -> ReadableRecord:
        return self._reader.record.within(self._scope.reach())

    def _bound_to(self, tool: str, narrowed: Narrowing, query: str = "") -> Sequence[object]:
        scope, wanted = self._scope, narrowed.wanted
        asker = [scope.user_id, scope.group_id, *sorted(scope.reach())]
        times = [wanted.since_ms, wanted.until_ms]
        return [tool, asker, query, [*times, wanted.role, wanted.conversation_id, wanted.sender_id]]

    def _place(self, cursor: str, bound_to: Sequence[object]) -> bytes:
        return self._reader.cursors.open(cursor, bound_to)


def _total(newest: Newest, counted_to: int, *, is_whole: bool) -> int | None:
    """Return how many messages fit, where that is known or an index can tell without reading messages."""
    if is_whole:
        return len(newest.shown)
    return newest.total if newest.total < counted_to else None


def _require_limit(name: str, value: int, lowest: int = 1) -> None:
    if not lowest <= value <= MAX_LIMIT:
        raise InvalidInputError(f"{name} must be a whole number from {lowest} to {MAX_LIMIT}.")


def _clean(query: str) -> str:
    """Return what can be looked for, or nothing where the query shows nothing."""
    text = drop_unusable(query[:MAX_QUERY])
    return text if any(character.isprintable() and not character.isspace() for character in text) else ""


def _vector(numbers: Sequence[object], embedding_model: str) -> NDArray[np.float32]:
    import numpy as np

    if not embedding_model.strip():
        raise InvalidInputError("query_embedding needs embedding_model: the name of the model that made it.")
    try:
        values = [float(number) for number in numbers]  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError("query_embedding must be a list of numbers.") from None
    vector = np.array(values, dtype=np.float64)
    length = float(np.sqrt(np.sum(vector * vector))) if np.all(np.abs(vector) < 1e30) else math.nan
    if not math.isfinite(length) or length == 0.0:
        raise InvalidInputError("query_embedding must hold finite numbers that are not all zero.")
    return (vector / length).astype(np.float32)


def _nothing_asked(narrowed: Narrowing, applied: Mapping[str, object], why: str = _NOTHING_ASKED) -> EvidencePage:
    return EvidencePage((), "none", applied, total=0, warnings=(*narrowed.warnings, why))


def _told(page: EvidencePage) -> EvidencePage:
    """Say which contents are cut, and how to read a whole one."""
    lengths = [len(item.message.content) for item in page.items if item.content_length is not None]
    if not lengths:
        return page
    told = (
        f"{len(lengths)} long contents are cut at {max(lengths)} characters, see content_length; neighbors with before "
        "and after 0 gives one message whole."
    )
    return replace(page, truncated=True, warnings=(*page.warnings, told))
