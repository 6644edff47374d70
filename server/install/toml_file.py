"""Changing one table of a TOML file that people edit: comments, order, white space and unknown keys stay."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from historian.errors import InvalidInputError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_BY_HAND = "The tables of this file cannot be changed without touching others; change the entry by hand."


def value_at(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path of keys, or None where there is none. Raises InvalidInputError: it is not TOML."""
    found: Any = _read(text).unwrap()
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def with_member(text: str, path: Sequence[str], value: Mapping[str, object]) -> str:
    """Return the text with a table at a path of keys; tables on the way are made.

    Raises:
        InvalidInputError: the text is not TOML, something on the way is no table, or the tables are written in a way
            in which the change would reach others.
    """
    wanted: dict[str, Any] = _read(text).unwrap()
    node: Any = wanted
    for key in path[:-1]:
        node = node.setdefault(key, {})
        if not isinstance(node, dict):
            raise InvalidInputError(f"{key} is not a table; mend the file by hand.")
    node[path[-1]] = dict(value)
    stands = _span(text, path)
    if stands is not None:
        changed = text[: stands[0]] + _put("", path, _table(value)) + text[stands[1] :]
        if _says(changed, wanted):
            return changed
    for made in (_table, _inline):
        changed = _put(text, path, made(value))
        if _says(changed, wanted):
            return changed
    raise InvalidInputError(_BY_HAND)


def without_member(text: str, path: Sequence[str]) -> str:
    """Return the text without what stands at a path of keys. Raises InvalidInputError: as `with_member`."""
    import tomlkit

    document = _read(text)
    wanted: dict[str, Any] = document.unwrap()
    node: Any = document
    left: Any = wanted
    for key in path[:-1]:
        if not isinstance(node.get(key), MutableMapping):
            return text
        node, left = node[key], left[key]
    if path[-1] not in node:
        return text
    del node[path[-1]], left[path[-1]]
    stands = _span(text, path)
    if stands is not None and _says(changed := text[: stands[0]] + text[stands[1] :], wanted):
        return changed
    changed = tomlkit.dumps(document)
    if not _says(changed, wanted):
        raise InvalidInputError(_BY_HAND)
    return changed


def _put(text: str, path: Sequence[str], made: Any) -> str:
    """Return the text with something at a path of keys; where it cannot stand there, it is as it was."""
    import tomlkit

    document = _read(text)
    node: Any = document
    for key in path[:-1]:
        if key not in node:
            node[key] = tomlkit.table(is_super_table=True)
        node = node[key]
    try:
        node[path[-1]] = made
    except ValueError:  # a table in an inline one
        return text
    return tomlkit.dumps(document)


def _span(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Return where a table under a header of its own stands, with the tables in it, without what is said behind it.

    What stands before the next header, comments and blank lines, is about that one. None where there is no such header.
    """
    lines = text.splitlines(keepends=True)
    headers = [(number, _header(line)) for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    begins = next((number for number, named in headers if named == [*path]), None)
    if begins is None:
        return None
    further = (number for number, named in headers if number > begins and named[: len(path)] != [*path])
    ends = next(further, len(lines))
    while not lines[ends - 1].strip() or lines[ends - 1].lstrip().startswith("#"):
        ends -= 1
    return len("".join(lines[:begins])), len("".join(lines[:ends]))


def _header(line: str) -> list[str]:
    """Return the keys of the header of a table, or nothing that is one's."""
    import tomllib

    try:
        node: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return []
    keys: list[str] = []
    while isinstance(node, dict) and len(node) == 1:
        (key, node), *_ = node.items()
        keys.append(key)
    return keys


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    """Tell whether a text says just that: where keys are dotted, a new table would swallow what stands behind it."""
    try:
        said: dict[str, Any] = _read(text).unwrap()
    except InvalidInputError:
        return False
    return _without_empty(said) == _without_empty(wanted)


def _without_empty(tables: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in tables.items() if one != {}}


def _table(value: Mapping[str, object]) -> Any:
    import tomlkit

    made = tomlkit.table()
    for name, one in value.items():
        made[name] = tomlkit.item(one, _parent=made) if not isinstance(one, dict) else _inline(one)
    return made


def _inline(value: Mapping[str, object]) -> Any:
    import tomlkit

    made = tomlkit.inline_table()
    made.update({name: _inline(one) if isinstance(one, dict) else one for name, one in value.items()})
    return made


def _read(text: str) -> TOMLDocument:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        line = getattr(error, "line", None)
        place = f" (line {line})" if line else ""
        raise InvalidInputError(f"The file is not TOML{place}; mend it, then try again.") from None
