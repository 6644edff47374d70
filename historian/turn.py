"""A closed turn: what an agent hands to `end`, checked, and the receipt it gets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TypedDict

from historian.errors import InvalidInputError
from historian.ids import normalise_id
from historian.model import ROLES, Role, Scope
from historian.options import HistorianOptions
from historian.session import Session
from historian.text import clip, drop_unusable, require_text, says_nothing, unframe

MAX_OBSERVATIONS = 32
MAX_STATEMENT_LENGTH = 4_000
"""Characters of a memo or of one observation."""
MAX_EVIDENCE = 200
MAX_RECENT = 12


@dataclass(frozen=True, slots=True)
class RecentMessage:
    """One earlier message, for disambiguation only; it is never stored with an event."""

    content: str
    role: Role | None = None
    sender_id: str | None = None
    sender_name: str | None = None
    ts: str | None = None


class TurnFields(TypedDict, total=False):
    """What `end` takes, as it comes from outside; `Turn.checked` says what is wrong with it."""

    memo: str
    observations: Sequence[object]
    force: bool
    source_message: str | None
    recent_messages: Sequence[object]
    message_ids: Sequence[object]
    location: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """What `end` was given. Make it with `Turn.checked`. A blank observation keeps its place and is passed over."""

    memo: str = ""
    observations: tuple[str, ...] = ()
    force: bool = False
    source_message: str | None = None
    recent_messages: tuple[RecentMessage, ...] = ()
    message_ids: tuple[str, ...] = ()
    location: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remember: then nothing is queued."""
        return not self.memo and not any(self.observations)

    @classmethod
    def checked(
        cls,
        options: HistorianOptions,
        *,
        memo: str = "",
        observations: Sequence[object] = (),
        force: bool = False,
        source_message: str | None = None,
        recent_messages: Sequence[object] = (),
        message_ids: Sequence[object] = (),
        location: str | None = None,
    ) -> Turn:
        """Return the turn with every field trimmed, bounded and clipped as the design says.

        Raises:
            InvalidInputError: a field has the wrong type, is too long or holds unusable characters.
        """
        source = clip(drop_unusable(unframe(source_message or "")).strip(), options.source_message_max_len)
        return cls(
            memo=require_text(memo, "memo", limit=MAX_STATEMENT_LENGTH),
            observations=_observations(observations),
            force=force,
            source_message=source or None,
            recent_messages=_recent(recent_messages, options.recent_message_line_max_len),
            message_ids=_message_ids(message_ids),
            location=require_text(location or "", "location", limit=200) or None,
        )

    def memo_only(self) -> Turn:
        """Return the turn without anything but its memo."""
        return Turn(memo=self.memo)

    def as_payload(self) -> dict[str, object]:
        """Return the turn as a JSON object for the queue."""
        payload: dict[str, object] = {name: getattr(self, name) for name in self.__slots__}
        payload["recent_messages"] = [asdict(message) for message in self.recent_messages]
        return payload

    @classmethod
    def from_payload(cls, payload: dict[str, object]) -> Turn:
        """Return the turn that `as_payload` wrote."""
        raw = json.loads(json.dumps(payload))
        recent = tuple(RecentMessage(**line) for line in raw.pop("recent_messages"))
        observations, message_ids = tuple(raw.pop("observations")), tuple(raw.pop("message_ids"))
        return cls(**raw, recent_messages=recent, observations=observations, message_ids=message_ids)


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing the gate found in an observation, told to the agent that wrote it."""

    index: int
    kind: str
    found: str
    hint: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `end` answers. `job_id` is None when there was nothing to remember; `note` says what was not kept."""

    job_id: str | None
    queued: bool
    duplicate: bool
    gate: tuple[Advice, ...] = field(default=())
    note: str = ""


def fingerprint(scope: Scope, session: Session, turn: Turn) -> str:
    """Return what makes two `end` calls the same: whose, which request, and the content."""
    request = (session.request_id, session.end_seq)
    content = (turn.memo, turn.observations, turn.source_message, turn.message_ids, turn.location, turn.force)
    document = json.dumps([scope.owner.key, scope.user_id, request, content])
    return hashlib.sha256(document.encode()).hexdigest()


def _observations(raw: Sequence[object]) -> tuple[str, ...]:
    if len(raw) > MAX_OBSERVATIONS:
        raise InvalidInputError(
            f"observations holds {len(raw)} entries; send at most {MAX_OBSERVATIONS}, one new fact each."
        )
    kept: list[str] = []
    for index, text in enumerate(raw):
        if not isinstance(text, str):
            raise InvalidInputError(f"observations[{index}] is not a text; send each fact as one sentence.")
        checked = require_text(text, f"observations[{index}]", limit=MAX_STATEMENT_LENGTH)
        kept.append("" if says_nothing(checked) else checked)
    return tuple(kept)


def _message_ids(raw: Sequence[object]) -> tuple[str, ...]:
    if len(raw) > MAX_EVIDENCE:
        raise InvalidInputError(f"message_ids holds {len(raw)} entries; send at most {MAX_EVIDENCE}.")
    ids = [normalise_id(str(item), f"message_ids[{index}]") for index, item in enumerate(raw)]
    return tuple(dict.fromkeys(ids))


def _recent(raw: Sequence[object], limit: int) -> tuple[RecentMessage, ...]:
    lines = [_recent_line(item, index, limit) for index, item in enumerate(raw)]
    return tuple(line for line in lines if line.content)[-MAX_RECENT:]


def _recent_line(item: object, index: int, limit: int) -> RecentMessage:
    if isinstance(item, str):
        return RecentMessage(clip(drop_unusable(unframe(item)).strip(), limit))
    if not isinstance(item, dict) or not isinstance(item.get("content"), str):
        raise InvalidInputError(f"recent_messages[{index}] must be a text or an object with a text `content`.")
    known = {key: value for key, value in item.items() if key in ("sender_id", "sender_name", "ts")}
    role = item.get("role")
    return RecentMessage(
        content=clip(drop_unusable(unframe(item["content"])).strip(), limit),
        role=role if role in ROLES else None,
        **{key: drop_unusable(str(value)) for key, value in known.items() if value is not None},
    )
