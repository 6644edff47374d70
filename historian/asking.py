"""Asks a chat model until an answer passes its checks: again each time with what it wrote and what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from historian.chat import Chat, Role, is_away
from historian.errors import ModelError, NotConfiguredError, RetryableModelError, UnusableAnswerError
from prompts import Prompt, PromptLibrary

Trouble = Literal["outage", "refused", "unusable"]
"""Why a model gave nothing: it is away, it refuses or is set up wrongly, or no answer of it passed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a model wrote, and what is wrong with it: sentences for the model, none where the answer passes."""

    wrote: str
    violations: Sequence[str] = ()


Try = Callable[[Prompt], Attempt]
"""Asks once with a prompt, judges the answer, and keeps what is good of it. May raise whatever `Chat` raises."""


class Asking:
    """Asks the model of one role, and again with the prompt `<role>.retry`. Blocks; thread-safe.

    `retries` says how often it is asked again; it is read anew at each question.
    """

    def __init__(self, chat: Chat, prompts: PromptLibrary, role: Role, retries: Callable[[], int]) -> None:
        self._chat = chat
        self._prompts = prompts
        self._role: Role = role
        self._retries = retries

    @property
    def configured(self) -> bool:
        """Whether a model is set for the role."""
        return self._chat.configured(self._role)

    def passes(self, first: Prompt, attempt: Try) -> bool:
        """Return whether an answer passed. An unusable answer is one that did not.

        Raises:
            RetryableModelError, PermanentModelError, ModelSettingsError, NotConfiguredError: as `Chat`, at once.
        """
        return self._passes(first, attempt, patient=False)

    def trouble(self, first: Prompt, attempt: Try) -> Trouble | None:
        """Return None where an answer passed, else why not; never raises a ModelError.

        A failure that may be chance counts as an attempt; an endpoint that is out of order is not asked again.
        """
        try:
            return None if self._passes(first, attempt, patient=True) else "unusable"
        except RetryableModelError:
            return "outage"
        except (ModelError, NotConfiguredError):
            return "refused"

    def _passes(self, first: Prompt, attempt: Try, *, patient: bool) -> bool:
        prompt = first
        for _ in range(1 + self._retries()):
            try:
                made = attempt(prompt)
            except UnusableAnswerError as error:
                made = Attempt(error.wrote, error.violations or [str(error)])
            except RetryableModelError as error:
                if not patient or is_away(self._chat, self._role, error):
                    raise
                continue
            if not made.violations:
                return True
            retry = self._prompts.load(f"{self._role}.retry", first.language)
            prompt = first.again(made.wrote, retry.render(violations=made.violations))
        return False
