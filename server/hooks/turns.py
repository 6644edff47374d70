"""From a transcript's end to jobs: the messages are recorded, and the turn is closed with a memo."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from historian.clock import SystemClock
from historian.errors import InvalidInputError
from historian.guard import Guard
from historian.intake import message_from
from historian.queue import Queue
from historian.session import Session
from historian.text import clip, drop_unusable
from historian.turn import Turn, fingerprint
from historian.work import APPEND, END, job_payload, scope_payload
from historian.zones import load_zone
from server.bare import BareSettings, credentials_mode
from server.commands.common import config_in_force, scope_of
from server.folder import QUEUES_NAME, make_folder

BATCH = 200
"""Messages that one job records."""
CONSIDERED = 40
"""Newest messages of a look that the historian considers: more are years of chats, which `shiguan import` is for."""
ASKED, ANSWERED = 160, 400
"""Characters of the question and of the answer in a memo."""
EVIDENCE = 20


class TurnWriter:
    """Writes jobs of one session for one person. No owner needs to run."""

    def __init__(self, settings: BareSettings, session_id: str) -> None:
        self._settings = settings
        self._session_id = session_id
        self._zone = load_zone(settings.timezone)
        self._scope = scope_of(settings)
        self._guard = Guard(credentials_mode(settings.data_dir, os.environ, config_in_force))

    def write(self, messages: Sequence[dict[str, Any]], *, consider: bool, answer: str | None) -> int:
        """Queue the messages, and with `answer` a memo of the turn; return how many messages.

        `answer` is what the agent said last; where it is blank, that is told by the messages.

        Raises:
            StoreError: the queue cannot be written.
        """
        good = list(self._good(messages))
        if not good:
            return 0
        make_folder(self._settings.data_dir)
        queue = Queue(self._settings.data_dir / QUEUES_NAME, clock=SystemClock())
        try:
            for payload in self._appends(good, consider=consider):
                queue.enqueue(APPEND, self._scope.owner.key, payload)
            if answer is not None and (memo := self._memo(good, answer)):
                queue.enqueue(END, self._scope.owner.key, self._closing(good, memo))
        finally:
            queue.close()
        return len(good)

    def _good(self, messages: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the messages that can be recorded; credentials in them are masked."""
        for raw in messages:
            try:
                message: dict[str, Any] = self._guard.value(raw, "A message")
                message_from(message, self._zone)
            except InvalidInputError:
                continue
            yield message

    def _appends(self, messages: list[dict[str, Any]], *, consider: bool) -> Iterator[dict[str, object]]:
        whose: dict[str, object] = {"scope": scope_payload(self._scope), "timezone": self._settings.timezone}
        newest = max(0, len(messages) - CONSIDERED) if consider else len(messages)
        for start in range(0, newest, BATCH):
            yield whose | {"messages": messages[start : min(start + BATCH, newest)]}
        if newest < len(messages):
            yield whose | {"messages": messages[newest:], "consider": True, "name": self._settings.name}

    def _closing(self, messages: list[dict[str, Any]], memo: str) -> dict[str, object]:
        """Return the job that closes the turn. Its request id follows from the messages: hooks may come twice."""
        last = str(messages[-1]["message_id"])
        session = Session(
            timezone=self._settings.timezone,
            conversation_id=self._session_id,
            request_id=f"hook:{last}",
            end_seq=0,
            sender_name=self._settings.name,
        )
        turn = Turn(memo=memo, message_ids=tuple(str(one["message_id"]) for one in messages[-EVIDENCE:]))
        now = datetime.now(self._zone)
        return job_payload(self._scope, session, turn, fingerprint(self._scope, session, turn), now)

    def _memo(self, messages: list[dict[str, Any]], answer: str) -> str:
        """Return what was asked last and what was answered, short."""
        asked = next((at for at in range(len(messages) - 1, -1, -1) if messages[at]["role"] == "user"), None)
        replies = [one["content"] for one in messages[(asked or 0) :] if one["role"] == "assistant"]
        said = _line(self._guard.text(answer, "The answer") or (replies[-1] if replies else ""), ANSWERED)
        if not said:
            return ""
        return said if asked is None else f"{_line(messages[asked]['content'], ASKED)} → {said}"


def _line(text: str, most: int) -> str:
    """Return a text on one line, cut where it is longer."""
    return clip(" ".join(drop_unusable(text).split()), most)
