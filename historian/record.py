"""The record: every message as it was said, once, in order of time. Canonical; word index and vectors are derived."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from historian.audiences import audience_ids
from historian.database import Database
from historian.errors import InvalidInputError
from historian.messages import FIELDS, SEQUENCE_BITS, check, epoch_ms, first_row, is_stand_in, row_ms, values
from historian.model import Message, Owner, Reach, Role
from historian.readable import MESSAGE_WORDS, ReadableRecord
from historian.stand_ins import CLIP, Turn, find_stand_in, find_turn
from historian.tombstones import Tombstones

_INSERT = (
    f"INSERT INTO messages (row, owner_key, stand_in, {', '.join(FIELDS)})"
    f" VALUES (?, ?, ?, {', '.join('?' * len(FIELDS))})"
)
_REPLACE = f"UPDATE messages SET row = ?, stand_in = 0, embedded_by = NULL, {', '.join(f'{f} = ?' for f in FIELDS)}"


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of an append.

    `rows` holds the row of each message given, in order, also of those that were known; `forgotten` ones have none.
    `replaced` names stand-ins that gave way to their real message, as (old row, new row): what was derived from an old
    row is out of date.
    """

    inserted: int
    ignored: int
    rows: tuple[int, ...]
    replaced: tuple[tuple[int, int], ...] = ()
    forgotten: int = 0

    @property
    def left_rows(self) -> tuple[int, ...]:
        """The rows that hold no message any more: their vectors are to be deleted."""
        return tuple(old for old, new in self.replaced if old != new and old not in self.rows)


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A message without a vector of the present embedder. `author_key` is set for messages of a group."""

    row: int
    text: str
    owner_key: str
    author_key: str | None
    epoch_ms: int


class Record:
    """All messages. Thread-safe; reading goes through `within`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(
        self,
        owner: Owner,
        messages: Sequence[Message],
        *,
        again: bool = False,
        also: Callable[[], object] | None = None,
    ) -> Appended:
        """Store messages once each, durably and all or none; what was forgotten only with `again`.

        What `also` stores, it stores together with them.

        A message_id that this owner has already, also as an alias, is ignored. A real message takes the place of the
        stand-in of the same turn, whose id stays as an alias; a stand-in of a turn that is known becomes an alias.

        Raises:
            InvalidInputError: a message cannot be stored (see `messages.check`).
            StoreError: the database cannot be written now.
        """
        for message in messages:
            check(message)
        with self._database.write() as connection:
            appending = _Appending(connection, owner)
            wanted = [message for message in messages if appending.may_come(message, again=again)]
            rows = tuple(appending.append(message) for message in wanted)
            if also is not None:
                also()
        forgotten = len(messages) - len(wanted)
        ignored = len(rows) - appending.inserted
        return Appended(appending.inserted, ignored, rows, tuple(appending.replaced), forgotten)

    def alias(self, owner: Owner, row: int, aliases: Sequence[str]) -> None:
        """Let a message of this owner be known by further ids; those that are taken stay as they are."""
        with self._database.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO message_aliases (owner_key, alias_id, row) SELECT ?1, ?2, ?3 WHERE NOT EXISTS"
                " (SELECT 1 FROM messages WHERE message_id = ?2 AND owner_key = ?1)",
                [(owner.key, alias, row) for alias in aliases],
            )

    def within(self, reach: Reach) -> ReadableRecord:
        """Return the messages that `reach` may read."""
        return ReadableRecord(self._database, reach)

    def forgotten(self, owners: Iterable[Owner], message_ids: Sequence[str]) -> frozenset[str]:
        """Return those of these ids under which a message of one of these owners was forgotten."""
        with self._database.read() as connection:
            buried = [Tombstones(connection, owner.key) for owner in owners]
            return frozenset(one for one in message_ids if any(stones.has("message", one) for stones in buried))

    def find_same(
        self, owner: Owner, content: str, role: Role, conversation_id: str | None, around: datetime, cut: int = CLIP
    ) -> str | None:
        """Return the id of the message of this owner that says the same within 24 hours of `around`, or None.

        Unicode form and white space make no difference, and a content of `cut` characters equals what it begins.
        Without a conversation every one is looked at. One from the host comes before a stand-in, then the nearest.
        """
        turn = Turn(owner.key, role, content, conversation_id, epoch_ms(around), cut)
        with self._database.read() as connection:
            found = find_turn(connection, turn, real_only=False)
        return found[1] if found else None

    def unembedded(self, identity: str, limit: int) -> list[Unembedded]:
        """Return up to `limit` messages without a vector of the embedder `identity`, newest first."""
        found: list[Unembedded] = []
        with self._database.read() as connection:
            for condition, value in (("IS ?", None), ("< ?", identity), ("> ?", identity)):
                rows = connection.execute(
                    "SELECT row, content, owner_key, sender_id FROM messages INDEXED BY messages_by_embedder"
                    f" WHERE embedded_by {condition} ORDER BY embedded_by DESC, row DESC LIMIT ?",
                    (value, limit - len(found)),
                )
                found.extend(_unembedded(*row) for row in rows)
        return found

    def mark_embedded(self, rows: Sequence[int], identity: str) -> None:
        """Note that these rows have a vector of the embedder `identity`; rows that are gone are passed over."""
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE messages SET embedded_by = ? WHERE row = ?", [(identity, row) for row in rows]
            )

    def count_unembedded(self, identity: str) -> int:
        """Return how many messages have no vector of the embedder `identity`."""
        with self._database.read() as connection:
            counts = "(SELECT count(*) FROM messages WHERE embedded_by {})"
            statement = f"SELECT {' + '.join(counts.format(c) for c in ('IS NULL', '< ?1', '> ?1'))}"
            return int(connection.execute(statement, (identity,)).fetchone()[0])


