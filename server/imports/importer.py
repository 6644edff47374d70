"""Reads exports record by record and sends what they say to the owner, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from historian.errors import InvalidInputError
from historian.formats.form import Format
from historian.formats.outcome import Outcome, Own, Passed, Read, Refusal
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.plain import PlainLines, PlainList
from historian.formats.registry import AUTO, format_of
from historian.intake import message_from
from historian.model import Scope
from historian.takeout import kept_from, require_within
from historian.zones import parse_instant
from server.imports.reports import Report
from server.imports.sources import STDIN, MemberPiece, SourcePiece

BATCH = 500
BATCH_BYTES = 4_000_000
"""About how many bytes of text go to the owner at once."""
MOST_LEVELS = 200
"""How deep a record may be nested; what reaches the memory in other ways never is as deep."""
_OVERHEAD = 400

Send = Callable[[list[Any]], dict[str, Any]]
Show = Callable[[int, int], None]
Note = Callable[[dict[str, Any], tuple[str, ...]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to import and how. Messages before `since` are left out; formats are tried in their order.

    `note` is told each message, with the statements that it makes by itself, and returns it as it is to be sent.
    Lines of an export of this memory may belong to the user or to one of `groups`.
    """

    formats: Sequence[Format]
    named: str
    reading: Reading
    since: datetime | None = None
    note: Note | None = None
    groups: frozenset[str] = frozenset()


