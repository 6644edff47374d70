"""JSON schemas as every host accepts them: top level an object, no combinators, no references.

Some hosts drop a whole server when one tool's schema holds `anyOf` or `$ref`, so what pydantic writes is flattened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

FORBIDDEN = frozenset({"$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "definitions"})
_LEFT_OUT = frozenset({"title", "$defs"})
_NAMED = frozenset({"properties", "patternProperties", "$defs"})
"""Keys whose value holds a schema under each name."""
_NESTED = frozenset(
    {"items", "prefixItems", "additionalProperties", "contains", "propertyNames", *FORBIDDEN - {"$ref"}}
)
"""Keys whose value is a schema or a list of them; all other values are data and stay as they are."""


def flatten(schema: Schema) -> Schema:
    """Return `schema` with references written out, `X or null` as a type list, and generated titles left out.

    Raises:
        ValueError: it cannot be written that way: a union of several types, or a model that holds itself.
    """
    flat: Schema = _flatten(schema, schema.get("$defs", {}), ())
    left = [place for place in violations(flat) if "/" in place]
    if left:
        raise ValueError(f"the schema cannot be written without {left[0]}; use one plain type, or that type or None")
    return flat


def violations(schema: Schema) -> list[str]:
    """Return each place where `schema` holds what hosts reject; an empty list when it is fine."""
    found = [] if schema.get("type") == "object" else ["top level is not an object"]
    return found + [f"{where}/{key}" for where, node in _schemas(schema, "") for key in node if key in FORBIDDEN]


def _schemas(node: Schema, where: str) -> Iterator[tuple[str, Schema]]:
    """Yield a schema and all schemas in it, each with its place."""
    yield where, node
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            inner = [(f"{where}/{key}/{name}", child) for name, child in value.items()]
        elif key in _NESTED:
            inner = [(f"{where}/{key}", child) for child in (value if isinstance(value, list) else [value])]
        else:
            inner = []
        for place, child in inner:
            if isinstance(child, dict):
                yield from _schemas(child, place)


def _flatten(node: Any, definitions: Schema, within: tuple[str, ...]) -> Any:
    """`within` names the references that are being written out."""
    if isinstance(node, list):
        return [_flatten(item, definitions, within) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in within:
            raise ValueError(f"the schema of {name} holds itself; use a plain object or a list of texts")
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return _flatten({**definitions[name], **siblings}, definitions, (*within, name))
    flat = {key: _value(key, value, definitions, within) for key, value in node.items() if key not in _LEFT_OUT}
    return _without_null(flat) if "anyOf" in flat else flat


def _value(key: str, value: Any, definitions: Schema, within: tuple[str, ...]) -> Any:
    if key in _NAMED:
        return {name: _flatten(schema, definitions, within) for name, schema in value.items()}
    return _flatten(value, definitions, within) if key in _NESTED else value


def _without_null(node: Schema) -> Schema:
    arms = [arm for arm in node["anyOf"] if arm.get("type") != "null"]
    if len(arms) != 1 or len(arms) == len(node["anyOf"]) or not isinstance(arms[0].get("type"), str):
        raise ValueError("the schema cannot be written without anyOf; use one plain type, or that type or None")
    arm = {**arms[0], "type": [arms[0]["type"], "null"]}
    if "const" in arm:
        arm["enum"] = [arm.pop("const")]
    if "enum" in arm:
        arm["enum"] = [*arm["enum"], None]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**arm, **rest}
