"""What a model is shown of a group: statements and messages under short names that stand for the true identifiers.

Identifiers are never written by a model. Statements are `s1`, `s2`, …, messages `m1`, `m2`, …, and people get aliases
that stand for their ids, also where an id is part of a text; what comes back is mapped to the true ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import lru_cache

from historian.facts import Language
from historian.fold import CJK, has_cjk
from historian.group_strength import DAY_MS
from historian.group_versions import Moment, Version
from historian.messages import StoredMessage
from historian.text import clip

MAX_STATEMENTS = 50
"""Statements that one call shows at most; the others are kept as they are."""
MAX_MESSAGES = 200
"""Messages that one call shows at most."""
MESSAGE_CHARACTERS = 400

_SHORTEST_ID = 3
"""An id of fewer characters is likely to be a word of a text; it is replaced only where it stands for the sender."""
_PREFIXES = ("U", "P", "Z", "QU", "QP", "QZ")
_SAID = {
    "zh": "{name}（第 {version} 版；强度 {strength:.2f}{weak}；建于 {created}；最近确认 {confirmed}，"
    "{days} 天前）：{text}",
    "en": "{name} (version {version}; strength {strength:.2f}{weak}; created {created}; last confirmed {confirmed}, "
    "{days} days ago): {text}",
}
_WEAK = {"zh": "，太弱，建议删除", "en": ", too weak: deletion proposed"}
_NAMELESS = {"zh": "（没有名字）", "en": "(no name)"}
_ROLES = {"zh": {"assistant": "（助手）"}, "en": {"assistant": " (assistant)"}}


@dataclass(frozen=True, slots=True)
class People:
    """Aliases of senders: alias → id, id → name where one is known."""

    prefix: str
    ids: tuple[str, ...]
    names: Mapping[str, str]

    @classmethod
    def of(cls, messages: Sequence[StoredMessage], texts: Sequence[str], known: Mapping[str, str]) -> People:
        """Return aliases for the senders of messages, and for those of `known` (id → name) whose id is in a text."""
        names = dict(known)
        ids: dict[str, None] = {}
        for stored in messages:
            message = stored.message
            if message.sender_id:
                ids.setdefault(message.sender_id)
                if message.sender_name:
                    names[message.sender_id] = message.sender_name
        everything = "\n".join([*texts, *(stored.message.content for stored in messages)])
        for one in known:
            if len(one) >= _SHORTEST_ID and one in everything:
                ids.setdefault(one)
        taken = everything + "\n".join(names.values())
        prefix = next((one for one in _PREFIXES if not re.search(_alias_pattern(one), taken)), "QQU")
        return cls(prefix, tuple(ids), {one: " ".join(names[one].split()) for one in ids if names.get(one)})

    def alias(self, sender_id: str) -> str:
        """Return the alias of an id that has one."""
        return f"{self.prefix}{self.ids.index(sender_id) + 1}"

    def hidden(self, text: str) -> str:
        """Return a text with every known id replaced by its alias."""
        pattern = _any_of(self.ids)
        return text if pattern is None else pattern.sub(lambda found: self.alias(found[0]), text)

    def shown(self, text: str) -> str:
        """Return a text of the model with every alias replaced by the name of its person, or the id of one without.

        Of people with one name each is named with the id.
        """

        def named(found: re.Match[str]) -> str:
            number = int(found["number"])
            if not 1 <= number <= len(self.ids):
                return found[0]
            name = self._name(self.ids[number - 1])
            before, after = found["before"] or "", found["after"] or ""
            return f"{'' if has_cjk(name[0]) else before}{name}{'' if has_cjk(name[-1]) else after}"

        alias = _alias_pattern(self.prefix)
        return re.sub(rf"(?P<before>(?<=[{CJK}]) )?{alias}(?P<after> (?=[{CJK}]))?", named, text)

    def _name(self, sender_id: str) -> str:
        name = self.names.get(sender_id)
        if not name:
            return sender_id
        return name if [*self.names.values()].count(name) == 1 else f"{name} ({sender_id})"

    def listed(self, language: Language) -> list[str]:
        """Return who is who, a line each."""
        nameless = _NAMELESS[language]
        return [f"{self.alias(one)} = {self.hidden(self.names.get(one, '')) or nameless}" for one in self.ids]


@dataclass(frozen=True, slots=True)
class Page:
    """One call: the statements and the messages that it shows, oldest first, and when it is made."""

    statements: tuple[Version, ...]
    messages: tuple[StoredMessage, ...]
    people: People
    moment: Moment
    language: Language
    zone: tzinfo = UTC

    @property
    def today(self) -> str:
        """The day on which it is made, `2026-02-20`."""
        return self._day(self.moment.now_ms)

    def statement(self, name: str) -> Version | None:
        """Return the statement that a model means by `s3`, its bare number, or its true id; None for any other."""
        known = {one.memory_id: one for one in self.statements}
        found = known.get(name.strip())
        number = _number(name, "s")
        return found or (self.statements[number - 1] if 0 < number <= len(self.statements) else None)

    def message(self, name: str) -> str | None:
        """Return the id of the message that a model means by `m3`, its bare number, or its true id."""
        known = {stored.message.message_id for stored in self.messages}
        number = _number(name, "m")
        if name.strip() in known:
            return name.strip()
        return self.messages[number - 1].message.message_id if 0 < number <= len(self.messages) else None

    def statement_lines(self) -> list[str]:
        """Return the statements as they are shown."""
        return [self._statement_line(number, one) for number, one in enumerate(self.statements, start=1)]

    def message_lines(self) -> list[str]:
        """Return the messages as they are shown."""
        return [self._message_line(number, one) for number, one in enumerate(self.messages, start=1)]

    def _statement_line(self, number: int, one: Version) -> str:
        strength = self.moment.strength(one)
        return _SAID[self.language].format(
            name=f"s{number}",
            version=one.version,
            strength=strength,
            weak=_WEAK[self.language] if self.moment.rule.is_weak(strength) else "",
            created=self._day(one.created_ms),
            confirmed=self._day(one.confirmed_ms),
            days=max(0, self.moment.now_ms - one.confirmed_ms) // DAY_MS,
            text=self.people.hidden(" ".join(one.statement.split())),
        )

    def _message_line(self, number: int, one: StoredMessage) -> str:
        message = one.message
        who = self.people.alias(message.sender_id) if message.sender_id else (message.sender_name or "?")
        role = _ROLES[self.language].get(message.role, "")
        text = self.people.hidden(clip(" ".join(message.content.split()), MESSAGE_CHARACTERS))
        return f"m{number} {message.ts.astimezone(self.zone):%Y-%m-%d %H:%M} {who}{role}: {text}"

    def _day(self, ms: int) -> str:
        return datetime.fromtimestamp(ms / 1000, self.zone).date().isoformat()


def chosen(heads: Sequence[Version], moment: Moment) -> tuple[Version, ...]:
    """Return the statements that a call shows: all, or of too many the weak ones first, then the strongest."""
    ordered = sorted(heads, key=lambda one: (one.created_ms, one.memory_id))
    if len(ordered) <= MAX_STATEMENTS:
        return tuple(ordered)
    strengths = {one.memory_id: moment.strength(one) for one in ordered}
    weak = [one for one in ordered if moment.rule.is_weak(strengths[one.memory_id])]
    strong = sorted((one for one in ordered if one not in weak), key=lambda one: strengths[one.memory_id], reverse=True)
    taken = {
        one.memory_id for one in [*weak[: MAX_STATEMENTS // 2], *strong, *weak[MAX_STATEMENTS // 2 :]][:MAX_STATEMENTS]
    }
    return tuple(one for one in ordered if one.memory_id in taken)


@lru_cache(maxsize=8)
def _any_of(ids: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return what matches any of these ids where it stands as a whole, the longer ones first."""
    long = sorted((one for one in ids if len(one) >= _SHORTEST_ID), key=len, reverse=True)
    either = "|".join(re.escape(one) for one in long)
    return re.compile(rf"(?<![0-9A-Za-z_])(?:{either})(?![0-9A-Za-z_])") if long else None


def _number(name: str, letter: str) -> int:
    found = re.fullmatch(rf"\W*{letter}?0*(\d{{1,4}})\W*", name.strip(), re.IGNORECASE | re.ASCII)
    return int(found[1]) if found else 0


def _alias_pattern(prefix: str) -> str:
    return rf"(?<![0-9A-Za-z_]){prefix}(?P<number>[1-9]\d{{0,3}})(?![0-9A-Za-z_])"
