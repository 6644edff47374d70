"""What the REST interface says of itself: an OpenAPI 3.1 document, and a page for people made of it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from server import __version__
from server.http.rest_operations import Operation

TITLE = "Shiguan 史官: group memory"
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "h2{font-size:1.05rem;margin:2rem 0 .2rem}code{font-size:.95em}table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8884}"
)
_ERRORS = {
    "400": "A parameter is wrong; the sentence says which.",
    "401": "No token, or one that is not known.",
    "403": "The token lacks the scope.",
    "404": "There is no such group or memory within the token.",
    "409": "It changes at this moment, or a run is under way.",
    "429": "Too many requests with this token.",
}


def document(operations: Sequence[Operation], prefix: str) -> dict[str, Any]:
    """Return the OpenAPI document of operations below a prefix."""
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {"Error": _ERROR}
    for one in operations:
        schema = one.answer.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        schemas[one.answer.__name__] = schema
        paths.setdefault(prefix + one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": __version__},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "error_description": {"type": "string"}},
    "required": ["error", "error_description"],
}


def _operation(one: Operation) -> dict[str, Any]:
    subject = one.path.rpartition("{")[2].rstrip("}")
    named = {"name": subject, "in": "path", "required": True, "schema": {"type": "string"}}
    others = [
        {
            "name": name,
            "in": "query",
            "required": name in one.required,
            "schema": {key: value for key, value in schema.items() if key != "description"},
            **({"description": schema["description"]} if "description" in schema else {}),
        }
        for name, schema in one.parameters.items()
    ]
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    answered = {"application/json": {"schema": {"$ref": f"#/components/schemas/{one.answer.__name__}"}}}
    errors = {code: {"description": text, "content": refused} for code, text in _ERRORS.items()}
    return {
        "operationId": one.tool,
        "summary": one.summary,
        "description": f"As the tool {one.tool}. The token needs the scope {one.scope}.",
        "parameters": [named, *others],
        "responses": {"200": {"description": "Done", "content": answered}, **errors},
    }


def page(described: Mapping[str, Any]) -> str:
    """Return a document as a page without scripts."""
    parts: list[str] = []
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            parts.append(f"<h2><code>{method.upper()} {html.escape(path)}</code></h2><p>{html.escape(one['summary'])}.")
            parts.append(f" {html.escape(one['description'])}</p>{_table(one['parameters'])}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title><style>{STYLE}</style>'
        f'<meta name="viewport" content="width=device-width"></head><body><h1>{TITLE}</h1>'
        "<p>JSON as the tools return it. Send <code>Authorization: Bearer …</code>. Parameters go into the query, or "
        'into a JSON object as the body of PUT and POST. <a href="openapi.json">OpenAPI document</a></p>'
        f"{''.join(parts)}</body></html>"
    )


def _table(parameters: Sequence[Mapping[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td><code>{one['name']}</code></td><td>{html.escape(_kind(one))}</td>"
        f"<td>{html.escape(one.get('description', ''))}</td></tr>"
        for one in parameters
    )
    return f"<table><tr><th>name</th><th>value</th><th></th></tr>{rows}</table>"


def _kind(one: Mapping[str, Any]) -> str:
    schema = one["schema"]
    bounds = f" {schema['minimum']}–{schema['maximum']}" if "minimum" in schema and "maximum" in schema else ""
    choices = ": " + ", ".join(schema["enum"]) if "enum" in schema else ""
    default = f", default {schema['default']}" if "default" in schema else ""
    return f"{schema['type']}{choices}{bounds}{default}{', required' if one['required'] else ''}"
