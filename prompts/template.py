"""A prompt in Markdown with front matter, and how it is filled."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from prompts.inert import bulleted, fenced, line, numbered
from prompts.prompt import Prompt, PromptError, Turn

Kind = Literal["text", "list", "items", "line", "number"]
"""`text`, `list` (numbered) and `items` (bulleted) become fenced blocks, `line` a quoted string, `number` digits."""

_HOLE = re.compile(r"\{\{ *([a-z_]+) *\}\}")
_HEADING = re.compile(r"^# (system|user|assistant)[ \t]*$", re.MULTILINE)
_NOTHING = {"zh": "（无）", "en": "(none)"}


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with holes, written `{{name}}`. `variables` are those that `render` takes, with their kinds."""

    name: str
    language: str
    version: str
    variables: Mapping[str, Kind]
    turns: tuple[Turn, ...]

    @property
    def holes(self) -> frozenset[str]:
        """The variables that stand in its text."""
        return frozenset(hole for turn in self.turns for hole in _HOLE.findall(turn.content))

    @property
    def subjects(self) -> frozenset[str]:
        """The variables that it is about: numbered lists, to which the numbers of an answer refer."""
        return frozenset(name for name, kind in self.variables.items() if kind == "list")

    def render(self, **variables: object) -> Prompt:
        """Return the prompt with every hole filled. Values are never read as part of the template.

        Raises:
            PromptError: a variable is missing, unknown, or not of its kind.
        """
        if variables.keys() != self.variables.keys():
            differing = ", ".join(sorted(variables.keys() ^ self.variables.keys()))
            raise PromptError(f"The prompt {self.name} is given too many or too few variables: {differing}.")
        filled = {name: self._filled(name, value) for name, value in variables.items()}
        turns = tuple(
            Turn(turn.role, _HOLE.sub(lambda hole: filled[hole.group(1)], turn.content)) for turn in self.turns
        )
        return Prompt(self.name, self.language, self.version, turns)

    def _filled(self, name: str, value: object) -> str:
        kind = self.variables[name]
        if kind == "number" and isinstance(value, int):
            return str(value)
        if kind in ("text", "line") and isinstance(value, str):
            if not value.strip():
                return _NOTHING[self.language]
            return line(value) if kind == "line" else fenced(name, value.strip())
        if kind in ("list", "items") and isinstance(value, Sequence) and not isinstance(value, str):
            texts = [str(one) for one in value]
            if not texts:
                return _NOTHING[self.language]
            return fenced(name, numbered(texts) if kind == "list" else bulleted(texts))
        raise PromptError(f"The variable {name} of the prompt {self.name} must be a {kind}.")


def parse_template(name: str, language: str, source: str) -> Template:
    """Return the template in `source`.

    Raises:
        PromptError: the front matter or the body is wrong; the sentence says what to correct.
    """
    meta, body = _split(name, source)
    variables = _variables(name, meta.get("variables") or {})
    turns = _turns(name, body)
    template = Template(name, language, str(meta.get("version", "")), variables, turns)
    unknown = sorted(template.holes - variables.keys())
    if unknown:
        raise PromptError(f"The prompt {name} has a hole {{{{{unknown[0]}}}}} that its variables do not declare.")
    return template


def _split(name: str, source: str) -> tuple[Mapping[str, object], str]:
    from frontmatter.default_handlers import YAMLHandler

    handler = YAMLHandler()
    if not handler.detect(source):
        raise PromptError(f"The prompt {name} must begin with front matter between two lines of ---.")
    yaml: Any = importlib.import_module("yaml")  # has no type stubs
    try:
        front, body = handler.split(source)
        meta: object = handler.load(front)
    except (ValueError, yaml.YAMLError):
        raise PromptError(f"The front matter of the prompt {name} cannot be read as YAML.") from None
    if not isinstance(meta, dict):
        raise PromptError(f"The front matter of the prompt {name} must name a version and variables.")
    return meta, body


def _variables(name: str, declared: object) -> Mapping[str, Kind]:
    if not isinstance(declared, dict):
        raise PromptError(f"The variables of the prompt {name} must be a table of names and kinds.")
    kinds: dict[str, Kind] = {}
    for variable, kind in declared.items():
        if kind not in get_args(Kind):
            raise PromptError(
                f"The variable {variable} of the prompt {name} must be one of {', '.join(get_args(Kind))}."
            )
        kinds[str(variable)] = kind
    return kinds


def _turns(name: str, body: str) -> tuple[Turn, ...]:
    before, *parts = _HEADING.split(body)
    if before.strip() or not parts:
        raise PromptError(f"The prompt {name} must consist of parts under '# system', '# user' or '# assistant'.")
    return tuple(
        Turn(role, content.strip())  # type: ignore[arg-type]
        for role, content in zip(parts[::2], parts[1::2], strict=True)
    )
