"""What became of the records of an import: counted by kind, and each refused one named."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TextIO

SPEAKERS = 5
"""People named where the user is none of them."""
NAMED = 20
"""Refused records named on the terminal; a report file names all of them."""

UNSEEN = "What is known already or was forgotten is not told apart: a rehearsal does not look into the memory."


@dataclass(slots=True)
class Report:
    """The counts of one import. Its size does not grow with the import."""

    inserted: int = 0
    ignored: int = 0
    early: int = 0
    forgotten: int = 0
    refused: int = 0
    named: list[str] = field(default_factory=list[str])
    passed: Counter[str] = field(default_factory=Counter[str])
    formats: Counter[str] = field(default_factory=Counter[str])
    unknown: list[str] = field(default_factory=list[str])
    unknown_count: int = 0
    unread: int = 0
    has_masked: bool = False
    is_user_there: bool = False
    speakers: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])
    file: TextIO | None = None

    @property
    def is_in_vain(self) -> bool:
        """Whether a file could not be read and nothing of any other was taken."""
        return bool(self.unread) and not (self.inserted or self.ignored or self.early or self.forgotten)

    def refuse(self, file: str, place: str, reason: str) -> None:
        """Note a record that was refused; `file` is empty where only one is read."""
        self.refused += 1
        where = ", ".join(part for part in (printable(file), place) if part)
        if len(self.named) < NAMED:
            self.named.append(f"{where}: {reason}")
        if self.file is not None:
            refusal = {"file": file, "place": place, "reason": reason}
            self.file.write(json.dumps(refusal) + "\n")

    def pass_over(self, file: str) -> None:
        """Note a file of no known format."""
        self.unknown_count += 1
        if len(self.unknown) < 5:
            self.unknown.append(printable(file))

    def heard(self, speaker: str, *, is_user: bool) -> None:
        """Note who said something in a chat between people."""
        self.is_user_there |= is_user
        if not is_user and len(self.speakers) <= SPEAKERS and printable(speaker) not in self.speakers:
            self.speakers.append(printable(speaker))

    def keep_apart(self, user: str) -> None:
        """Note another user of a memory whose statements are kept as said by them."""
        if len(self.others) <= SPEAKERS and printable(user) not in self.others:
            self.others.append(printable(user))

    def summary(self, *, dry: bool) -> list[str]:
        """Return what to tell on stdout: the counts in one line, and what else there is to know."""
        early = f", {self.early} too early" if self.early else ""
        forgotten = f", {self.forgotten} forgotten before" if self.forgotten else ""
        if dry:
            said = [f"{self.inserted} could be imported{early}, {self.refused} refused. Nothing was stored. {UNSEEN}"]
        else:
            counts = f"{self.inserted} imported, {self.ignored} known already{early}{forgotten}"
            said = [f"{counts}, {self.refused} refused."]
        if self.formats.keys() - {"jsonl"}:
            said.append("Read: " + ", ".join(f"{count} × {name}" for name, count in sorted(self.formats.items())) + ".")
        if self.passed:
            said.append("Passed over: " + ", ".join(f"{n} {what}" for what, n in sorted(self.passed.items())) + ".")
        if self.unknown_count:
            listed = ", ".join(self.unknown) + (", …" if self.unknown_count > len(self.unknown) else "")
            said.append(f"Files of no known format: {self.unknown_count} ({listed}).")
        return [*said, *self._people(dry=dry)]

    def _people(self, *, dry: bool) -> list[str]:
        stored = "" if dry else " What is stored keeps its speaker: forget it, then import it with --me and --again."
        said: list[str] = []
        if self.speakers and not self.is_user_there:
            said.append(
                f"Nobody in the chats is the user ({_listed(self.speakers)})."
                f" If you are one of them, name yourself with --me.{stored}"
            )
        if self.others:
            said.append(
                f"Memories of several users: those of others ({_listed(self.others)}) are kept as said by them."
                f" If you are one of them, name yourself with --me.{stored}"
            )
        return said

    def complaints(self) -> list[str]:
        """Return what to tell on stderr."""
        more = self.refused - len(self.named)
        said = [*self.named, *([f"and {more} more; --report FILE names them all"] if more else [])]
        masked = "Credentials in some messages were masked; the memory keeps none."
        return [*said, masked] if self.has_masked else said


def _listed(names: list[str]) -> str:
    return ", ".join(names[:SPEAKERS]) + (", …" if len(names) > SPEAKERS else "")


def printable(text: str) -> str:
    """Return a name without anything that a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)[:200]
