"""JSON schemas as every host accepts them: top level an object, no combinators, no references.

Some hosts drop a whole server when one tool's schema holds `anyOf` or `$ref`, so what pydantic writes is flattened.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

FORBIDDEN = frozenset({"$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "definitions"})
_DECORATION = frozenset({"title"})


def flatten(schema: Schema) -> Schema:
    """Return `schema` with references written out, `X or null` as a type list, and generated titles left out."""
    flat: Schema = _flatten(schema, schema.get("$defs", {}))
    return flat


def violations(schema: Schema, where: str = "") -> list[str]:
    """Return each place where `schema` holds what hosts reject; an empty list when it is fine."""
    found = [] if where or schema.get("type") == "object" else ["top level is not an object"]
    for key, value in schema.items():
        path = f"{where}/{key}"
        if key in FORBIDDEN and where.rpartition("/")[2] != "properties":
            found.append(path)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, dict):
                found.extend(violations(child, path))
    return found


def _flatten(node: Any, definitions: Schema) -> Any:
    if isinstance(node, list):
        return [_flatten(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return _flatten({**target, **siblings}, definitions)
    if "anyOf" in node:
        return _without_null({**node, "anyOf": _flatten(node["anyOf"], definitions)})
    return {
        key: _flatten_properties(value, definitions) if key == "properties" else _flatten(value, definitions)
        for key, value in node.items()
        if key not in _DECORATION and key != "$defs"
    }


def _flatten_properties(properties: Schema, definitions: Schema) -> Schema:
    return {name: _flatten(schema, definitions) for name, schema in properties.items()}


def _without_null(node: Schema) -> Schema:
    arms = [arm for arm in node["anyOf"] if arm.get("type") != "null"]
    if len(arms) != 1 or len(arms) == len(node["anyOf"]) or "type" not in arms[0]:
        raise ValueError(f"cannot write {node!r} without anyOf; use one plain type, or that type or None")
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**rest, **arms[0], "type": [arms[0]["type"], "null"]}
