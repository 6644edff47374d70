"""Taking rows out of the database with everything that hangs on them: audiences, words, links, aliases and names."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping

from historian.audiences import audience_ids, known_audiences
from historian.events import EVENT_WORDS
from historian.forget_cascade import FORGOTTEN_EVIDENCE, Consequences, Rewritten
from historian.forget_texts import told
from historian.model import Owner
from historian.readable import MESSAGE_WORDS
from historian.sameness import statement_key
from historian.tombstones import Kind, Tombstones

_IN = "IN (SELECT value FROM json_each(?))"


class RowRemover:
    """Carries out what was found to follow, inside one transaction."""

    def __init__(self, connection: sqlite3.Connection, found: Consequences) -> None:
        self._connection = connection
        self._found = found

    def run(self) -> dict[str, int]:
        """Change and remove; return how many rows of each kind that were."""
        doomed = self._found.doomed
        for changed in self._found.rewritten:
            self._rewrite(changed)
        self._promote_repeats()
        counts = {
            "events": self._remove_events(doomed.events),
            "messages": self._remove_messages(doomed.messages),
            "memos": self._remove_memos(doomed.memos),
            "memos rewritten": self._cut_memos(),
            "pinned notes": self._remove_notes(doomed.pinned),
            "events rewritten or flagged": len(self._found.rewritten),
        }
        self._cut_references()
        self._forget_decisions()
        return counts

    def _rewrite(self, changed: Rewritten) -> None:
        execute = self._connection.execute
        flags, same_as = execute("SELECT flags, same_as FROM events WHERE row = ?", (changed.row,)).fetchone()
        flagged = json.dumps(list(dict.fromkeys([*json.loads(flags), FORGOTTEN_EVIDENCE])), ensure_ascii=False)
        execute(
            "UPDATE events SET text = ?, original = ?, mark = ?, flags = ?, restated_from = NULL, embedded_by = NULL"
            " WHERE row = ?",
            (changed.text, changed.original, statement_key(changed.text), flagged, changed.row),
        )
        if same_as is None:
            self._index(changed.row, changed.text)

    def _index(self, row: int, text: str) -> None:
        """Have an event found by the words of its text."""
        audiences = self._connection.execute("SELECT audience_id FROM event_audiences WHERE row = ?", (row,)).fetchall()
        EVENT_WORDS.remove(self._connection, row)
        EVENT_WORDS.add_numbered(self._connection, row, text, [number for (number,) in audiences])

    def _promote_repeats(self) -> None:
        """Let the first repeat that stays be the statement in place of the one that goes."""
        doomed = self._found.doomed.events
        execute = self._connection.execute
        for owner_key, event_id in self._found.gone:
            repeats = execute(
                "SELECT row, event_id, text FROM events WHERE owner_key = ? AND same_as = ? ORDER BY row",
                (owner_key, event_id),
            ).fetchall()
            staying = [one for one in repeats if one[0] not in doomed]
            if not staying:
                continue
            row, heir, text = staying[0]
            execute("UPDATE events SET same_as = NULL, embedded_by = NULL WHERE row = ?", (row,))
            self._index(row, text)
            execute("UPDATE events SET same_as = ? WHERE owner_key = ? AND same_as = ?", (heir, owner_key, event_id))

    def _remove_events(self, rows: Iterable[int]) -> int:
        found = self._chosen("SELECT row, owner_key, sender_id, event_id FROM events", rows)
        self._unlist("event_audiences", [(row, owner, sender) for row, owner, sender, _ in found])
        for row, *_ in found:
            EVENT_WORDS.remove(self._connection, row)
        self._bury("event", [(owner, event_id) for _, owner, _, event_id in found])
        return self._delete("events", rows)

    def _remove_messages(self, rows: Iterable[int]) -> int:
        found = self._chosen("SELECT row, owner_key, sender_id FROM messages", rows)
        self._unlist("message_audiences", found)
        for row, *_ in found:
            MESSAGE_WORDS.remove(self._connection, row)
        self._bury("message", [(owner, one) for owner, ids in self._found.message_ids.items() for one in ids])
        places = set(self._chosen("SELECT owner_key, conversation_id FROM messages", rows))
        removed = self._delete("messages", rows)
        for owner, conversation in places:
            self._connection.execute(
                f"UPDATE messages SET reply_to = NULL WHERE owner_key = ? AND conversation_id = ? AND reply_to {_IN}",
                (owner, conversation, json.dumps(sorted(self._found.message_ids[owner]))),
            )
        self._forget_names({(owner, sender) for _, owner, sender in found})
        return removed

    def _remove_memos(self, rows: Iterable[int]) -> int:
        self._bury("memo", self._chosen("SELECT owner_key, job_id FROM memos", rows))
        return self._delete("memos", rows)

    def _cut_memos(self) -> int:
        left = self._found.cut_memos
        self._connection.executemany(
            "UPDATE memos SET text = ? WHERE row = ?", [(text, row) for row, text in left.items()]
        )
        return len(left)

    def _remove_notes(self, rows: Iterable[int]) -> int:
        self._bury("pinned", self._chosen("SELECT owner_key, text FROM pinned", rows))
        return self._delete("pinned", rows)

    def _forget_names(self, senders: Iterable[tuple[str, str | None]]) -> None:
        """Forget who takes part where no message says so any more."""
        keys = {key for owner, sender in senders for key in Owner.of_key(owner).audiences(sender)}
        for number in known_audiences(self._connection, frozenset(keys)):
            self._connection.execute(
                "DELETE FROM participants WHERE audience_id = ? AND NOT EXISTS (SELECT 1 FROM message_audiences AS a"
                " CROSS JOIN messages AS m ON m.row = a.row WHERE a.audience_id = participants.audience_id"
                " AND coalesce(m.sender_id, '') = participants.sender_id"
                " AND coalesce(m.sender_name, '') = participants.sender_name)",
                (number,),
            )

    def _forget_decisions(self) -> None:
        """Take reasons that quote what is forgotten, and ids of events that are gone, out of the ledger."""
        owners = {*self._found.message_ids, *(owner for owner, _ in self._found.gone)}
        quoted = told("\n".join([*self._found.contents, *self._found.gone.values()]))
        gone = {event_id for _, event_id in self._found.gone}
        rows = self._connection.execute(
            f"SELECT job_id, receipt_json FROM receipts WHERE owner_key {_IN} AND receipt_json != '{{}}'",
            (json.dumps(sorted(owners)),),
        ).fetchall()
        for job_id, document in rows:
            known = json.loads(document)
            decision = known.get("capture")
            if not decision:
                continue
            decision["event_ids"] = [one for one in decision.get("event_ids", ()) if one not in gone]
            if quoted & told(str(decision.get("reason", ""))):
                decision["reason"] = ""
            self._connection.execute(
                "UPDATE receipts SET receipt_json = ? WHERE job_id = ?",
                (json.dumps(known, ensure_ascii=False), job_id),
            )

    def _cut_references(self) -> None:
        """Take ids of forgotten messages out of the events that stay."""
        for owner, ids in self._found.message_ids.items():
            known = json.dumps(sorted(ids))
            self._connection.execute(
                "UPDATE events SET message_ids = (SELECT json_group_array(j.value) FROM json_each(events.message_ids)"
                f" AS j WHERE j.value NOT {_IN}) WHERE (owner_key = ? OR ? GLOB 'group:*')"
                f" AND EXISTS (SELECT 1 FROM json_each(events.message_ids) AS j WHERE j.value {_IN})",
                (known, owner, owner, known),
            )

    def _unlist(self, table: str, rows: Iterable[tuple[int, str, str | None]]) -> None:
        numbers: dict[tuple[str, str | None], tuple[int, ...]] = {}
        for row, owner, sender in rows:
            if (owner, sender) not in numbers:
                numbers[owner, sender] = audience_ids(self._connection, Owner.of_key(owner).audiences(sender))
            self._connection.executemany(
                f"DELETE FROM {table} WHERE audience_id = ? AND row = ?",
                [(number, row) for number in numbers[owner, sender]],
            )

    def _bury(self, kind: Kind, named: Iterable[tuple[str, str]]) -> None:
        by_owner: Mapping[str, list[str]] = defaultdict(list)
        for owner, identifier in named:
            by_owner[owner].append(identifier)
        for owner, identifiers in by_owner.items():
            Tombstones(self._connection, owner).add(kind, identifiers)

    def _chosen(self, statement: str, rows: Iterable[int]) -> list[tuple]:  # type: ignore[type-arg]
        return self._connection.execute(f"{statement} WHERE row {_IN}", (json.dumps(sorted(rows)),)).fetchall()

    def _delete(self, table: str, rows: Iterable[int]) -> int:
        return self._connection.execute(f"DELETE FROM {table} WHERE row {_IN}", (json.dumps(sorted(rows)),)).rowcount


def remove_person(connection: sqlite3.Connection, owner: Owner, person: str | None) -> None:
    """Remove what is left of an owner, and of a person as a speaker, once their rows are gone.

    Receipts of the owner go; names of audiences go where nothing is listed under them.
    """
    for table in ("receipts", "pinned_numbers", "group_runs"):
        connection.execute(f"DELETE FROM {table} WHERE owner_key = ?", (owner.key,))
    connection.execute("DELETE FROM merge_troubles WHERE entity_type = ? AND entity_id = ?", (owner.kind, owner.id))
    for table in ("profile_drops", "merge_reviews", "merge_waiting", "profile_files"):
        connection.execute(f"DELETE FROM {table} WHERE entity_type = ? AND entity_id = ?", (owner.kind, owner.id))
    Tombstones(connection, owner.key).add("profile", [owner.id])
    keys = {owner.key, *([f"author:{person}"] if person is not None else [])}
    listed = (
        "message_audiences",
        "event_audiences",
        "profile_line_audiences",
        "group_memory_audiences",
        "participants",
    )
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {table} AS t WHERE t.audience_id = audiences.id)" for table in listed
    )
    connection.execute(f"DELETE FROM audiences WHERE key {_IN} AND {unused}", (json.dumps(sorted(keys)),))
