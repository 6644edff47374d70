"""The skills in this package, as folders of files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

MAIN = "SKILL.md"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill: its name, and its files by their path inside the folder."""

    name: str
    files: Mapping[str, bytes]

    @property
    def text(self) -> str:
        """The text of its SKILL.md, with front matter."""
        return self.files[MAIN].decode()

    @property
    def body(self) -> str:
        """The text of its SKILL.md behind the front matter."""
        return self.text.split("\n---\n", 1)[1].strip()

    @property
    def description(self) -> str:
        """What its front matter says that it does, read without a YAML parser, which takes its time to load."""
        head = self.text.split("\n---\n", 1)[0]
        return next(line.partition(":")[2].strip() for line in head.split("\n") if line.startswith("description:"))

    def digest(self, path: str) -> str:
        """Return the digest of a file's bytes, as the skills extension writes it."""
        return f"sha256:{hashlib.sha256(self.files[path]).hexdigest()}"


@cache
def shipped_skills() -> tuple[Skill, ...]:
    """Return the skills of this version, by name."""
    root = resources.files("prompts.skills")
    folders = sorted((one for one in root.iterdir() if (one / MAIN).is_file()), key=lambda one: one.name)
    return tuple(Skill(folder.name, dict(sorted(_files(folder, "")))) for folder in folders)


def _files(folder: Traversable, before: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{before}{entry.name}/")
        elif entry.name.endswith(".md"):
            yield f"{before}{entry.name}", entry.read_bytes()
