"""What the host knows about a request besides whose it is: time zone, names, place, request id."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Session:
    """Facts bound to a request by the server, never by a model.

    `timezone` is an IANA name. `conversation_id` is None where the host does not say which conversation it is in;
    `request_id` is None where the host has none, and then the job id takes its place. `said_at` is when the request
    was made, ISO 8601 with an offset, where the host says so.
    """

    timezone: str = "UTC"
    conversation_id: str | None = None
    request_id: str | None = None
    end_seq: int | None = None
    sender_id: str | None = None
    sender_name: str | None = None
    agent_name: str | None = None
    group_name: str | None = None
    location: str | None = None
    said_at: str | None = None

    def at(self, now: datetime) -> datetime:
        """Return when the request was made: as the host says, else `now`."""
        return datetime.fromisoformat(self.said_at) if self.said_at is not None else now

    def as_payload(self) -> dict[str, object]:
        """Return the facts as a JSON object for the queue."""
        return {name: getattr(self, name) for name in self.__slots__}
