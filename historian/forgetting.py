"""Forgetting: what somebody asks for, whatever rests on it, and every copy of it that the data folder holds."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from historian.biographer import Biographer
from historian.clock import Clock
from historian.database import Database
from historian.errors import ConflictError, ShiguanError
from historian.events import EVENT_WORDS
from historian.forget_cascade import Consequences, EventKey, consequences
from historian.forget_jobs import JobCleaner
from historian.forget_lines import LineSearch
from historian.forget_profiles import Cleaned, ProfileCleaner
from historian.forget_reviews import ReviewCleaner
from historian.forget_rows import RowRemover, remove_person
from historian.forget_samples import Sample, going_along, line_samples, samples
from historian.forget_selection import Doomed, Selection, Selector
from historian.group_rows import GROUP_WORDS
from historian.indexer import Indexer
from historian.messages import epoch_ms
from historian.model import Owner, Scope
from historian.profile import Profile
from historian.profile_index import PROFILE_WORDS
from historian.profiles import ProfileStore
from historian.queue import Queue
from historian.readable import MESSAGE_WORDS
from historian.returned import ReturnedTexts
from historian.standstill import Standstill
from historian.unwiped import note_done, note_due

BACKUPS = "Backups and exports that were made before still hold it; delete them, or make them anew."
CHANGED = "What this would forget has changed since; look at it once more and confirm that."
LATER = "Its traces are not wiped from the disk yet, because something failed; run the same command again: {reason}"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten where, or would be: counts by place. `token` confirms a rehearsal, `samples` show of what."""

    done: bool
    counts: Mapping[str, int]
    token: str
    notes: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()


