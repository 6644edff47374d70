"""Random requests out of a server's own lists: every tool, resource, template, prompt and completion, new ones too."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool

from tests.kit.published import Listing, Request, filled, parameters

TIMES = ("2025-06-01", "2025-06-01T08:30:00+08:00", "2025-05-31T23:59:59Z", "1748736000", "not a time")
NUMBERS_AT_MOST = 20
"""A number without an upper bound, or with a high one, is drawn up to here: long lists cost time and show no more."""
IDENTIFIER = re.compile(r"(?:^|_)(?:id|ids|to)$")
WHEN = re.compile(r"since|until|time|date|^ts$")


@dataclass(frozen=True)
class Pair:
    """The same thing as two worlds call it, and in which field it stood; "" is for names of people and groups."""

    one: str
    other: str
    field: str = ""

    @property
    def is_same(self) -> bool:
        """Say whether both worlds call it the same."""
        return self.one == self.other

    def fits(self, name: str) -> bool:
        """Say whether it is such a thing as a parameter of that name asks for."""
        kind = self.field.removesuffix("s")
        return name.removesuffix("s") == kind or (
            not kind and re.search(r"user|group|entity|sender|owner", name) is not None
        )


def is_reading(tool: Tool) -> bool:
    """Say whether a tool says of itself that it changes nothing."""
    return tool.annotations is not None and bool(tool.annotations.read_only_hint)


Both = tuple[Request, Request]
"""A request to each of two worlds."""


class Asker:
    """Draws requests. `identifiers` and `cursors` may grow meanwhile; `words` are what texts are made of."""

    def __init__(
        self,
        chance: random.Random,
        published: Listing,
        words: Sequence[str],
        identifiers: list[Pair],
        cursors: list[tuple[str, Mapping[str, Any], Mapping[str, Any], Pair]],
    ) -> None:
        self._chance = chance
        self._published = published
        self._words = words
        self._identifiers = identifiers
        self._cursors = cursors

    def request(self) -> Both:
        """Return a random request, as each world is sent it."""
        drawn = self._chance.random()
        if drawn < 0.1 and self._cursors:
            return self._going_on()
        if drawn < 0.75 or not (self._published.templates or self._published.resources):
            return self.call(self._tool())
        if drawn < 0.8 and self._published.resources:
            uri = self._chance.choice(self._published.resources)
            return Request("resource", uri), Request("resource", uri)
        if drawn < 0.92 and self._published.templates:
            return self._template()
        return self._prompt() if self._published.prompts else self._template()

    def _tool(self) -> Tool:
        """Return any tool, one that writes more rarely: what it sets going has to be waited for."""
        drawn = self._chance.choice(self._published.tools)
        if is_reading(drawn) or self._chance.random() < 0.2:
            return drawn
        return self._tool()

    def call(self, tool: Tool) -> Both:
        """Return a random call of a tool: what is required, and of the rest some."""
        one, other = self._object(tool.input_schema)
        return Request("tool", tool.name, one), Request("tool", tool.name, other)

    def _going_on(self) -> Both:
        """Take a cursor of anybody's, with the arguments that it was made for, or with other ones."""
        tool, one, other, cursor = self._chance.choice(self._cursors)
        if self._chance.random() < 0.3:
            made = self.call(self._tool())
            tool, one, other = made[0].name, made[0].arguments, made[1].arguments
        return (
            Request("tool", tool, {**one, "cursor": cursor.one}),
            Request("tool", tool, {**other, "cursor": cursor.other}),
        )

    def _template(self) -> Both:
        template = self._chance.choice(self._published.templates)
        value = self._identifier(parameters(template)[0])
        if self._chance.random() < 0.3:
            name, length = self._chance.choice(parameters(template)), self._chance.randrange(9)
            one, other = ({name: half[:length]} for half in (value.one, value.other))
            return (
                Request("template completion", template, one, argument=name),
                Request("template completion", template, other, argument=name),
            )
        return Request("resource", filled(template, value.one)), Request("resource", filled(template, value.other))

    def _prompt(self) -> Both:
        prompt = self._chance.choice(self._published.prompts)
        words = {argument.name: self._text() for argument in prompt.arguments or ()}
        if words and self._chance.random() < 0.4:
            name = self._chance.choice([*words])
            made = Request("prompt completion", prompt.name, words, argument=name)
        else:
            made = Request("prompt", prompt.name, words)
        return made, made

    def _object(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        properties: Mapping[str, Any] = schema.get("properties", {})
        needed = {*schema.get("required", ())}
        chosen = [name for name in properties if name in needed or self._chance.random() < 0.35]
        values = {name: self._value(name, properties[name]) for name in chosen}
        return {name: one for name, (one, _) in values.items()}, {name: other for name, (_, other) in values.items()}

    def _value(self, name: str, schema: Mapping[str, Any]) -> tuple[Any, Any]:
        kinds = schema.get("type")
        kind = kinds[0] if isinstance(kinds, list) else kinds
        if schema.get("enum"):
            return self._same(self._chance.choice(schema["enum"]))
        if kind == "boolean":
            return self._same(self._chance.random() < 0.5)
        if kind in ("integer", "number"):
            return self._same(self._number(kind, schema))
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            items = [self._value(name, schema.get("items", {"type": "string"})) for _ in range(self._length(schema))]
            return [one for one, _ in items], [other for _, other in items]
        return self._string(name)

    def _string(self, name: str) -> tuple[Any, Any]:
        if IDENTIFIER.search(name):
            drawn = self._identifier(name)
            return drawn.one, drawn.other
        if self._chance.random() < 0.03:
            return self._same(self._chance.choice(self._same_in_both()).one)
        if WHEN.search(name):
            return self._same(self._chance.choice(TIMES))
        return self._same(self._text())

    def _identifier(self, name: str) -> Pair:
        """Return an identifier, mostly of the kind that the parameter is meant for."""
        fitting = [pair for pair in self._identifiers if pair.fits(name)] if self._chance.random() < 0.8 else []
        return self._chance.choice(fitting or self._same_in_both())

    def _same_in_both(self) -> list[Pair]:
        """Return the identifiers that may stand anywhere, all of hers among them.

        One that the worlds call differently names a thing of the asker's, and only that: as a text, it would be another
        text in each, with other words, tokens and neighbours.
        """
        return [pair for pair in self._identifiers if pair.is_same]

    def _number(self, kind: str, schema: Mapping[str, Any]) -> float | int:
        low, high = schema.get("minimum", 0), min(schema.get("maximum", NUMBERS_AT_MOST), NUMBERS_AT_MOST)
        return self._chance.randint(low, high) if kind == "integer" else round(self._chance.uniform(low, high), 2)

    def _length(self, schema: Mapping[str, Any]) -> int:
        return self._chance.randint(schema.get("minItems", 0), min(schema.get("maxItems", 3), 3))

    def _text(self) -> str:
        joined = self._chance.choice((" ", " ", " OR ", " AND ", "", ' "'))
        return joined.join(self._chance.choices(self._words, k=self._chance.randint(1, 4)))

    @staticmethod
    def _same(value: Any) -> tuple[Any, Any]:
        return value, value
