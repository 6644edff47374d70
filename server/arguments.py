"""The check that a tool's arguments pass before the SDK sees them, with errors of one sentence.

The SDK ignores names it does not know and answers a wrong value with pages; a model learns nothing from either. Here
an unknown name is refused with the closest known one, null means left out, and lists and numbers sent as text are read.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from historian.errors import InvalidInputError

Schema = Mapping[str, Any]


def checked(tool: str, schema: Schema, arguments: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return `arguments` under their declared names, coerced to the declared types.

    `aliases` map names that are accepted for compatibility, and not published, to declared ones.

    Raises:
        InvalidInputError: an unknown name, a missing one, a wrong type or a value out of bounds.
    """
    properties: Mapping[str, Schema] = schema.get("properties", {})
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        if value is None:
            continue
        target = name if name in properties else aliases.get(name)
        if target is None:
            raise InvalidInputError(_unknown(tool, name, [*properties]))
        _put(given, target, _coerced(name, properties[target], value))
    for name, value in given.items():
        _require_short(name, properties[name], value)
    for name in schema.get("required", ()):
        if name not in given:
            meaning = properties[name].get("description", "send it").rstrip(".")
            raise InvalidInputError(f"{tool} needs {name}: {meaning}.")
    return given


def require_one(tool: str, names: Sequence[str], given: Mapping[str, Any]) -> None:
    """Refuse a call that sends none of `names`, where there are any.

    Raises:
        InvalidInputError: it sends none.
    """
    if names and not any(name in given for name in names):
        raise InvalidInputError(f"{tool} needs {' or '.join(names)}; send one.")


def _put(given: dict[str, Any], name: str, value: Any) -> None:
    """A parameter sent under two names keeps both values."""
    earlier = given.get(name)
    if isinstance(earlier, list):
        given[name] = [*earlier, *value]
    elif isinstance(earlier, str) and earlier and value:
        given[name] = f"{earlier}\n{value}"
    else:
        given[name] = value


def _require_short(name: str, schema: Schema, value: Any) -> None:
    """Refuse what is too long; a parameter sent under two names counts as a whole."""
    for bound, what in (("maxLength", "characters"), ("maxItems", "entries")):
        limit = schema.get(bound)
        if limit is not None and len(value) > limit:
            raise InvalidInputError(f"{name} has {len(value)} {what}; send at most {limit}.")


def _unknown(tool: str, name: str, known: list[str]) -> str:
    shown = name if len(name) <= 40 and name.isprintable() else "that"
    close = difflib.get_close_matches(name[:80], known, n=1)
    if close:
        return f"{tool} has no parameter {shown}; did you mean {close[0]}?"
    return f"{tool} has no parameter {shown}; it takes {', '.join(known) or 'none'}."


def _coerced(name: str, schema: Schema, value: Any) -> Any:
    match schema.get("type"):
        case "string":
            return _text(name, schema, value)
        case "boolean":
            return _boolean(name, value)
        case "integer" | "number" as kind:
            return _number(name, schema, value, kind)
        case "array":
            return _list(name, schema, value)
        case "object":
            return _object(name, value)
        case _:
            return value


def _text(name: str, schema: Schema, value: Any) -> str:
    if value is None or isinstance(value, bool | dict | list):
        raise InvalidInputError(f"{name} must be a text, not {_kind(value)}.")
    text = str(value)
    choices = schema.get("enum")
    if choices and text not in choices:
        raise InvalidInputError(f"{name} must be one of {', '.join(str(choice) for choice in choices if choice)}.")
    return text


def _boolean(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise InvalidInputError(f"{name} must be true or false, not {_kind(value)}.")


def _number(name: str, schema: Schema, value: Any, kind: str) -> int | float:
    low, high = schema.get("minimum"), schema.get("maximum")
    bounds = f" from {low} to {high}" if low is not None and high is not None else ""
    wanted = f"{name} must be a {'whole ' if kind == 'integer' else ''}number{bounds}"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InvalidInputError(f"{wanted}, not {_kind(value)}.")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise InvalidInputError(f"{wanted}.") from None
    if not math.isfinite(number) or (kind == "integer" and not number.is_integer()):
        raise InvalidInputError(f"{wanted}.")
    if (low is not None and number < low) or (high is not None and number > high):
        raise InvalidInputError(f"{wanted}.")
    return int(number) if kind == "integer" else number


def _list(name: str, schema: Schema, value: Any) -> list[Any]:
    if isinstance(value, str):
        value = _list_from_text(value)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        raise InvalidInputError(f"{name} must be a list, not {_kind(value)}.")
    if schema.get("items", {}).get("type") == "string":
        return [_text(f"{name}[{index}]", schema["items"], item) for index, item in enumerate(value)]
    return value


def _list_from_text(text: str) -> Any:
    """A list sent as JSON is that list; any other text is a list of one."""
    if not text.strip():
        return []
    if text.lstrip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return [text]
    return [text]


def _object(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            raise InvalidInputError(f"{name} must be an object, as JSON.") from None
    if not isinstance(value, dict):
        raise InvalidInputError(f"{name} must be an object, not {_kind(value)}.")
    return value


def _kind(value: Any) -> str:
    kinds = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return "null" if value is None else kinds.get(type(value), "that")
