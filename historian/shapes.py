"""The structured answers that chat models are asked for. Imports pydantic: load it where a model is asked."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Statement(BaseModel):
    """One rewritten observation; `number` counts from 1."""

    number: int
    text: str


class Rewriting(BaseModel):
    """A statement for each observation."""

    statements: list[Statement]


class Verdict(BaseModel):
    """Whether an exchange is worth remembering, and if so what of it; `messages` are numbers that count from 1."""

    should_remember: bool
    reason: str = ""
    statement: str = ""
    messages: list[int] = Field(default_factory=list)
