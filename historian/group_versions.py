"""What may become of one statement of a group: pure steps from one version to the next, each with its reason."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from historian.group_model import Action, Status
from historian.group_strength import NEW, StrengthRule, clamped

MAX_EVIDENCE = 200
"""Messages that one version names at most; the newest stay."""
MAX_TAGS = 8


@dataclass(frozen=True, slots=True)
class Version:
    """One version as it is stored. Times are epoch milliseconds; `strength` is that of the instant `strength_ms`."""

    memory_id: str
    version: int
    statement: str
    status: Status
    tags: tuple[str, ...]
    strength: float
    strength_ms: int
    created_ms: int
    updated_ms: int
    confirmed_ms: int
    change_reason: str
    message_ids: tuple[str, ...]
    run_id: str | None = None
    flags: tuple[str, ...] = ()

    @property
    def parent_version(self) -> int | None:
        """The version that this one follows; None for the first."""
        return self.version - 1 if self.version > 1 else None

    def encode(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def decode(cls, text: str) -> Version:
        """Return the version that `encode` wrote. Raises ValueError, KeyError or TypeError for anything else."""
        values: dict[str, Any] = json.loads(text)
        lists: dict[str, Any] = {name: tuple(map(str, values[name])) for name in ("tags", "message_ids", "flags")}
        return cls(**values | lists)


@dataclass(frozen=True, slots=True)
class Step:
    """One change of one memory: the version before (None for a new one) and after, and the new messages behind it."""

    action: Action
    before: Version | None
    after: Version
    reason: str
    message_ids: tuple[str, ...]
    at_ms: int
    run_id: str | None = None

    @property
    def is_new_version(self) -> bool:
        """Whether it adds a version to the chain."""
        return self.before is None or self.after.version > self.before.version


@dataclass(frozen=True, slots=True)
class Moment:
    """When steps are made, by which run (None: by a person), and how strength behaves."""

    now_ms: int
    rule: StrengthRule
    run_id: str | None = None

    def create(self, statement: str, tags: Sequence[str], reason: str, message_ids: Sequence[str]) -> Step:
        """Return the step that makes a new memory."""
        after = Version(
            memory_id=f"gm_{uuid.uuid4().hex[:20]}",
            version=1,
            statement=statement,
            status="active",
            tags=_tags(tags),
            strength=NEW,
            strength_ms=self.now_ms,
            created_ms=self.now_ms,
            updated_ms=self.now_ms,
            confirmed_ms=self.now_ms,
            change_reason=reason,
            message_ids=_joined((), message_ids),
            run_id=self.run_id,
        )
        return self._step("create", None, after, reason, message_ids)

    def update(
        self, head: Version, statement: str, tags: Sequence[str], reason: str, message_ids: Sequence[str]
    ) -> Step:
        """Return the step to a new version, which rests on the evidence of the one before too."""
        after = replace(
            self._strengthened(head) if message_ids else head,
            version=head.version + 1,
            statement=statement,
            status="active",
            tags=_tags(tags) or head.tags,
            updated_ms=self.now_ms,
            change_reason=reason,
            message_ids=_joined(head.message_ids, message_ids),
            run_id=self.run_id,
        )
        return self._step("update", head, after, reason, message_ids)

    def confirm(self, head: Version, reason: str, message_ids: Sequence[str]) -> Step | None:
        """Return the step that new messages strengthen a memory by; None where it rests on all of them already."""
        new = [one for one in message_ids if one not in head.message_ids]
        if not new:
            return None
        after = replace(self._strengthened(head), message_ids=_joined(head.message_ids, new))
        return self._step("keep", head, after, reason, new)

    def delete(self, head: Version, reason: str, message_ids: Sequence[str] = ()) -> Step:
        """Return the step that retires a memory; its versions stay."""
        after = replace(head, status="deprecated", updated_ms=self.now_ms, change_reason=reason)
        return self._step("delete", head, after, reason, message_ids)

    def restore(self, head: Version, earlier: Version | None, reason: str) -> Step:
        """Return the step that makes a memory active again, as a new version where it says what an earlier one did."""
        fresh = replace(
            head,
            status="active",
            strength=max(NEW, self.strength(head)),
            strength_ms=self.now_ms,
            updated_ms=self.now_ms,
            confirmed_ms=self.now_ms,
            change_reason=reason,
            run_id=self.run_id,
        )
        if earlier is None or earlier.version == head.version:
            return self._step("restore", head, fresh, reason, ())
        after = replace(
            fresh,
            version=head.version + 1,
            statement=earlier.statement,
            tags=earlier.tags,
            message_ids=earlier.message_ids,
            flags=earlier.flags,
        )
        return self._step("restore", head, after, reason, earlier.message_ids)

    def set_strength(self, head: Version, strength: float, reason: str) -> Step:
        """Return the step that gives a memory another strength, clamped to 0..1."""
        after = replace(head, strength=clamped(strength), strength_ms=self.now_ms, updated_ms=self.now_ms)
        return self._step("strength", head, after, reason, ())

    def strength(self, version: Version) -> float:
        """Return how strong a version is at this moment."""
        return self.rule.faded(version.strength, version.strength_ms, self.now_ms)

    def _strengthened(self, head: Version) -> Version:
        strength = self.rule.strengthened(self.strength(head))
        return replace(head, strength=strength, strength_ms=self.now_ms, confirmed_ms=self.now_ms)

    def _step(
        self, action: Action, before: Version | None, after: Version, reason: str, message_ids: Sequence[str]
    ) -> Step:
        return Step(action, before, after, reason, tuple(message_ids), self.now_ms, self.run_id)


def replayed(steps: Iterable[tuple[Action, Version]]) -> dict[tuple[str, int], Version]:
    """Return the versions that the log gives from nothing: each `after` in order; a new head retires the one before."""
    found: dict[tuple[str, int], Version] = {}
    for _, after in steps:
        before = found.get((after.memory_id, after.version - 1))
        if before is not None and before.status == "active":
            found[before.memory_id, before.version] = replace(before, status="deprecated")
        found[after.memory_id, after.version] = after
    return found


def _joined(known: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*known, *new]))[-MAX_EVIDENCE:]


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))[:MAX_TAGS]
