"""Looking after group memory: every chain is whole, and the log of changes gives what stands there."""

from __future__ import annotations

from historian.database import Database
from historian.finding import Finding, number
from historian.group_store import GroupStore
from historian.model import Owner


class GroupsCheck:
    """What is known of groups. It is the truth itself, so that only a person, a backup or an export can mend it."""

    name = "groups"

    def __init__(self, database: Database) -> None:
        self._database = database
        self._store = GroupStore(database)

    def find(self, *, fix: bool) -> list[Finding]:
        """Return which memories differ from their log, and which chains have a gap or no head."""
        del fix
        differing = broken = 0
        for group in self._groups():
            present, replayed = self._store.present(group), self._store.replay(group)
            keys = {key for key in {*present, *replayed} if present.get(key) != replayed.get(key)}
            differing += len({memory_id for memory_id, _ in keys})
            broken += self._broken(group)
        found: list[Finding] = []
        if differing:
            verb = "is not" if differing == 1 else "are not"
            sentence = f"{number(differing, 'group memory', 'group memories')} {verb} as the log of changes has it."
            found.append(Finding(self.name, "warning", sentence))
        if broken:
            verb = "has" if broken == 1 else "have"
            sentence = f"{number(broken, 'group memory', 'group memories')} {verb} a gap in the versions or no newest."
            found.append(Finding(self.name, "error", f"{sentence} Restore them from a backup or an export."))
        return found

    def mend(self) -> None:
        """Do nothing: what is true is not guessed."""

    def _broken(self, group: Owner) -> int:
        with self._database.read() as connection:
            (count,) = connection.execute(
                "SELECT count(*) FROM (SELECT 1 FROM group_memories WHERE owner_key = ? GROUP BY memory_id"
                " HAVING sum(is_head) != 1 OR max(version) != count(*) OR max(is_head * version) != max(version))",
                (group.key,),
            ).fetchone()
        return int(count)

    def _groups(self) -> list[Owner]:
        with self._database.read() as connection:
            rows = connection.execute("SELECT owner_key FROM group_memories UNION SELECT owner_key FROM group_changes")
            return [Owner.of_key(key) for (key,) in rows]
