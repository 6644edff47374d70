"""Asks the chat model how the statements of a group change, over one page of messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from historian.asking import Asking, Attempt
from historian.chat import Chat
from historian.errors import UnusableAnswerError
from historian.evolve_reading import ActionReader, Reading, says_something
from historian.group_page import Page
from historian.group_versions import Version
from prompts import Prompt, PromptLibrary

if TYPE_CHECKING:
    from historian.evolve_answer import ActionSaid


class EvolveModel:
    """The chat model in the role `evolve`. Blocks, up to the time-out of the model for each try; thread-safe."""

    def __init__(self, chat: Chat, prompts: PromptLibrary, retries: Callable[[], int]) -> None:
        self._chat = chat
        self._prompts = prompts
        self._asking = Asking(chat, prompts, "evolve", retries)

    def decide(self, page: Page, others: Sequence[Version] = ()) -> Reading:
        """Return what follows from the model's answer; `others` are active statements that the page does not show.

        An answer of which nothing can be done is asked for again; in the end what is refused is reported.

        Raises:
            UnusableAnswerError: no answer held an action in any shape.
            RetryableModelError, PermanentModelError, ModelSettingsError: as `Chat`.
        """
        last: list[Reading] = []

        def attempt(prompt: Prompt) -> Attempt:
            actions, bad_lines, wrote = self._ask(prompt)
            reading = ActionReader(page, others).read(actions)
            if bad_lines:
                lines = ", ".join(map(str, bad_lines[:20]))
                reading.notes.append(f"These lines of the model's answer were no action: {lines}.")
            if says_something(actions):
                last.append(reading)
            refused = [f"{one.action}: {one.reason}" for one in reading.refused]
            is_all = len(refused) == len(actions) and bool(refused)
            return Attempt(wrote, list(dict.fromkeys(refused)) if is_all else [])

        self._asking.passes(self._prompt(page), attempt)
        if not last:
            raise UnusableAnswerError("The chat model did not say what becomes of the statements.", kind="invalid")
        return last[-1]

    def _ask(self, prompt: Prompt) -> tuple[Sequence[ActionSaid], Sequence[int], str]:
        """Return the actions of an answer, the lines that were none, and what was written."""
        from historian.evolve_answer import EvolveAnswer
        from historian.evolve_lines import read_lines

        try:
            answer = self._chat.answer("evolve", prompt, EvolveAnswer)
        except UnusableAnswerError as error:
            lines = read_lines(error.wrote, cut_off=error.kind == "truncated")
            if not lines.actions:
                raise
            return lines.actions, lines.bad_lines, error.wrote
        if answer.repaired:  # of JSON Lines a repair may have taken one line for all of them
            lines = read_lines(answer.text)
            if len(lines.actions) > len(answer.value.actions):
                return lines.actions, lines.bad_lines, answer.text
        return answer.value.actions, (), answer.text

    def _prompt(self, page: Page) -> Prompt:
        return self._prompts.load("evolve", page.language).render(
            statements=page.statement_lines(),
            people=page.people.listed(page.language),
            messages=page.message_lines(),
            today=page.today,
        )
