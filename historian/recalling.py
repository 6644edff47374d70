"""Recalls: has the chat model look through the record within a budget, and gives back only what is proven."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from historian.errors import InvalidInputError, ModelError, NotConfiguredError
from historian.evidence_reading import MAX_QUERY, ScopedEvidence
from historian.fold import has_cjk
from historian.memory_view import Claim, Limits, MemoryView
from historian.narrowing import in_order
from historian.recall_budget import Budget
from historian.recall_looking import Found, Looker
from historian.recall_parts import Progress, RecallParts
from historian.recall_speaking import Said, Speaker
from historian.verifying import ViewVerifier
from historian.zones import load_zone

SHOWN = 10
"""Messages that stand for evidence where the model gave no point."""
UNUSABLE_IN_A_ROW = 3
CANCELLED = "The caller no longer waits."
SWITCHED_OFF = "The memory is switched off, so that no chat model was asked."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be recalled. Times are aware, `until` is exclusive; a role narrows to whose turns count."""

    question: str
    since: datetime | None = None
    until: datetime | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Recaller:
    """The recall loop. `recall` blocks as long as its budget lasts; thread-safe."""

    parts: RecallParts

    def recall(
        self,
        wish: Wish,
        evidence: ScopedEvidence,
        timezone: str,
        progress: Progress = lambda done, most, what: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> MemoryView:
        """Return what is remembered about a question, proven, and what is uncertain and why.

        A budget that is used up, or a model that fails, ends the search and not the answer: `stopped` says so. While
        the memory is switched off no model is asked.

        Raises:
            NotConfiguredError: no chat model is set for recall.
            InvalidInputError: the question is blank.
            StoreError: the record cannot be read.
        """
        if not self.parts.chat.configured("recall"):
            raise NotConfiguredError(
                "recall needs a chat model: set chat.model or chat.recall.model. Without one, search with "
                "semantic_search and lexical_search as the skill at skill://recall/SKILL.md says."
            )
        if not wish.question.strip():
            raise InvalidInputError("recall needs a question; say what is to be remembered.")
        since, until, notes = in_order(wish.since, wish.until)
        wish = replace(wish, question=wish.question[:MAX_QUERY], since=since, until=until)
        view = _Recall(self.parts, wish, evidence, timezone).run(progress, is_cancelled)
        return replace(view, notes=(*notes, *view.notes))


class _Recall:
    """One question."""

    def __init__(self, parts: RecallParts, wish: Wish, evidence: ScopedEvidence, timezone: str) -> None:
        self._parts = parts
        self._wish = wish
        self._zone = load_zone(timezone)
        self._looker = Looker(evidence)
        self._verifier = ViewVerifier(evidence, self._zone)
        self._budget = Budget(parts.options.now.recall)
        self._draft: Claim | None = None
        self._corrected = False
        self._unusable = 0

    def run(self, progress: Progress, is_cancelled: Callable[[], bool]) -> MemoryView:
        """Ask until the view is finished or a budget is used up."""
        most = self._parts.options.now.recall.rounds
        speaker = self._speaker()
        stopped = "" if self._parts.options.enabled else SWITCHED_OFF
        while not stopped:
            progress(self._budget.rounds, most, self._found.steps[-1])
            if is_cancelled():
                stopped = CANCELLED
                break
            if spent := self._budget.spent():
                stopped = f"The budget of {spent} was used up before the search was finished."
                break
            try:
                said = speaker.next()
            except ModelError as error:
                log.info("a recall ends early: %s", error)
                stopped = f"The search ended early: {error}"
                break
            if self._is_finished(said, speaker):
                break
            if self._unusable >= UNUSABLE_IN_A_ROW:
                stopped = "The chat model gave no usable answer, several times in a row."
        progress(most, most, "verified")
        return self._view(stopped)

    @property
    def _found(self) -> Found:
        return self._looker.found

    def _speaker(self) -> Speaker:
        wish, now = self._wish, self._parts.clock.now().astimezone(self._zone)
        found = self._looker.first(wish.question, now, wish.since, wish.until, wish.role)
        language = "zh" if has_cjk(wish.question) else "en"
        prompt = self._parts.prompts.load("recall", language).render(
            question=wish.question, now=now.isoformat(timespec="minutes"), found=found
        )
        return Speaker(self._parts.chat, prompt, self._budget)

    def _is_finished(self, said: Said, speaker: Speaker) -> bool:
        """Do what the model wants; say whether that was the end."""
        if said.view is not None:
            claim = said.view.claim()
            self._draft = claim if said.is_done or self._draft is None else self._draft.joined(claim)
        for look in said.looks:
            if self._budget.looks_left <= 0:
                speaker.answer(look, "No look is left; hand in the view.")
                continue
            self._budget.looks_left -= 1
            speaker.answer(look, self._looker.look(look.tool, look.arguments))
        self._unusable = 0 if said.looks or said.view is not None else self._unusable + 1
        if not said.is_done:
            if not said.looks:
                speaker.tell("Look further, or hand in the view as it was asked for.")
            return False
        return not self._asks_again(speaker)

    def _asks_again(self, speaker: Speaker) -> bool:
        """Have the model correct what it could not prove, once."""
        assert self._draft is not None
        if self._corrected or self._budget.spent():
            return False
        doubts = self._verifier.verify(replace(self._draft, uncertain=())).uncertain
        if not doubts:
            return False
        self._corrected = True
        wrong = [f"{doubt.text[:200]} – {doubt.reason}" for doubt in doubts]
        language = "zh" if has_cjk(self._wish.question) else "en"
        retry = self._parts.prompts.load("recall.retry", language).render(violations=wrong)
        speaker.tell(retry.turns[0].content)
        return True

    def _view(self, stopped: str) -> MemoryView:
        found, draft = self._found, self._draft or Claim(())
        window = found.window
        limits = Limits(
            since=window.since.isoformat() if window and window.since else None,
            until=window.until.isoformat() if window and window.until else None,
            role=window.role if window else None,
            messages_considered=len(found.messages),
        )
        also = [] if draft.points or draft.uncertain else [*found.messages][:SHOWN]
        claim = replace(draft, steps=tuple(found.steps))
        view = self._verifier.verify(claim, limits=limits, stopped=stopped, also=also)
        degraded = (*self._parts.options.switched_off(), *found.degraded)
        return replace(view, notes=self._notes(view, stopped), degraded=degraded)

    def _notes(self, view: MemoryView, stopped: str) -> tuple[str, ...]:
        """Say what an answer without points means: nothing there, nothing found, or nothing proven."""
        if view.points:
            return ()
        count = view.limits.messages_considered
        if not count:
            return ("No message in scope was found for this question.",)
        why = "was not finished" if stopped else "gave no proven point"
        return (
            f"The search {why}: {count} messages were considered, and what was found first stands in evidence. "
            "That is not to say that nothing is remembered.",
        )
