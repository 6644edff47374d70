"""Which messages a run reads: those since the last one, or of some days, in pages; the newest are never left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from historian.database import Database
from historian.group_runs import GroupRuns
from historian.group_strength import DAY_MS
from historian.messages import StoredMessage, row_ms
from historian.model import Owner
from historian.options import GroupOptions
from historian.readable import MessageFilter
from historian.record import Record
from historian.surroundings import participants

ROLES = ("user", "assistant")
"""What tools and systems say is no conversation."""


@dataclass(frozen=True, slots=True)
class Window:
    """The messages of a run, oldest first, and who is known in the group: id → name. `is_first`: nothing is covered."""

    messages: tuple[StoredMessage, ...]
    known: Mapping[str, str]
    is_first: bool
    notes: tuple[str, ...] = field(default=())

    def pages(self, size: int) -> Iterator[Sequence[StoredMessage]]:
        """Yield the messages in pages of up to `size`, oldest first; the last ones are full."""
        first = len(self.messages) % size
        if first:
            yield self.messages[:first]
        for start in range(first, len(self.messages), size):
            yield self.messages[start : start + size]


class WindowReader:
    """Reads windows. Thread-safe."""

    def __init__(
        self, database: Database, record: Record, runs: GroupRuns, options: Callable[[], GroupOptions]
    ) -> None:
        self._database = database
        self._record = record
        self._runs = runs
        self._options = options

    def read(self, group: Owner, days: float, now_ms: int, from_ms: int | None = None) -> Window:
        """Return the messages from behind the last covered one, or of the last `days` where that is more and not 1, or
        from `from_ms` on where that is more.

        A first run looks back `days`, or to `from_ms`. Messages of the future wait until their time has come.
        """
        last = self._runs.last(group)
        covered = last.covered_row if last is not None else None
        looked_back = now_ms - int(days * DAY_MS) if from_ms is None else from_ms
        is_again = from_ms is not None or days > 1
        after_row: int | None = covered
        since_ms = looked_back if covered is None else row_ms(covered)
        if covered is not None and is_again and looked_back <= since_ms:
            since_ms, after_row = looked_back, None
        options = self._options()
        most = options.max_messages * options.max_pages
        found, more = self._messages(group, since_ms, now_ms + 1, after_row, most)
        notes = (
            (f"More than {most} messages are new; the newest {most} were read, older ones were left out.",)
            if more
            else ()
        )
        return Window(tuple(found), self._known(group) if found else {}, covered is None, notes)

    def has_new(self, group: Owner, now_ms: int) -> bool:
        """Say whether there are messages that no run has covered."""
        last = self._runs.last(group)
        covered = last.covered_row if last is not None else None
        since_ms = now_ms - DAY_MS if covered is None else row_ms(covered)
        return bool(self._messages(group, since_ms, now_ms + 1, covered, 1)[0])

    def _messages(
        self, group: Owner, since_ms: int, until_ms: int, after_row: int | None, most: int
    ) -> tuple[list[StoredMessage], bool]:
        """Return the newest messages, oldest first, and whether there are more than `most`."""
        readable = self._record.within(frozenset({group.key}))
        wanted = MessageFilter(since_ms=since_ms, until_ms=until_ms)
        found: list[StoredMessage] = []
        before: int | None = None
        while len(found) <= most:
            part = readable.newest(wanted, limit=min(most + 1, 500), before_row=before)
            found += [one for one in part if _counts(one, after_row)]
            if len(part) < min(most + 1, 500):
                break
            before = part[-1].row
        return found[:most][::-1], len(found) > most

    def _known(self, group: Owner) -> dict[str, str]:
        with self._database.read() as connection:
            known = participants(connection, frozenset({group.key}))
        return dict(sorted((one for one in known if one[0]), key=lambda one: one[1]))


def _counts(one: StoredMessage, after_row: int | None) -> bool:
    return one.message.role in ROLES and (after_row is None or one.row > after_row)
