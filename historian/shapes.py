"""The structured answers that chat models are asked for. Imports pydantic: load it where a model is asked."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from historian.lenient import Numbers, Text, several


class Statement(BaseModel):
    """One rewritten observation; `number` counts from 1."""

    number: int = Field(description="number of the observation")
    text: Text = Field(description="the observation in words that need no context")


class Rewriting(BaseModel):
    """A statement for each observation."""

    statements: Annotated[list[Statement], BeforeValidator(several)]


class Verdict(BaseModel):
    """Whether an exchange is worth remembering, and if so what of it; `messages` are numbers that count from 1."""

    should_remember: bool
    reason: Text = Field("", description="why, in one sentence")
    statement: Text = Field("", description="what is worth remembering, in one sentence; empty where nothing is")
    messages: Numbers = Field(default_factory=list, description="numbers of the messages that say it")
