"""The keepers of profiles over a real folder and database, without the rest of the memory."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from historian.chat import Chat
from historian.clock import FixedClock
from historian.database import Database
from historian.events import EventStore
from historian.live import LiveOptions
from historian.model import Event, Owner
from historian.options import Options
from historian.profile import PRIVATE, Profile
from prompts import PromptLibrary
from server.profile_parts import ProfileParts, make_profiles

NOON = datetime(2026, 2, 20, 12, tzinfo=UTC)
MING = Owner("user", "ming")


class Study:
    """Where Ming's profile is kept. The clock stands still unless it is set."""

    def __init__(self, folder: Path, database: Database, parts: ProfileParts, clock: FixedClock) -> None:
        self.folder = folder
        self.parts = parts
        self.clock = clock
        self.discarded: list[int] = []
        self._database = database
        self._events = EventStore(database)
        self._count = 0

    def say(self, *texts: str, group: str | None = None, name: str | None = "Ming") -> list[str]:
        """Store statements of Ming and let them wait for their merge; return the ids of their events."""
        owner = MING if group is None else Owner("group", group)
        events = [self._event(text, owner) for text in texts]
        shown_in = PRIVATE if group is None else owner.key
        with self._database.write():
            self._events.add(events)
            self.parts.waiting.add(MING, events, shown_in=shown_in, name=name, job_id=f"job{self._count}")
        return [event.event_id for event in events]

    def merge(self) -> None:
        """Merge what waits."""
        self.parts.merger.merge(MING)

    def forget(self, event_id: str) -> None:
        """Delete an event."""
        with self._database.write() as connection:
            connection.execute(
                "DELETE FROM event_audiences WHERE row IN (SELECT row FROM events WHERE event_id = ?)", (event_id,)
            )
            connection.execute("DELETE FROM events WHERE event_id = ?", (event_id,))

    @property
    def profile(self) -> Profile:
        """Ming's profile, which must exist."""
        profile, _ = self.parts.biographer.read(MING)
        assert profile is not None
        return profile

    @property
    def texts(self) -> list[str]:
        """What Ming's profile says."""
        profile, _ = self.parts.biographer.read(MING)
        return [line.text for line in profile.lines] if profile is not None else []

    @property
    def rows(self) -> set[tuple[str, str]]:
        """What search finds of it."""
        return self.parts.index.keys(MING)

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / "profiles" / "users" / "ming.md"

    def edit(self, old: str, new: str) -> None:
        """Change the text of the file, as a person does with an editor."""
        head, body = self.path.read_text("utf-8").rsplit("---\n", 1)
        assert old in body
        self.path.write_text(f"{head}---\n{body.replace(old, new)}", "utf-8")

    def _event(self, text: str, owner: Owner) -> Event:
        self._count += 1
        group = owner.id if owner.kind == "group" else None
        identifier = f"e{self._count}"
        return Event(
            identifier, owner, "r", self._count, 0, text, text, NOON, "UTC", "ming", group_id=group, sender_id="ming"
        )


@contextmanager
def study(folder: Path, chat: Chat, *, retries: int = 3, options: Options | None = None) -> Generator[Study]:
    """Open the keepers; `retries` bounds how often a merge waits for the model."""
    from dataclasses import replace

    clock = FixedClock(NOON)
    chosen = options or Options()
    chosen = replace(chosen, queue=replace(chosen.queue, job_max_retries=retries))
    database = Database(folder / "memory.sqlite3")
    gone: list[int] = []
    parts = make_profiles(
        folder,
        database,
        LiveOptions(chosen),
        clock,
        chat=chat,
        prompts=PromptLibrary(),
        discard=gone.extend,
        changed=lambda: None,
    )
    try:
        made = Study(folder, database, parts, clock)
        made.discarded = gone
        yield made
    finally:
        database.close()


def waiting(one: Study) -> Sequence[str]:
    """Return the texts that wait for Ming's profile."""
    return [statement.text for statement in one.parts.waiting.next(MING, 1000)]
