"""Changing one member of a JSON file that people edit: comments, order, white space and unknown keys stay.

Reads what hosts read: JSON with `//` and `/* */` comments and with commas behind the last member.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from historian.errors import InvalidInputError

DEEPEST = 200
_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"-?\d[\d.eE+-]*|true|false|null")


class JsoncError(InvalidInputError):
    """The text is not JSON; the message says in which line."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: where its key begins, and where its value lies."""

    start: int
    value: _Value


@dataclass(frozen=True, slots=True)
class _Value:
    """Where a value lies in the text. `members` is None where it is no object."""

    start: int
    end: int
    plain: Any
    members: Mapping[str, _Member] | None = None


def value_at(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path of keys, or None where there is none.

    Raises:
        JsoncError: the text is not JSON.
    """
    found = _root(text).plain
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def with_member(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with `value` at a path of keys; objects on the way are made.

    Raises:
        JsoncError: the text is not JSON, or something on the way is no object.
    """
    root = _root(text)
    node, depth = root, 0
    for depth, key in enumerate(path):
        if node.members is None:
            raise JsoncError(f"{'.'.join(path[:depth]) or 'The file'} is not an object; mend the file by hand.")
        if key not in node.members:
            return _inserted(text, node, path[depth:], depth, value)
        node = node.members[key].value
    indent = _indent(text)
    return text[: node.start] + _written(value, indent, len(path)) + text[node.end :]


def without_member(text: str, path: Sequence[str]) -> str:
    """Return the text without what stands at a path of keys.

    Raises:
        JsoncError: the text is not JSON.
    """
    node = _root(text)
    for key in path[:-1]:
        if node.members is None or key not in node.members:
            return text
        node = node.members[key].value
    if node.members is None or path[-1] not in node.members:
        return text
    keys = [*node.members]
    at = keys.index(path[-1])
    gone = node.members[path[-1]]
    end = _behind_comma(text, gone.value.end)
    if at + 1 < len(keys):
        return text[: gone.start] + text[end:].lstrip()
    start = node.members[keys[at - 1]].value.end if at else node.start + 1
    rest = text[end : node.end - 1]
    return text[:start] + (rest if rest.strip() or at else "") + text[node.end - 1 :]


def _inserted(text: str, node: _Value, keys: Sequence[str], depth: int, value: object) -> str:
    """Return the text with a new member behind the last one of an object."""
    for key in reversed(keys[1:]):
        value = {key: value}
    indent, members = _indent(text), node.members or {}
    line = "\n" + indent * (depth + 1)
    made = f"{line}{json.dumps(keys[0], ensure_ascii=False)}: {_written(value, indent, depth + 1)}"
    if members:
        at = [*members.values()][-1].value.end
        behind = _behind_comma(text, at)
        return f"{text[:at]},{made}{text[behind:]}" if behind == at else f"{text[:behind]}{made}{text[behind:]}"
    inner = text[node.start + 1 : node.end - 1].rstrip()
    return f"{text[: node.start + 1]}{inner}{made}\n{indent * depth}{text[node.end - 1 :]}"


def _written(value: object, indent: str, depth: int) -> str:
    """Return a value as it is written at some depth."""
    return json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", "\n" + indent * depth)


def _indent(text: str) -> str:
    """Return what the first indented line begins with, else two blanks."""
    found = re.search(r'^([ \t]+)"', text, re.MULTILINE)
    return found[1] if found else "  "


def _behind_comma(text: str, at: int) -> int:
    """Return the place behind the comma that follows `at`, or `at` where none does."""
    comma = _skip(text, at)
    return comma + 1 if text[comma : comma + 1] == "," else at


def _root(text: str) -> _Value:
    value = _Reader(text).value(_skip(text, 0), 0)
    if _skip(text, value.end) != len(text):
        raise _wrong(text, value.end)
    return value


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int) -> JsoncError:
    line = text.count("\n", 0, min(at, len(text))) + 1
    return JsoncError(f"The file is not JSON (line {line}); mend it, then try again.")


class _Reader:
    """Finds where values lie."""

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, at: int, depth: int) -> _Value:
        """Return the value that begins at `at`. Raises JsoncError."""
        text = self._text
        if depth > DEEPEST:
            raise _wrong(text, at)
        if text.startswith("{", at):
            return self._object(at, depth)
        if text.startswith("[", at):
            return self._array(at, depth)
        found = _STRING.match(text, at) or _ATOM.match(text, at)
        return _Value(at, found.end(), self._plain(found[0], at)) if found else self._refuse(at)

    def _object(self, at: int, depth: int) -> _Value:
        members: dict[str, _Member] = {}
        place = _skip(self._text, at + 1)
        while not self._text.startswith("}", place):
            key = _STRING.match(self._text, place)
            if key is None:
                self._refuse(place)
                break
            colon = _skip(self._text, key.end())
            if not self._text.startswith(":", colon):
                self._refuse(colon)
            value = self.value(_skip(self._text, colon + 1), depth + 1)
            name = self._plain(key[0], place)
            members.pop(name, None)  # the last of two counts, for hosts too
            members[name] = _Member(place, value)
            place = self._next(value.end, "}")
        return _Value(at, place + 1, {name: one.value.plain for name, one in members.items()}, members)

    def _array(self, at: int, depth: int) -> _Value:
        items: list[Any] = []
        place = _skip(self._text, at + 1)
        while not self._text.startswith("]", place):
            value = self.value(place, depth + 1)
            items.append(value.plain)
            place = self._next(value.end, "]")
        return _Value(at, place + 1, items)

    def _next(self, at: int, closing: str) -> int:
        """Return where the next member begins, or the closing bracket stands."""
        place = _skip(self._text, at)
        if self._text.startswith(",", place):
            return _skip(self._text, place + 1)
        return place if self._text.startswith(closing, place) else self._refuse(place)

    def _plain(self, raw: str, at: int) -> Any:
        try:
            return json.loads(raw)
        except ValueError:
            return self._refuse(at)

    def _refuse(self, at: int) -> Any:
        raise _wrong(self._text, at)
