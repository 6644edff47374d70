"""What an endpoint understands: requests are worded for strong servers first, more plainly for weaker ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from pydantic import BaseModel

from historian.chat_schema import strict_schema

REFUSING = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses with which servers answer to a parameter that they do not know."""


class Mode(Enum):
    """How a structured answer is asked for, best first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one model at one endpoint is asked. Learned from what it refuses."""

    mode: Mode = Mode.JSON_SCHEMA
    limit: str = "max_tokens"
    temperature: bool = True
    system: bool = True

    def messages(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the messages as they are sent: a model without a system role reads instructions from its user."""
        if self.system or not messages or messages[0]["role"] != "system":
            return [*messages]
        first, *others = messages
        if others and others[0]["role"] == "user":
            joined = f"{first['content']}\n\n{others[0]['content']}"
            return [{"role": "user", "content": joined}, *others[1:]]
        return [{**first, "role": "user"}, *others]

    def parameters(self, max_tokens: int) -> dict[str, Any]:
        """Return what every request carries besides its messages."""
        return {self.limit: max_tokens, **({"temperature": 0} if self.temperature else {})}

    def format(self, shape: type[BaseModel]) -> dict[str, Any]:
        """Return the parameters that ask for a shape."""
        if self.mode is Mode.JSON_SCHEMA:
            described = {"name": shape.__name__, "schema": strict_schema(shape), "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": described}}
        if self.mode is Mode.JSON_OBJECT:
            return {"response_format": {"type": "json_object"}}
        return {}

    def hint(self, shape: type[BaseModel]) -> str:
        """Return what is added to the instructions: a model that is not held to a schema has to be told it."""
        if self.mode is Mode.JSON_SCHEMA:
            return ""
        return f"JSON Schema: {json.dumps(strict_schema(shape), ensure_ascii=False, separators=(',', ':'))}"

    def alternatives(self, status: int, said: str, *, structured: bool) -> Iterator[Dialect]:
        """Yield what to try after a refusal, most promising first; nothing where the request was not the reason."""
        if status not in REFUSING:
            return
        words = said.lower()
        if "max_completion_tokens" in words or ("max_tokens" in words and "unsupported" in words):
            other = "max_completion_tokens" if self.limit == "max_tokens" else "max_tokens"
            yield replace(self, limit=other)
        if "temperature" in words and self.temperature:
            yield replace(self, temperature=False)
        if "system" in words and "role" in words and self.system:
            yield replace(self, system=False)
        telling = ("response_format",) if status == 404 else ("format", "json", "schema", "grammar")
        if structured and (status in (400, 415, 422) or any(word in words for word in telling)):
            yield from (replace(self, mode=mode) for mode in Mode if mode is not self.mode)