class _Appending:
    """One append of one owner, inside its transaction."""

    def __init__(self, connection: sqlite3.Connection, owner: Owner) -> None:
        self._connection = connection
        self._owner = owner
        self._tombstones = Tombstones(connection, owner.key)
        self._audiences: dict[str | None, tuple[int, ...]] = {}
        self._participants: set[tuple[str | None, str | None]] = {(None, None)}
        self._stand_ins: bool | None = None
        self.inserted = 0
        self.replaced: list[tuple[int, int]] = []

    def may_come(self, message: Message, *, again: bool) -> bool:
        """Say whether a message was not forgotten; with `again` it may come back."""
        if again:
            self._tombstones.lift("message", message.message_id)
            return True
        return not self._tombstones.has("message", message.message_id)

    def append(self, message: Message) -> int:
        """Store one message where it is new, and return its row."""
        known = self._row_of(message.message_id)
        if known is not None:
            return known
        turn = Turn(self._owner.key, message.role, message.content, message.conversation_id, epoch_ms(message.ts))
        if not is_stand_in(message):
            standing_in = find_stand_in(self._connection, turn) if self._has_stand_ins() else None
            return self._insert(message) if standing_in is None else self._replace(standing_in, message)
        cut = message.meta.get("cut")
        turn = replace(turn, cut=cut if isinstance(cut, int) else CLIP)
        if message.meta.get("conversation") == "unknown":
            turn = replace(turn, conversation_id=None)
        self._stand_ins = True
        real = find_turn(self._connection, turn, real_only=True)
        if real is None:
            return self._insert(message)
        self._alias(message.message_id, real[0])
        return real[0]

    def _has_stand_ins(self) -> bool:
        if self._stand_ins is None:
            stand_ins = "SELECT EXISTS (SELECT 1 FROM messages WHERE stand_in = 1 AND owner_key = ?)"
            self._stand_ins = bool(self._connection.execute(stand_ins, (self._owner.key,)).fetchone()[0])
        return self._stand_ins

    def _row_of(self, message_id: str) -> int | None:
        found = self._connection.execute(
            "SELECT row FROM messages WHERE message_id = ?1 AND owner_key = ?2"
            " UNION ALL SELECT row FROM message_aliases WHERE alias_id = ?1 AND owner_key = ?2 LIMIT 1",
            (message_id, self._owner.key),
        ).fetchone()
        return None if found is None else int(found[0])

    def _insert(self, message: Message) -> int:
        row = self._free_row(epoch_ms(message.ts))
        stands_in = int(is_stand_in(message))
        self._connection.execute(_INSERT, (row, self._owner.key, stands_in, *values(message)))
        self._publish(row, message)
        self.inserted += 1
        return row

    def _replace(self, old: int, message: Message) -> int:
        """Let the real message take over from a stand-in: links of evidence follow the row to its new time."""
        ms = epoch_ms(message.ts)
        row = old if row_ms(old) == ms else self._free_row(ms)
        alias, sender = self._connection.execute(
            "SELECT message_id, sender_id FROM messages WHERE row = ?", (old,)
        ).fetchone()
        MESSAGE_WORDS.remove(self._connection, old)
        self._connection.executemany(
            "DELETE FROM message_audiences WHERE audience_id = ? AND row = ?",
            [(number, old) for number in self._numbers(sender)],
        )
        self._connection.execute(f"{_REPLACE} WHERE row = ?", (row, *values(message), old))
        self._publish(row, message)
        self._alias(alias, row)
        self.inserted += 1
        self.replaced.append((old, row))
        return row

    def _publish(self, row: int, message: Message) -> None:
        numbers = self._numbers(message.sender_id)
        self._connection.executemany(
            "INSERT INTO message_audiences (audience_id, row) VALUES (?, ?)", [(number, row) for number in numbers]
        )
        self._introduce(message.sender_id, message.sender_name)
        MESSAGE_WORDS.add_numbered(self._connection, row, message.content, numbers, message.role)

    def _introduce(self, sender_id: str | None, sender_name: str | None) -> None:
        """Note who takes part; once per sender."""
        if (sender_id, sender_name) not in self._participants:
            self._participants.add((sender_id, sender_name))
            self._connection.executemany(
                "INSERT OR IGNORE INTO participants (audience_id, sender_id, sender_name) VALUES (?, ?, ?)",
                [(number, sender_id or "", sender_name or "") for number in self._numbers(sender_id)],
            )

    def _numbers(self, sender_id: str | None) -> tuple[int, ...]:
        """Return the numbers of a message's audiences; looked up once per sender."""
        if sender_id not in self._audiences:
            self._audiences[sender_id] = audience_ids(self._connection, self._owner.audiences(sender_id))
        return self._audiences[sender_id]

    def _alias(self, alias_id: str, row: int) -> None:
        self._connection.execute(
            "INSERT INTO message_aliases (owner_key, alias_id, row) VALUES (?, ?, ?)", (self._owner.key, alias_id, row)
        )

    def _free_row(self, ms: int) -> int:
        first = first_row(ms)
        last = first + (1 << SEQUENCE_BITS) - 1
        (taken,) = self._connection.execute(
            "SELECT max(row) FROM messages WHERE row BETWEEN ? AND ?", (first, last)
        ).fetchone()
        if taken == last:
            raise InvalidInputError("Over a million messages have this very time; send the true time of each.")
        return first if taken is None else int(taken) + 1


def _unembedded(row: int, text: str, owner_key: str, sender_id: str | None) -> Unembedded:
    author = f"author:{sender_id}" if sender_id and owner_key.startswith("group:") else None
    return Unembedded(row, text, owner_key, author, row_ms(row))
