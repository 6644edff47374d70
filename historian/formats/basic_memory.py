"""basic-memory: a folder of Markdown notes with frontmatter, observations and relations."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from historian.errors import InvalidInputError
from historian.formats.outcome import NO_TEXT, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import sequence, text
from historian.formats.text_lines import open_text

MAX_NOTE = 4_000_000
"""Characters of one note; a longer one is refused."""
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<head>.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_OBSERVATION = re.compile(r"[-*] \[(?P<kind>[^\[\]()\n]{2,60})\] (?P<said>.+)\Z")
_RELATION = re.compile(r"[-*] (?P<kind>[^\[\]\n]{1,80}?) \[\[(?P<target>[^\[\]\n]{1,200})\]\]")
_TAG = re.compile(r"(?:^|\s)#[^\s#]+")
_MARKS = re.compile(r"\s*\([^()]*\)\s*\Z")


class BasicMemory:
    """Notes: each is a message, and its observations and relations are statements."""

    name = "basic-memory"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It is Markdown whose frontmatter has the permalink that basic-memory gives every note."""
        del bundle
        if not piece.name.lower().endswith(".md"):
            return False
        found = _FRONT.match(piece.head.decode("utf-8", "replace"))
        return found is not None and re.search(r"^permalink:", found["head"], re.MULTILINE) is not None

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the note."""
        del bundle, reading
        with open_text(piece) as stream:
            whole = stream.read(MAX_NOTE + 1)
        yield _note(piece, whole)


def _note(piece: Piece, whole: str) -> Outcome:
    if len(whole) > MAX_NOTE:
        return Refusal("note", f"It is longer than {MAX_NOTE} characters.")
    found = _FRONT.match(whole)
    try:
        about = _frontmatter(found["head"] if found else "")
    except InvalidInputError as error:
        return Refusal("note", str(error))
    body = whole[found.end() :].strip() if found else whole.strip()
    if not body:
        return NO_TEXT
    title = text(about.get("title")) or PurePosixPath(piece.name).stem
    link = text(about.get("permalink")) or piece.name
    times = (text(about.get(name)) for name in ("modified", "updated", "created", "date"))
    turn = message(
        message_id=f"basic-memory:{link}"[:512],
        conversation_id="basic-memory",
        role="assistant",
        content=body if title in body[:400] else f"# {title}\n\n{body}",
        ts=next((one for one in times if one), None) or piece.modified,
        source=BasicMemory.name,
        title=title[:200],
        tags=[text(tag)[:100] for tag in sequence(about.get("tags"))] or None,
    )
    return Read("note", turn, tuple(_facts(title, body)))


def _facts(title: str, body: str) -> Iterator[str]:
    for line in map(str.strip, body.split("\n")):
        if observed := _OBSERVATION.match(line):
            said = _MARKS.sub("", _TAG.sub("", observed["said"])).strip()
            if said and observed["kind"].strip().lower() not in ("x", " "):
                yield said if title.lower() in said.lower() else f"{title}: {said}"
        elif related := _RELATION.match(line):
            yield f"{title} {related['kind'].strip().replace('_', ' ')} {related['target'].strip()}."


def _frontmatter(head: str) -> Mapping[str, Any]:
    yaml: Any = importlib.import_module("yaml")
    try:
        value: object = yaml.load(head, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise InvalidInputError("Its frontmatter is no YAML.") from None
    return value if isinstance(value, dict) else {}
