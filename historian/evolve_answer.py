"""The shape in which a model says how a group's statements change. Lenient: what is wrong is refused one by one later.

Imports pydantic: load it where a model is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from historian.lenient import several

ACTIONS = ("keep", "update", "create", "delete")


def _text(given: object) -> str:
    """Take a text or a number, also alone in a list; anything else says nothing, and is refused for that."""
    one = given[0] if isinstance(given, list) and len(given) == 1 else given
    if isinstance(one, bool) or not isinstance(one, str | int | float):
        return ""
    return str(one)


def _texts(given: object) -> list[str]:
    found = several(given)
    return [_text(one) for one in found] if isinstance(found, list) else []


def _actions(given: object) -> object:
    """Take one for a list of it; of a list without any object nothing can be made out."""
    found = several(given)
    if isinstance(found, list) and found and not any(isinstance(one, Mapping) for one in found):
        raise ValueError("it holds no action")
    return found


Said = Annotated[str, BeforeValidator(_text)]
SaidList = Annotated[list[str], BeforeValidator(_texts)]


class ActionSaid(BaseModel):
    """What becomes of one statement, or a new one."""

    model_config = ConfigDict(extra="ignore")

    action: Annotated[Said, WithJsonSchema({"type": "string", "enum": [*ACTIONS]})] = ""
    old_id: Said = Field("", description="which statement, for example s3; empty for create")
    statement: Said = Field("", description="update and create: the whole new text")
    change_reason: Said = Field("", description="why, in one sentence")
    message_ids: SaidList = Field(default_factory=list, description="the messages behind it, for example m12")
    tags: SaidList = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _anything(cls, given: object) -> object:
        """Take what is no object for an action that says nothing, so that it is refused alone."""
        known: dict[str, Any] = {str(key): value for key, value in given.items()} if isinstance(given, Mapping) else {}
        return known


class EvolveAnswer(BaseModel):
    """One action for each statement, and those that are new."""

    model_config = ConfigDict(extra="ignore")

    actions: Annotated[list[ActionSaid], BeforeValidator(_actions)]
