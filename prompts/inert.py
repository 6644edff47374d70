"""Puts text of other people into a prompt so that it stays data and cannot end the place where it stands."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence

# What chat templates of served models read as the end of a turn, even inside one. A blank takes that meaning away.
_CONTROL = re.compile(r"<(?=[|｜])|<(?=/?(?:start_of_turn|end_of_turn|bos|eos|s|think|tool_call)>)|\[(?=/?INST\])")
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MARK = 8


def clean(text: str) -> str:
    """Return the text encodable, without control characters but line breaks and tabs, and without turn markers."""
    kept = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "ignore").decode("utf-8")
    visible = _INVISIBLE.sub(" ", kept)
    return _CONTROL.sub(lambda found: found.group() + " ", visible)


def line(text: str) -> str:
    """Return the text as one JSON string, which its own quotes cannot end."""
    return json.dumps(" ".join(clean(text).split()), ensure_ascii=False)


def fenced(name: str, text: str) -> str:
    """Return the text between two tags that carry a mark which does not occur in it."""
    body = clean(text)
    mark = _mark_for(body)
    return f"<{name} {mark}>\n{body}\n</{name} {mark}>"


def numbered(texts: Sequence[str]) -> str:
    """Return the texts as a list numbered from 1; further lines of a text are indented, so that they are no entries."""
    return "\n".join(f"[{number}] {_indented(text, 4)}" for number, text in enumerate(texts, start=1))


def bulleted(texts: Sequence[str]) -> str:
    """Return the texts as a list without numbers."""
    return "\n".join(f"- {_indented(text, 2)}" for text in texts)


def _indented(text: str, by: int) -> str:
    return clean(text).strip().replace("\n", "\n" + " " * by)


def _mark_for(body: str) -> str:
    """The mark follows from the text, so that the same prompt is the same twice; nobody can write it into the text."""
    seed = body.encode()
    while True:
        mark = hashlib.sha256(seed).hexdigest()[:_MARK]
        if mark not in body:
            return mark
        seed = mark.encode()
