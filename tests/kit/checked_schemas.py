"""What clients in this process know of the schemas of results: checking one takes longer than most of what is asked."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from mcp import Client


def share_checked_schemas(client: Client) -> Client:
    """Let a client take what another one made of the very same schema; every result is checked by it as before."""
    session: Any = client.session
    make = session._output_schema_validator

    def made(name: str, schema: dict[str, Any]) -> Any:
        key = json.dumps(schema)
        if key not in _known():
            _known()[key] = make(name, schema)
        return _known()[key]

    session._output_schema_validator = made
    return client


@cache
def _known() -> dict[str, Any]:
    return {}
