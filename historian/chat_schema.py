"""The JSON schema of an answer as endpoints take it: everything required, nothing else allowed, nothing referred to."""

from __future__ import annotations

import functools
from typing import Any

from pydantic import BaseModel

_DROPPED = frozenset({"title", "default", "$defs", "examples"})


@functools.cache
def strict_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a shape that does not contain itself, with all references resolved."""
    schema = shape.model_json_schema()
    found: dict[str, Any] = _strict(schema, schema.get("$defs", {}))
    return found


def _strict(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_strict(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        named = definitions[node["$ref"].rpartition("/")[2]]
        return _strict({**named, **{key: value for key, value in node.items() if key != "$ref"}}, definitions)
    strict = {key: _strict(value, definitions) for key, value in node.items() if key not in _DROPPED}
    if "properties" in node:
        properties = {name: _strict(value, definitions) for name, value in node["properties"].items()}
        strict |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    return strict
