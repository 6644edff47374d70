"""Taking what is forgotten out of jobs that wait or have failed: the words are in their files already."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from historian.errors import ShiguanError
from historian.forget_selection import Selection
from historian.forget_texts import only_there, told
from historian.intake import message_from
from historian.job import Job
from historian.messages import epoch_ms
from historian.model import Message, Scope
from historian.stand_ins import same_text
from historian.work import APPEND, CAPTURE, END, TurnWork, raw_messages, scope_from
from historian.zones import load_zone

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^u]))", re.DOTALL)
_CONTROLS = dict.fromkeys("bfnrt", " ")
_SHORTEST_ID = 6
_ENOUGH = 2
"""Terms that a text shares with a forgotten one and that suffice, where nobody can say whose it is."""


@dataclass(frozen=True, slots=True)
class JobCleaner:
    """Knows what is forgotten: by selection, ids and contents of messages, and for whom."""

    scope: Scope
    selection: Selection
    message_ids: frozenset[str]
    contents: tuple[str, ...]

    def means_original(self, data: bytes) -> bool:
        """Say whether a file that was no job tells of what is forgotten; where that is not clear, it does.

        Nobody can say whose such a file is, and half of a text tells enough.
        """
        text = _readable(data)
        whose = self.scope.group_id if self.scope.group_id is not None else self.scope.user_id
        if self.selection.everything and whose in text:
            return True
        if any(len(one) >= _SHORTEST_ID and one in text for one in self.message_ids):
            return True
        if self.selection.sought.may_be_in(text):
            return True
        terms = told(text)
        return any(len(wanted & terms) >= min(_ENOUGH, len(wanted)) for one in self.contents if (wanted := told(one)))

    def clean(self, job: Job) -> Job | None:
        """Return a job without what is forgotten, None where nothing of it is left or it is all about that."""
        try:
            scope = scope_from(job.payload["scope"])  # type: ignore[arg-type]
        except (KeyError, TypeError):
            return job
        if not self._concerns(scope):
            return job
        if self.selection.everything:
            return None
        if job.kind == APPEND:
            return self._append(job)
        if job.kind == CAPTURE:
            return self._exchange(job)
        return self._turn(job) if job.kind == END else job

    def _exchange(self, job: Job) -> Job | None:
        ids: Any = job.payload.get("message_ids")
        kept = [one for one in ids if one not in self.message_ids] if isinstance(ids, list) else []
        if kept == ids:
            return job
        return job.but(payload={**job.payload, "message_ids": kept}) if kept else None

    def _concerns(self, scope: Scope) -> bool:
        """In private it is all that the user said, in groups too; in a group it is that group."""
        if self.scope.group_id is not None:
            return scope.group_id == self.scope.group_id
        return scope.user_id == self.scope.user_id

    def _append(self, job: Job) -> Job | None:
        try:
            raw = raw_messages(job.payload)
        except KeyError:
            return job
        kept = [one for one in raw if not self._means(one, job.payload.get("timezone"))]
        if len(kept) == len(raw):
            return job
        return job.but(payload={**job.payload, "messages": kept}) if kept else None

    def _means(self, raw: object, timezone: Any) -> bool:
        try:
            message = message_from(raw, load_zone(timezone))
        except (ShiguanError, TypeError, AttributeError):
            return False
        return message.message_id in self.message_ids or self._fits(message)

    def _fits(self, message: Message) -> bool:
        chosen = self.selection
        if not chosen.is_by_filter or not chosen.covers_time(epoch_ms(message.ts)):
            return False
        if chosen.conversation_id not in (None, message.conversation_id):
            return False
        return chosen.fits(message.content)

    def _turn(self, job: Job) -> Job | None:
        try:
            work = TurnWork.read(job.job_id, job.payload)
        except ShiguanError:
            return job
        turn = work.turn
        source = turn.source_message or ""
        said = bool(source) and self._quotes(source)
        if said or self._means_turn(work) or f"end:{job.job_id}" in self.message_ids:
            return None
        named = any(one in self.message_ids for one in turn.message_ids)
        if named and self.message_ids.issuperset(turn.message_ids):
            return None
        recent = [line.content for line in turn.recent_messages if not self._quotes(line.content)]
        if named or len(recent) < len(turn.recent_messages):
            foreign = only_there(self.contents, [source, *recent])
            return self._without(job, lambda text: self._seeks(work, text) or bool(foreign & told(text)))
        return self._without(job, partial(self._seeks, work))

    def _means_turn(self, work: TurnWork) -> bool:
        """Whether a turn as a whole is meant: where nothing is sought, or the one message that it rests on has it."""
        if not self._is_in_place(work):
            return False
        source = work.turn.source_message or ""
        return not self.selection.query or (not work.turn.message_ids and self.selection.fits(source))

    def _is_in_place(self, work: TurnWork) -> bool:
        chosen = self.selection
        is_here = chosen.conversation_id in (None, work.session.conversation_id)
        return chosen.is_by_filter and is_here and chosen.covers_time(epoch_ms(work.ended_at))

    def _seeks(self, work: TurnWork, text: str) -> bool:
        return bool(self.selection.query) and self._is_in_place(work) and self.selection.fits(text)

    def _quotes(self, content: str) -> bool:
        return any(same_text(content, one) for one in self.contents)

    def _without(self, job: Job, speaks: Callable[[str], bool]) -> Job | None:
        """Return a turn without the texts that speak of what is forgotten; None where no statement is left of it."""
        turn: dict[str, Any] = dict(job.payload["turn"])  # type: ignore[call-overload]
        turn["observations"] = ["" if speaks(one) else one for one in turn["observations"]]
        turn["memo"] = "" if speaks(turn["memo"]) else turn["memo"]
        turn["message_ids"] = [one for one in turn["message_ids"] if one not in self.message_ids]
        turn["recent_messages"] = [
            line
            for line in turn["recent_messages"]
            if not speaks(line["content"]) and not self._quotes(line["content"])
        ]
        if turn.get("source_message") and speaks(turn["source_message"]):
            turn["source_message"] = None
        if turn == job.payload["turn"]:
            return job
        if not any(turn["observations"]) and not turn["memo"]:
            return None
        return job.but(payload={**job.payload, "turn": turn})


def _readable(data: bytes) -> str:
    """Return bytes as a text, with the escapes of JSON resolved; control characters are blanks."""
    text = data.decode("utf-8", "replace")
    found = _ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else _CONTROLS.get(one[2], one[2]), text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # halves of one character meet
