"""The shapes in which a model recalls: what it looks at next, and what it holds for proven. Imports pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from historian.lenient import Text, several
from historian.memory_view import SECTIONS, Claim, Doubt, Point, Quote, Section

MOST_POINTS = 60
MOST_IDS = 40


def _ids(given: object) -> object:
    return [str(one) for one in given] if isinstance(given, list) else several(given)


Ids = Annotated[list[str], BeforeValidator(_ids)]


class Look(BaseModel):
    """One call of an evidence tool; what is empty is left out."""

    model_config = ConfigDict(extra="ignore")

    tool: str = Field(description="semantic_search, lexical_search, messages_list or neighbors")
    query: Text = Field("", description="of a search: a question or statement; of lexical_search words and phrases")
    message_id: Text = Field("", description="of neighbors")
    since: Text = Field("", description="ISO 8601, inclusive")
    until: Text = Field("", description="ISO 8601, exclusive; a date includes its day")
    role: Text = Field("", description="user, assistant, system or tool")


class PointMade(BaseModel):
    """One statement, in the words of its evidence."""

    model_config = ConfigDict(extra="ignore")

    section: Text = Field("other", description="preferences, profile, constraints or other")
    text: Text = ""
    evidence: Ids = Field(default_factory=list, description="ids of the messages that prove it")


class QuoteMade(BaseModel):
    """A quotation, word for word; … marks what is left out."""

    model_config = ConfigDict(extra="ignore")

    message_id: Text = ""
    content: Text = ""


class DoubtHeld(BaseModel):
    """What cannot be proven, and why."""

    model_config = ConfigDict(extra="ignore")

    text: Text = ""
    reason: Text = ""
    evidence: Ids = Field(default_factory=list)


class Move(BaseModel):
    """What to look at next, or with `done` the finished view. Points may be handed in before it is finished."""

    model_config = ConfigDict(extra="ignore")

    done: bool = Field(description="true when the view is finished")
    looks: Annotated[list[Look], BeforeValidator(several)] = Field(default_factory=list)
    points: Annotated[list[PointMade], BeforeValidator(several)] = Field(default_factory=list)
    quotes: Annotated[list[QuoteMade], BeforeValidator(several)] = Field(default_factory=list)
    uncertain: Annotated[list[DoubtHeld], BeforeValidator(several)] = Field(default_factory=list)

    def claim(self) -> Claim:
        """Return the view as it is to be verified."""
        return Claim(
            points=tuple(
                Point(section_of(one.section), one.text.strip(), tuple(one.evidence[:MOST_IDS]))
                for one in self.points[:MOST_POINTS]
                if one.text.strip()
            ),
            quotes=tuple(Quote(one.message_id, one.content) for one in self.quotes[:MOST_POINTS] if one.message_id),
            uncertain=tuple(
                Doubt(one.text.strip(), one.reason, tuple(one.evidence[:MOST_IDS]))
                for one in self.uncertain[:MOST_POINTS]
                if one.text.strip()
            ),
        )


def section_of(written: str) -> Section:
    """Return the section that is meant; what is no section is `other`."""
    known: dict[str, Section] = {section: section for section in SECTIONS}
    return known.get(written.strip().lower(), "other")


def move_from(arguments: Mapping[str, Any]) -> Move | None:
    """Return the view that a model hands in by calling a tool, or None where it is of another shape."""
    from pydantic import ValidationError

    try:
        return Move.model_validate({"done": True, **arguments})
    except ValidationError:
        return None
