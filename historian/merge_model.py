"""Asks the chat model what becomes of a profile, and again with what was wrong, until the answer passes its checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from historian.asking import Asking, Attempt
from historian.chat import Chat
from historian.errors import UnusableAnswerError
from historian.fold import has_cjk
from historian.merge_check import PlanCheck
from historian.merge_plan import Page, Plan
from historian.merge_problems import Problem
from historian.merge_reading import read_answer
from prompts import Prompt, PromptLibrary


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan, and why a person should look at it before it is carried out: clauses, or nothing."""

    plan: Plan
    suspicions: tuple[str, ...] = ()


class MergeModel:
    """The chat model in the role `merge`. Blocks, up to the time-out of the model for each try; thread-safe."""

    def __init__(self, chat: Chat, prompts: PromptLibrary, retries: Callable[[], int]) -> None:
        self._chat = chat
        self._prompts = prompts
        self._asking = Asking(chat, prompts, "merge", retries)

    @property
    def configured(self) -> bool:
        """Whether a model is set."""
        return self._asking.configured

    def propose(self, page: Page) -> Proposal:
        """Return what the model makes of the page.

        Raises:
            UnusableAnswerError: no answer passed the checks.
            RetryableModelError, PermanentModelError: as `Chat`.
        """
        language = "zh" if 2 * sum(has_cjk(one.text) for one in page.statements) >= len(page.statements) else "en"
        last: list[tuple[Plan, list[Problem]]] = []

        def attempt(prompt: Prompt) -> Attempt:
            last.clear()
            plan, problems, wrote = self._try(prompt, page, language)
            last.append((plan, problems))
            return Attempt(wrote, list(dict.fromkeys(problem.say(language) for problem in problems)))

        if self._asking.passes(self._prompt(page, language), attempt):
            return Proposal(last[-1][0])
        for plan, problems in last:
            suspicions = tuple(dict.fromkeys(problem.reason() for problem in problems if problem.is_suspicious))
            if suspicions:
                return Proposal(plan, suspicions)
        raise UnusableAnswerError("The chat model did not merge the profile as it was asked to.", kind="invalid")

    def _try(self, prompt: Prompt, page: Page, language: str) -> tuple[Plan, list[Problem], str]:
        from historian.merge_answer import MergeAnswer  # pydantic, which a hook does not need

        answer = self._chat.answer("merge", prompt, MergeAnswer)
        plan, problems = read_answer(answer.value, page, language)
        problems += PlanCheck(page, language).problems(plan)
        return plan, problems, answer.text

    def _prompt(self, page: Page, language: str) -> Prompt:
        mark = "（手写，必须保留）" if language == "zh" else " (written by hand, must be kept)"
        return self._prompts.load("merge", language).render(
            entity=f"{page.entity.kind} {page.entity.id}",
            name=page.name or "",
            lines=[f"{line.text}{mark if line.hand_written else ''}" for line in page.lines],
            statements=[statement.text for statement in page.statements],
            today=page.now.date().isoformat(),
        )