class Forgetter:
    """Forgets for one scope at a time, while the historian stands still. Thread-safe."""

    def __init__(  # noqa: PLR0913, PLR0917 - it reaches into every store there is
        self,
        database: Database,
        selector: Selector,
        profiles: ProfileStore,
        biographer: Biographer,
        queue: Queue,
        indexer: Indexer,
        returned: ReturnedTexts,
        standstill: Standstill,
        wipe: Callable[[frozenset[str]], None],
        clock: Clock,
    ) -> None:
        """`wipe` removes from the disk what deleting leaves there; it gets the names that no log may keep."""
        self._database = database
        self._selector = selector
        self._profiles = profiles
        self._biographer = biographer
        self._queue = queue
        self._indexer = indexer
        self._returned = returned
        self._standstill = standstill
        self._wipe = wipe
        self._clock = clock

    def forget(self, scope: Scope, selection: Selection, confirm: str = "") -> Forgotten:
        """Say what would be forgotten; with the token that this gives, forget exactly that.

        Raises:
            NotFoundError: an id is unknown in this scope.
            ConflictError: the token is not for what would be forgotten now.
            StoreError: something cannot be read or written, or is busy; what is done stands, and may be done again.
        """
        if not confirm:
            return self._rehearsed(scope, selection)
        with self._standstill.alone():
            self._queue.recover()
            with self._database.read() as connection:
                found, token, _ = self._found(connection, scope, selection)
            if confirm != token:
                raise ConflictError(CHANGED)
            counts = self._carry_out(scope, selection, found)
            notes = self._wiped(scope, selection, found)
        return Forgotten(True, counts, token, (*notes, BACKUPS) if counts else notes)

    def finish(self) -> None:
        """Wipe what an interrupted forgetting left on the disk. Raises StoreError."""
        with self._standstill.alone():
            self._wipe_now(frozenset())

    def _rehearsed(self, scope: Scope, selection: Selection) -> Forgotten:
        """Say what would go, and show some of it: first what is meant, then what else of the asker's goes along."""
        readable = self._selector.find(scope, Selection(everything=True))
        with self._database.read() as connection:
            found, token, meant = self._found(connection, scope, selection)
            shown = samples(connection, meant)
            shown += samples(connection, going_along(meant, found.doomed, readable), along=True)
        counts, profiles = self._foreseen(scope, selection, found)
        lines = {text for entity, text in profiles.gone if entity == scope.owner}
        shown += line_samples(lines.difference(text for _, text in meant.lines), along=True)
        return Forgotten(False, counts, token, samples=shown)

    def _found(
        self, connection: sqlite3.Connection, scope: Scope, selection: Selection
    ) -> tuple[Consequences, str, Doomed]:
        """Return what goes, what confirms it, and what of it is meant by itself."""
        doomed = self._selector.find(scope, selection)
        doomed.lines = LineSearch(scope, selection).find(self._profiles)
        meant = doomed.copy()
        repeats = selection.event_id is not None or bool(selection.query)
        whole = scope.owner.key if selection.everything else None
        found = consequences(connection, doomed, repeats=repeats, everything_of=whole)
        return found, meant.token(scope, selection), meant

    def _carry_out(self, scope: Scope, selection: Selection, found: Consequences) -> dict[str, int]:
        """First the files, whose rows still say what to do if this is interrupted; then all rows at once."""
        counts: Counter[str] = Counter()
        profiles = self._clean_profiles(scope, selection, found, counts)
        held = self._held(scope.owner if selection.everything else None)
        cleaner = _job_cleaner(scope, selection, found)
        counts["jobs removed"], counts["jobs changed"] = self._queue.revise(cleaner.clean)
        counts["unreadable files"] = self._queue.purge(cleaner.means_original)
        with self._database.write() as connection:
            counts.update(ReviewCleaner(connection, found, held, profiles.quoting).run())
            statements = found.groups.carry_out(connection, epoch_ms(self._clock.now()))
            counts.update(RowRemover(connection, found).run())
            if selection.everything:
                remove_person(connection, scope.owner, scope.user_id if scope.group_id is None else None)
            note_due(connection)
        gone = {"messages": found.doomed.messages, "events": found.doomed.events, "group_memories": statements}
        for collection, rows in gone.items():
            self._indexer.discard(collection, sorted(rows))
        self._returned.let_go(None if _is_known_in_groups(scope, found) else scope.user_id)
        counts.update(_statements(found))
        return {name: count for name, count in counts.items() if count}

    def _foreseen(self, scope: Scope, selection: Selection, found: Consequences) -> tuple[dict[str, int], Cleaned]:
        """Return the counts that `_carry_out` would return, as far as nothing changes until then."""
        counts = Counter(_rows(found))
        profiles, jobs = self._profile_cleaner(scope, selection, found), _job_cleaner(scope, selection, found)
        for entity in self._profiles.known():
            if selection.everything and entity == scope.owner:
                counts["profile files"] += self._profiles.count_files(entity)
            elif (data := self._profiles.data(entity)) is not None:
                profiles.clean_bytes(entity, data)
        counts["profile lines"] = profiles.cleaned.lines
        counts["profile lines rewritten"] = profiles.cleaned.rewritten
        removed, changed, unreadable = self._queue.foresee(jobs.clean, jobs.means_original)
        counts.update({"jobs removed": removed, "jobs changed": changed, "unreadable files": unreadable})
        return {name: count for name, count in counts.items() if count}, profiles.cleaned

    def _profile_cleaner(self, scope: Scope, selection: Selection, found: Consequences) -> ProfileCleaner:
        return ProfileCleaner(found, self._text_of(found), LineSearch(scope, selection))

    def _clean_profiles(
        self, scope: Scope, selection: Selection, found: Consequences, counts: Counter[str]
    ) -> ProfileCleaner:
        cleaner = self._profile_cleaner(scope, selection, found)
        affected: set[Owner] = set()
        for entity in self._profiles.known():
            if selection.everything and entity == scope.owner:
                counts["profile files"] += self._biographer.remove(entity)
                affected.add(entity)
                continue
            clean, clean_version = (partial(one, entity) for one in (cleaner.clean_bytes, cleaner.clean_version))
            changed, versions = self._biographer.purge(entity, clean, clean_version)
            counts["profile versions"] += versions
            if changed or versions:
                affected.add(entity)
        counts["profile lines"] = cleaner.cleaned.lines
        counts["profile lines rewritten"] = cleaner.cleaned.rewritten
        self._forget_drops(cleaner, affected)
        return cleaner

    def _held(self, removed: Owner | None) -> dict[Owner, Profile | None]:
        """Return the profiles of which merges are held for a person, but for that of whom everything goes."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT DISTINCT entity_type, entity_id FROM merge_reviews").fetchall()
        entities = [Owner(*row) for row in rows]
        return {entity: self._biographer.read(entity)[0] for entity in entities if entity != removed}

    def _forget_drops(self, cleaner: ProfileCleaner, entities: set[Owner]) -> None:
        """Forget reasons for lines that say what is forgotten."""
        for entity in sorted(entities, key=lambda one: one.key):
            profile, _ = self._biographer.read(entity)
            with self._database.write() as connection:
                rows = connection.execute(
                    "SELECT row, line FROM profile_drops WHERE entity_type = ? AND entity_id = ?",
                    (entity.kind, entity.id),
                ).fetchall()
                gone = [row for row, line in rows if cleaner.says(entity, line, profile)]
                connection.execute(
                    "DELETE FROM profile_drops WHERE row IN (SELECT value FROM json_each(?))", (json.dumps(gone),)
                )

    def _text_of(self, found: Consequences) -> Callable[[EventKey], str | None]:
        def text_of(key: EventKey) -> str | None:
            if key in found.changed:
                return found.changed[key].text
            with self._database.read() as connection:
                row = connection.execute("SELECT text FROM events WHERE owner_key = ? AND event_id = ?", key).fetchone()
            return None if row is None else str(row[0])

        return text_of

    def _wiped(self, scope: Scope, selection: Selection, found: Consequences) -> tuple[str, ...]:
        """Wipe the disk; what cannot be wiped now is said, and done by the next call."""
        names = frozenset[str]().union(*found.message_ids.values(), (event for _, event in found.gone))
        if selection.everything and scope.group_id is None:
            names |= {scope.user_id}
        try:
            self._wipe_now(names)
        except ShiguanError as error:
            log.warning("traces of what was forgotten could not be wiped: %s", error)
            return (LATER.format(reason=error),)
        return ()

    def _wipe_now(self, names: frozenset[str]) -> None:
        with self._database.write() as connection:
            for words in (MESSAGE_WORDS, EVENT_WORDS, PROFILE_WORDS, GROUP_WORDS):
                words.scrub(connection)
        self._wipe(names)
        with self._database.write() as connection:
            note_done(connection)


def _is_known_in_groups(scope: Scope, found: Consequences) -> bool:
    """Whether something of it was said in a group: nobody knows to whom there it was given back."""
    owners = {*found.message_ids, *(owner for owner, _ in [*found.gone, *found.changed])}
    return scope.group_id is not None or any(Owner.of_key(key).kind == "group" for key in owners)


def _statements(found: Consequences) -> dict[str, int]:
    return {
        "group statements": len(found.groups.gone),
        "group statements rewritten or flagged": len(found.groups.cut),
    }


def _rows(found: Consequences) -> dict[str, int]:
    doomed = found.doomed
    return {
        "messages": len(doomed.messages),
        "events": len(doomed.events),
        "memos": len(doomed.memos),
        "memos rewritten": len(found.cut_memos),
        "pinned notes": len(doomed.pinned),
        "events rewritten or flagged": len(found.rewritten),
        **_statements(found),
    }


def _job_cleaner(scope: Scope, selection: Selection, found: Consequences) -> JobCleaner:
    ids = frozenset[str]().union(*found.message_ids.values())
    return JobCleaner(scope, selection, ids, tuple(found.contents))
