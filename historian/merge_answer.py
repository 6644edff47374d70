"""The shape in which a model says what becomes of a profile. Lenient about what is missing or too much."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _text(given: object) -> object:
    return "" if given is None else given


def _several(given: object) -> object:
    """Take one number or text for a list of it: weak models write both."""
    if given is None or given == "":
        return []
    return given if isinstance(given, list) else [given]


def _number(given: object) -> object:
    return 0 if given is None or given == "" else given


Text = Annotated[str, BeforeValidator(_text)]
Numbers = Annotated[list[int], BeforeValidator(_several)]
Number = Annotated[int, BeforeValidator(_number)]


class LineFate(BaseModel):
    """What becomes of one present line."""

    model_config = ConfigDict(extra="ignore")

    line: int = Field(description="number of the present line")
    action: Literal["keep", "confirm", "update", "remove"]
    text: Text = Field("", description="update: the whole new text")
    statements: Numbers = Field(default_factory=list, description="numbers of the new statements this follows from")
    covered_by: Number = Field(0, description="remove: number of the line that says all of it, else 0")
    reason: Text = Field("", description="update and remove: why")


class Added(BaseModel):
    """A new line."""

    model_config = ConfigDict(extra="ignore")

    text: Text = ""
    statements: Numbers = Field(default_factory=list, description="numbers of the new statements it rests on")


class MergeAnswer(BaseModel):
    """What becomes of each present line, the lines to be added, and the statements that belong into no profile."""

    model_config = ConfigDict(extra="ignore")

    lines: Annotated[list[LineFate], BeforeValidator(_several)]
    added: Annotated[list[Added], BeforeValidator(_several)] = Field(default_factory=list)
    passing: Numbers = Field(default_factory=list, description="numbers of statements that soon hold no longer")
    tags: Annotated[list[str], BeforeValidator(_several)] = Field(default_factory=list)
