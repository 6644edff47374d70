"""Changing one table of a TOML file that people edit: comments, order, white space and unknown keys stay."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from historian.errors import InvalidInputError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def value_at(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path of keys, or None where there is none. Raises InvalidInputError: it is not TOML."""
    found: Any = _read(text).unwrap()
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def with_member(text: str, path: Sequence[str], value: Mapping[str, object]) -> str:
    """Return the text with a table at a path of keys; tables on the way are made.

    Raises:
        InvalidInputError: the text is not TOML, or something on the way is no table.
    """
    import tomlkit

    document = _read(text)
    node: Any = document
    for key in path[:-1]:
        if key not in node:
            node[key] = tomlkit.table(is_super_table=True)
        node = node[key]
        if not isinstance(node, MutableMapping):
            raise InvalidInputError(f"{key} is not a table; mend the file by hand.")
    made = tomlkit.table()
    for name, one in value.items():
        made[name] = tomlkit.item(one, _parent=made) if not isinstance(one, dict) else _inline(one)
    node[path[-1]] = made
    return tomlkit.dumps(document)


def without_member(text: str, path: Sequence[str]) -> str:
    """Return the text without what stands at a path of keys. Raises InvalidInputError: the text is not TOML."""
    import tomlkit

    document = _read(text)
    node: Any = document
    for key in path[:-1]:
        if not isinstance(node.get(key), MutableMapping):
            return text
        node = node[key]
    if path[-1] not in node:
        return text
    del node[path[-1]]
    return tomlkit.dumps(document)


def _inline(value: Mapping[str, object]) -> Any:
    import tomlkit

    made = tomlkit.inline_table()
    made.update(value)
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