class Importer:
    """Does one import. A record that cannot be read never stops the others."""

    def __init__(self, plan: Plan, report: Report, send: Send | None, show: Show, take_in: Send | None = None) -> None:
        """`send` stores messages and answers what became of them; None stores nothing, for a rehearsal.

        `take_in` does the same with lines of an export of this memory.
        """
        self._plan = plan
        self._report = report
        self._send = send or self._rehearse
        self._take_in = take_in or self._rehearse_own
        self._is_own = False
        self._show = show
        self._batch: list[tuple[str, str, Any]] = []
        self._refusals: list[tuple[int, str, str, str]] = []
        self._bytes = 0
        self._done = 0
        self._several = False

    def run(self, bundles: Sequence[Bundle]) -> None:
        """Import all files."""
        self._several = sum(len(bundle.pieces) for bundle in bundles) > 1
        for bundle in bundles:
            for piece in bundle.pieces:
                self._read(piece, bundle)
                self._done += piece.size
        self._flush()

    def _read(self, piece: Piece, bundle: Bundle) -> None:
        name = piece.name if self._several else ""
        try:
            if isinstance(piece, SourcePiece) and piece.is_archive:
                self._leave_closed(piece, bundle)
                return
            form = self._format(piece, bundle)
            if form is None:
                self._report.pass_over(piece.name)
                return
            self._report.formats[form.name] += 1
            is_chat = not isinstance(form, PlainLines | PlainList)  # whose lines name their people themselves
            for outcome in form.read(piece, bundle, self._plan.reading):
                if is_chat and isinstance(outcome, Read):
                    self._hear(outcome)
                self._take(name, outcome, piece)
        except InvalidInputError as error:
            self._report.unread += 1
            self._refuse(piece.name, "file", str(error))

    def _leave_closed(self, piece: SourcePiece, bundle: Bundle) -> None:
        """Pass over an archive among the files of another one, as chats have them attached; any other is refused."""
        if isinstance(piece, MemberPiece) and len(bundle.pieces) > 1:
            self._report.passed["archives within archives"] += 1
            return
        raise InvalidInputError(piece.unopened)

    def _format(self, piece: Piece, bundle: Bundle) -> Format | None:
        """Return what reads this file. A file that was named by itself is read in the format that was named with it."""
        single = len(bundle.pieces) == 1
        if single and self._plan.named != AUTO:
            return self._plan.formats[0]
        found = format_of(piece, bundle, self._plan.formats)
        if found is None and single and (piece.name == STDIN or piece.name.lower().endswith((".jsonl", ".ndjson"))):
            return PlainLines()
        if found is None and single:
            raise InvalidInputError("Its format is not known; name it with --format, or see the list in the help.")
        return found

    def _take(self, name: str, outcome: Outcome, piece: Piece) -> None:
        match outcome:
            case Passed(what):
                self._report.passed[what] += 1
            case Refusal(place, reason):
                self._refuse(name, place, reason)
            case Own(place, record) | Read(place, record) if _is_deep(record):
                self._refuse(name, place, f"It is nested deeper than {MOST_LEVELS} levels.")
            case Own(place, line):
                self._add(name, place, dict(line), is_own=True)
            case Read(_, message) if self._is_early(message):
                self._report.early += 1
            case Read(place, message, facts, _):
                note = self._plan.note
                self._add(name, place, note(message, facts) if note else message, is_own=False)
        if len(self._batch) >= BATCH or self._bytes >= BATCH_BYTES or len(self._refusals) >= BATCH:
            self._flush()
        position = piece.position if isinstance(piece, SourcePiece) else 0
        self._show(self._done + min(position, piece.size), self._report.inserted + self._report.ignored)

    def _hear(self, read: Read) -> None:
        """Note who speaks, where people do, and whose statements another memory holds."""
        message, user = read.message, self._plan.reading.user
        if read.whose:
            self._report.keep_apart(read.whose)
        elif message.get("role") == "user":
            sender = message.get("sender_id") or user
            self._report.heard(str(message.get("sender_name") or sender), is_user=sender == user)

    def _add(self, name: str, place: str, record: Any, *, is_own: bool) -> None:
        if is_own is not self._is_own:
            self._flush()
            self._is_own = is_own
        self._batch.append((name, place, record))
        self._bytes += _size_of(record)

    def _refuse(self, name: str, place: str, reason: str) -> None:
        self._refusals.append((len(self._batch), name, place, reason))

    def _flush(self) -> None:
        """Send what was gathered, and note refusals in the order of the records."""
        failed: list[tuple[float, str, str, str]] = [(at - 0.5, *rest) for at, *rest in self._refusals]  # type: ignore[misc]
        if self._batch:
            send = self._take_in if self._is_own else self._send
            done = send([record for _, _, record in self._batch])
            self._report.inserted += done["inserted"]
            self._report.ignored += done["ignored"]
            self._report.forgotten += done.get("forgotten", 0)
            self._report.has_masked |= any("masked" in warning for warning in done.get("warnings", ()))
            for index, reason in done["failed"]:
                name, place, _ = self._batch[index]
                failed.append((index, name, place, reason))
        for _, name, place, reason in sorted(failed, key=lambda one: one[0]):
            self._report.refuse(name, place, reason)
        self._batch, self._refusals, self._bytes = [], [], 0

    def _is_early(self, message: Any) -> bool:
        if self._plan.since is None:
            return False
        try:
            return parse_instant(message["ts"], self._plan.reading.zone)[0] < self._plan.since
        except (InvalidInputError, KeyError, TypeError, AttributeError):
            return False

    def _rehearse(self, messages: list[Any]) -> dict[str, Any]:
        failed: list[tuple[int, str]] = []
        for index, raw in enumerate(messages):
            try:
                message_from(raw, self._plan.reading.zone)
            except InvalidInputError as error:
                failed.append((index, str(error)))
        return {"inserted": len(messages) - len(failed), "ignored": 0, "failed": failed}

    def _rehearse_own(self, lines: list[Any]) -> dict[str, Any]:
        failed: list[tuple[int, str]] = []
        held = 0
        scope = Scope(self._plan.reading.user, None, self._plan.groups)
        for index, line in enumerate(lines):
            try:
                kept = kept_from(line)
                if kept is not None:
                    require_within(scope, kept.owner)
                    held += 1
            except InvalidInputError as error:
                failed.append((index, str(error)))
        return {"inserted": held, "ignored": 0, "failed": failed}


def _is_deep(record: Any) -> bool:
    level: list[Any] = [record]
    for _ in range(MOST_LEVELS):
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, Mapping | list)]
        if not level:
            return False
    return True


def _inside(outer: Any) -> Iterable[Any]:
    return outer.values() if isinstance(outer, Mapping) else outer if isinstance(outer, list) else ()


def _size_of(message: Any) -> int:
    """Return about how many bytes a message takes on its way to the owner; a plain file may hold anything."""
    texts = message.values() if isinstance(message, dict) else (message,)
    return _OVERHEAD + sum(2 * len(text) for text in texts if isinstance(text, str))
