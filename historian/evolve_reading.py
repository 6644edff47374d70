"""What a model said about a group's statements, checked action by action: what cannot be done is refused alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from historian.evolve_check import StatementCheck
from historian.group_model import Refusal
from historian.group_page import Page
from historian.group_versions import Step, Version
from historian.identity_numbers import figures
from historian.injection import looks_like_instruction
from historian.sameness import statement_key
from historian.text import drop_unusable, says_nothing

if TYPE_CHECKING:
    from historian.evolve_answer import ActionSaid

MAX_STATEMENT = 500
MAX_REASON = 500
_KINDS = ("keep", "update", "create", "delete")

_Refused = str


@dataclass(slots=True)
class Reading:
    """The steps that follow from one answer, what was refused, and the statements without an action."""

    steps: list[Step] = field(default_factory=list[Step])
    refused: list[Refusal] = field(default_factory=list[Refusal])
    unanswered: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])


class ActionReader:
    """Reads the actions of one answer over one page. `others` are active statements that the page does not show."""

    def __init__(self, page: Page, others: Sequence[Version] = ()) -> None:
        self._page = page
        self._check = StatementCheck(page)
        self._moment = page.moment
        self._fates: dict[str, Step | None] = {}
        self._keys = {statement_key(one.statement): one for one in [*others, *page.statements]}
        self._shown = frozenset(one.memory_id for one in page.statements)
        self._reading = Reading()
        people = page.people
        self._given = "\n".join(
            [*people.names.values(), *people.ids, *(stored.message.content for stored in page.messages)]
        )

    def read(self, actions: Sequence[ActionSaid]) -> Reading:
        """Return what follows. Of two actions for one statement the first counts."""
        ordered = [
            *(one for one in actions if _kind(one) != "create"),
            *(one for one in actions if _kind(one) == "create"),
        ]
        for said in ordered:
            reason = self._take(said)
            if reason:
                target = self._page.statement(said.old_id) if said.old_id.strip() else None
                self._reading.refused.append(
                    Refusal(_kind(said) or "nothing", target.memory_id if target else None, reason)
                )
        self._reading.steps = [step for step in self._fates.values() if step is not None]
        self._reading.unanswered = [one.memory_id for one in self._page.statements if one.memory_id not in self._fates]
        return self._reading

    def _take(self, said: ActionSaid) -> _Refused | None:
        kind = _kind(said)
        if kind not in _KINDS:
            return "The action is none of keep, update, create and delete."
        ids = self._evidence(said)
        if kind == "create":
            return self._create(said, ids)
        head = self._page.statement(said.old_id)
        if head is None:
            return "It names a statement that was not given."
        if head.memory_id in self._fates:
            return "The statement had an action already."
        return {"keep": self._keep, "delete": self._delete, "update": self._update}[kind](head, said, ids)

    def _keep(self, head: Version, said: ActionSaid, ids: Sequence[str]) -> _Refused | None:
        self._fates[head.memory_id] = self._moment.confirm(head, self._reason(said), ids)
        return None

    def _delete(self, head: Version, said: ActionSaid, ids: Sequence[str]) -> _Refused | None:
        reason = self._reason(said)
        if not reason:
            return "A statement is not deleted without a reason."
        self._fates[head.memory_id] = self._moment.delete(head, reason, ids)
        return None

    def _update(self, head: Version, said: ActionSaid, ids: Sequence[str]) -> _Refused | None:
        text = self._text(said.statement)
        wrong = self._wrong(text, ids, [head.statement])
        if wrong:
            return wrong
        key = statement_key(text)
        same = self._keys.get(key)
        if same is not None and same.memory_id != head.memory_id:
            return "Another statement says the same."
        if same is not None:
            self._fates[head.memory_id] = self._moment.confirm(head, self._reason(said), ids)
            return None
        if not ids and not self._reason(said):
            return "A statement is not changed without a reason or a message behind it."
        self._keys[key] = head
        self._fates[head.memory_id] = self._moment.update(head, text, self._tags(said), self._reason(said), ids)
        return None

    def _create(self, said: ActionSaid, ids: Sequence[str]) -> _Refused | None:
        text = self._text(said.statement)
        wrong = self._wrong(text, ids, [])
        if wrong:
            return wrong
        if not ids:
            return "A new statement needs a message behind it."
        same = self._keys.get(statement_key(text))
        if same is not None:
            return self._confirmed_instead(same, said, ids)
        step = self._moment.create(text, self._tags(said), self._reason(said), ids)
        self._keys[statement_key(text)] = step.after
        self._fates[step.after.memory_id] = step
        return None

    def _confirmed_instead(self, same: Version, said: ActionSaid, ids: Sequence[str]) -> _Refused | None:
        """Let a new statement that is there already confirm the one that there is, where that was to be kept."""
        if same.memory_id in self._shown and self._fates.get(same.memory_id) is None:
            self._fates[same.memory_id] = self._moment.confirm(same, self._reason(said), ids)
            return None
        return "Another statement says the same."

    def _evidence(self, said: ActionSaid) -> list[str]:
        found = [self._page.message(name) for name in said.message_ids]
        unknown = sum(one is None for one in found)
        if unknown:
            self._reading.notes.append(f"{unknown} named messages were not among those given and do not count.")
        return list(dict.fromkeys(one for one in found if one is not None))

    def _text(self, text: str) -> str:
        return self._page.people.shown(" ".join(drop_unusable(text).split()))

    def _reason(self, said: ActionSaid) -> str:
        text = self._text(said.change_reason)[:MAX_REASON]
        return "" if looks_like_instruction(text) else text

    def _tags(self, said: ActionSaid) -> list[str]:
        tags = [self._text(tag)[:40] for tag in said.tags]
        return [tag for tag in tags if not looks_like_instruction(tag)]

    def _wrong(self, text: str, ids: Sequence[str], earlier: Sequence[str]) -> _Refused | None:
        if says_nothing(text):
            return "The statement is empty."
        if len(text) > MAX_STATEMENT:
            return f"The statement is longer than {MAX_STATEMENT} characters."
        if looks_like_instruction(text):
            return "The statement gives orders instead of stating something."
        given = "\n".join([*earlier, self._given])
        invented = sorted(one for one in figures(text).ids if not _stands(one, given))
        if invented:
            return f"The statement has an id that no message has: {invented[0]}."
        return self._check.wrong(text, ids, earlier)


def _stands(identifier: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(identifier)}(?![A-Za-z0-9_])", text) is not None


def _kind(said: ActionSaid) -> str:
    return said.action.strip().lower()
