"""Lets a chat model phrase observations, and takes nothing from it that is not checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from historian import violations
from historian.asking import Asking, Attempt, Trouble
from historian.chat import Chat
from historian.gate import Finding, GateKind, inspect
from historian.identity import Drift, check_identity
from historian.identity_words import Material, check_wording
from historian.text import drop_unusable
from prompts import Prompt, PromptLibrary

_WRAPPED = re.compile(r"^(?:“([^“”]*)”|\"([^\"]*)\"|「([^「」]*)」)$")
_NUMBERED = re.compile(r"^\[\d{1,2}\]\s*")


@dataclass(frozen=True, slots=True)
class Task:
    """One observation to be phrased: what it may be made of, the people it may name, and the dates it may have.

    `lenient` says that what the gate finds is no fault.
    """

    observation: str
    material: Material
    known_names: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Brief:
    """What a model is told besides the observations. `facts` are times and names that were resolved in code."""

    language: Literal["zh", "en"]
    facts: tuple[str, ...]
    speaker: str
    group: str
    place: str
    said_at: str
    source_message: str
    recent_messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """What became of one observation: a `text` and what it still lacks; or none, because of drift or a trouble."""

    text: str | None = None
    findings: tuple[Finding, ...] = ()
    drifts: tuple[Drift, ...] = ()
    trouble: Trouble | None = None

    @property
    def is_good(self) -> bool:
        """Whether it can be taken as it is."""
        return self.text is not None and not self.findings


class Scribe:
    """Asks the model of the role `rewrite`. Blocks; thread-safe."""

    def __init__(self, chat: Chat, prompts: PromptLibrary, retries: Callable[[], int]) -> None:
        self._chat = chat
        self._prompts = prompts
        self._asking = Asking(chat, prompts, "rewrite", retries)

    @property
    def is_there(self) -> bool:
        """Whether a model is set at all."""
        return self._asking.configured

    def phrase(self, tasks: Sequence[Task], brief: Brief) -> list[Phrase]:
        """Return a phrase for each task. One call for all, and another one for each retry; never raises a ModelError.

        What is good stays as it is; what is not is asked for again with what was wrong and what the model wrote.
        """
        round_ = _Round(tasks, brief.language)
        trouble = self._asking.trouble(self._first(tasks, brief), lambda prompt: round_.take(*self._ask(prompt)))
        return round_.ended(trouble or "unusable")

    def _first(self, tasks: Sequence[Task], brief: Brief) -> Prompt:
        return self._prompts.load("rewrite", brief.language).render(
            observations=[task.observation for task in tasks],
            facts=brief.facts,
            speaker=brief.speaker,
            group=brief.group,
            place=brief.place,
            said_at=brief.said_at,
            source_message=brief.source_message,
            recent_messages=brief.recent_messages,
        )

    def _ask(self, prompt: Prompt) -> tuple[str, dict[int, str]]:
        """Return what the model wrote, and its statements by number; of two with one number the first counts."""
        from historian.shapes import Rewriting

        answer = self._chat.answer("rewrite", prompt, Rewriting)
        texts: dict[int, str] = {}
        for statement in answer.value.statements:
            texts.setdefault(statement.number, cleaned(statement.text))
        return answer.text, texts


class _Round:
    """The tasks of one job, and the best that was got for each so far."""

    def __init__(self, tasks: Sequence[Task], language: str) -> None:
        self._tasks = tasks
        self._language = language
        self._best: list[Phrase] = [Phrase() for _ in tasks]
        self.open = set(range(len(tasks)))

    def take(self, wrote: str, texts: dict[int, str]) -> Attempt:
        """Judge the statements of what is open; return what the model wrote and what was wrong."""
        complaints: list[str] = []
        for index in sorted(self.open):
            text = texts.get(index + 1)
            problem = _problem(text, self._tasks[index])
            if text is None or problem is not None:
                complaints.append(violations.other(index + 1, self._language, problem or "missing"))
                continue
            phrase = judged(text, self._tasks[index])
            self._keep(index, phrase)
            complaints += violations.about(index + 1, self._language, phrase.drifts, phrase.findings)
        return Attempt(wrote, complaints)

    def _keep(self, index: int, phrase: Phrase) -> None:
        best = self._best[index]
        fewer = best.text is None or (phrase.text is not None and len(phrase.findings) < len(best.findings))
        if (phrase.text is not None and fewer) or best.text is None:
            self._best[index] = phrase
        if self._best[index].is_good:
            self.open.discard(index)

    def ended(self, trouble: Trouble) -> list[Phrase]:
        """Return the phrases; what has no text has the trouble, save for drift that the model insisted on."""
        return [
            best if best.text is not None or (best.drifts and trouble == "unusable") else Phrase(trouble=trouble)
            for best in self._best
        ]


def judged(text: str, task: Task) -> Phrase:
    """Return a text with what the gate finds, or without it where it says something else than its observation."""
    findings = inspect(text)
    drifts = _drifts(text, task, task.material)
    if drifts and any(finding.kind is GateKind.TIME for finding in findings):
        # a relative time that was copied is no other statement: it only has to be made absolute
        said = replace(task.material, observation=task.observation)
        drifts = drifts if _drifts(text, task, said) else ()
    kept = () if task.lenient and not drifts else findings
    return Phrase(None if drifts else text, kept, drifts)


def _drifts(text: str, task: Task, material: Material) -> tuple[Drift, ...]:
    found = check_identity(
        material.observation,
        text,
        context=material.context,
        known_names=task.known_names,
        allowed=task.allowed,
    )
    return found or check_wording(material, text)


def cleaned(text: str) -> str:
    """Return a statement without the number, quotes and line breaks that models put around it."""
    line = _NUMBERED.sub("", " ".join(drop_unusable(text).split()))
    wrapped = _WRAPPED.match(line)
    return next(part for part in wrapped.groups() if part is not None).strip() if wrapped else line


def _problem(text: str | None, task: Task) -> str | None:
    if text is None:
        return "missing"
    if not text:
        return "empty"
    allowed = 2 * len(task.material.observation) + sum(map(len, task.material.given)) + 200
    return "too_long" if len(text) > allowed else None
