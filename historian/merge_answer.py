"""The shape in which a model says what becomes of a profile. Lenient about what is missing or too much."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from historian.lenient import Number, Numbers, Text, several


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

    lines: Annotated[list[LineFate], BeforeValidator(several)]
    added: Annotated[list[Added], BeforeValidator(several)] = Field(default_factory=list)
    passing: Numbers = Field(default_factory=list, description="numbers of statements that soon hold no longer")
    tags: Annotated[list[str], BeforeValidator(several)] = Field(default_factory=list)
