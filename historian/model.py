"""The nouns of the memory, as plain frozen values. Nothing here touches a disk, a clock or a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")

EntityType = Literal["user", "group"]

Reach = frozenset[str]
"""Audience keys that one request may read. A stored row is readable when one of its audiences is in the reach."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory a row belongs to: one person's private memory, or one group's."""

    kind: EntityType
    id: str

    @classmethod
    def of_key(cls, key: str) -> Owner:
        """Return the owner of which `key` is the key."""
        kind, _, identifier = key.partition(":")
        return cls("group" if kind == "group" else "user", identifier)

    @property
    def key(self) -> str:
        """`user:<id>` or `group:<id>`; also the audience key that reads all of it."""
        return f"{self.kind}:{self.id}"

    def audiences(self, sender_id: str | None) -> tuple[str, ...]:
        """Return the audience keys of a row of this owner: the owner, and for a group also the one who said it."""
        if self.kind == "group" and sender_id:
            return (self.key, f"author:{sender_id}")
        return (self.key,)


@dataclass(frozen=True, slots=True)
class Scope:
    """On whose behalf one request acts. Made by the server, never by a model; ids are normalised already."""

    user_id: str
    group_id: str | None = None
    groups: frozenset[str] = frozenset()

    @property
    def owner(self) -> Owner:
        """Where things said in this request belong."""
        return Owner("group", self.group_id) if self.group_id is not None else Owner("user", self.user_id)

    @property
    def readable_groups(self) -> frozenset[str]:
        """The groups this request may read: in a group request that group only."""
        return frozenset({self.group_id}) if self.group_id is not None else self.groups

    def reach(self, target_group_id: str | None = None) -> Reach:
        """Return what this request may read; a target narrows it and never widens it.

        Private request: own private rows and own rows said in groups; with a bound target group, all of that group.
        Group request: that group only. Anything else: nothing.
        """
        if target_group_id is not None:
            known = target_group_id in self.readable_groups
            return frozenset({Owner("group", target_group_id).key}) if known else frozenset()
        if self.group_id is not None:
            return frozenset({Owner("group", self.group_id).key})
        return frozenset({Owner("user", self.user_id).key, f"author:{self.user_id}"})

    @property
    def whole_reach(self) -> Reach:
        """Everything that this request may read of the record, with whichever target."""
        return self.reach().union(*(self.reach(group) for group in self.readable_groups))


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation, as it was said.

    `ts` is aware. `zone_known` is false where the source gave a bare `Z`, which says an instant but no local time.
    """

    message_id: str
    conversation_id: str
    role: Role
    content: str
    ts: datetime
    sender_id: str | None = None
    sender_name: str | None = None
    reply_to: str | None = None
    meta: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    zone_known: bool = True


ECHO = "echo"
"""Flag of an observation that only hands back what this server returned before."""


class Origin(StrEnum):
    """How an event's text came about."""

    OFFLINE = "offline"
    MODEL = "model"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class Event:
    """One statement that stays true without context, and what it rests on.

    `flags` names what could not be made absolute or was found wrong. `original` is the observation as it was given.
    `same_as` is the id of the earlier event that says the same; such an event is a receipt, not a second statement.
    """

    event_id: str
    owner: Owner
    request_id: str
    end_seq: int
    index: int
    text: str
    original: str
    timestamp: datetime
    timezone: str
    user_id: str
    group_id: str | None = None
    sender_id: str | None = None
    sender_name: str | None = None
    location: str | None = None
    request_type: str = "private"
    message_ids: tuple[str, ...] = ()
    has_new_info: bool = True
    perspective: str | None = None
    is_absolute: bool = True
    flags: tuple[str, ...] = ()
    origin: Origin = Origin.OFFLINE
    same_as: str | None = None
    schema_version: str = "final_v1"

    @property
    def is_echo(self) -> bool:
        """Whether it only hands back what this server returned before: no news and no confirmation."""
        return ECHO in self.flags
