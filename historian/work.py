"""What the historian is asked to do: the payload of a job, read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from historian.correction import Correction
from historian.errors import InvalidInputError
from historian.job import Job
from historian.model import Scope
from historian.session import Session
from historian.turn import Turn

END = "end"
"""The kind of job that a closed turn makes."""
APPEND = "append"
"""The kind of job that `shiguan log` makes: messages to be recorded."""
CAPTURE = "capture"
"""The kind of job that an exchange makes which is to be considered: whether it holds anything worth remembering."""


def scope_payload(scope: Scope) -> dict[str, Any]:
    """Return a scope as a JSON object."""
    return {"user_id": scope.user_id, "group_id": scope.group_id, "groups": sorted(scope.groups)}


def scope_from(payload: Mapping[str, Any]) -> Scope:
    """Return the scope that `scope_payload` wrote."""
    return Scope(payload["user_id"], payload["group_id"], frozenset(payload["groups"]))


def job_payload(scope: Scope, session: Session, turn: Turn, mark: str, now: datetime) -> dict[str, Any]:
    """Return all that the historian needs to process the turn later, as a JSON object."""
    return {
        "scope": scope_payload(scope),
        "session": session.as_payload(),
        "turn": turn.as_payload(),
        "fingerprint": mark,
        "ended_at": session.at(now).isoformat(),
    }


def raw_messages(payload: Mapping[str, Any]) -> list[Any]:
    """Return the messages, not checked yet, that a job of kind `append` brings: several, or one."""
    several = payload.get("messages")
    return several if isinstance(several, list) else [payload["message"]]


def acknowledged_at(job: Job) -> datetime:
    """Return when a job was taken on, aware; the beginning of 1970 where its file was damaged and does not say."""
    try:
        at = datetime.fromisoformat(job.created_at)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TurnWork:
    """One closed turn waiting for the historian."""

    job_id: str
    scope: Scope
    session: Session
    turn: Turn
    mark: str
    ended_at: datetime
    echoes: frozenset[int]
    corrects: tuple[Correction, ...] = ()

    @property
    def request_id(self) -> str:
        """The host's request id, or the job id where it has none."""
        return self.session.request_id or self.job_id

    @property
    def sender_id(self) -> str:
        """Who spoke: named by the host, else the user of the scope."""
        return self.session.sender_id or self.scope.user_id

    @classmethod
    def read(cls, job_id: str, payload: Mapping[str, Any]) -> TurnWork:
        """Return the work that a job of kind `end` describes.

        Raises:
            InvalidInputError: it describes none; trying again would not help.
        """
        try:
            return cls(
                job_id=job_id,
                scope=scope_from(payload["scope"]),
                session=Session(**payload["session"]),
                turn=Turn.from_payload(payload["turn"]),
                mark=payload["fingerprint"],
                ended_at=datetime.fromisoformat(payload["ended_at"]),
                echoes=frozenset(payload.get("echoes", ())),
                corrects=tuple(Correction.read(one) for one in payload.get("corrects", ())),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidInputError("The payload of the job is not a closed turn; discard the job.") from None
