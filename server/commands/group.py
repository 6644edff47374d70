"""`shiguan group`: what is known of a group, how it came about, and what changed; `shiguan evolve` brings it on."""

from __future__ import annotations

import argparse
import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from historian.errors import InvalidInputError
from historian.zones import load_zone, parse_instant
from server.bare import BareSettings
from server.commands.common import existing_settings_from, say, scope_request
from server.owner.ask import conversation

Answer = Mapping[str, Any]
_WORDS = re.compile(r"[A-Za-z0-9_'’-]+|\s+|.", re.DOTALL)
_SIGNS = {"create": "+", "update": "~", "delete": "-", "restore": "+", "strength": "=", "keep": "=", "forget": "x"}


def show_group(arguments: argparse.Namespace) -> int:
    """Print what was asked about the group that `--group` names."""
    settings = existing_settings_from(arguments)
    memory_id = getattr(arguments, "memory_id", None)
    action = arguments.action
    if action == "diff":
        action = "history" if memory_id else "changes"
    request = {
        "action": action,
        "memory_id": memory_id,
        "status": getattr(arguments, "status", "active"),
        "limit": getattr(arguments, "limit", 20),
        "days": getattr(arguments, "days", 7.0),
    }
    answer = _asked(settings, request)
    if arguments.json:
        say(json.dumps(answer, ensure_ascii=False))
        return 0
    told = _versions_diff if arguments.action == "diff" and memory_id else _TOLD[arguments.action]
    for line in told(answer):
        say(line)
    return 0


def evolve(arguments: argparse.Namespace) -> int:
    """Let the statements of the group that `--group` names evolve, and print what became of them."""
    settings = existing_settings_from(arguments)
    answer = _asked(settings, {"action": "evolve", "since": _instant(arguments.since, settings)})
    if arguments.json:
        say(json.dumps(answer, ensure_ascii=False))
        return 0
    stats = answer["stats"]
    say(
        f"{answer['messages']} messages read: {stats['kept']} statements kept, {stats['updated']} updated,"
        f" {stats['created']} created, {stats['deleted']} deleted; {answer['active']} are active now."
    )
    refused = [f"Refused ({one['action']}): {one['reason']}" for one in answer["refused"]]
    for line in [*_differences(answer["changes"]), *refused, *answer["notes"]]:
        say(line)
    return 0


def _asked(settings: BareSettings, request: dict[str, Any]) -> Answer:
    if len(settings.groups) != 1:
        raise InvalidInputError("Name one group with --group.")
    whose = {"op": "group", "scope": scope_request(settings), "timezone": settings.timezone}
    with conversation(settings) as talk:
        return talk.ask(whose | request)


def _instant(since: str | None, settings: BareSettings) -> str | None:
    if since is None:
        return None
    try:
        return parse_instant(since, load_zone(settings.timezone))[0].isoformat()
    except InvalidInputError as error:
        raise InvalidInputError(f"--since: {error}") from None


def _list(answer: Answer) -> list[str]:
    lines = [f"{one['strength']:.2f}  {one['statement']}\n      {_about(one)}" for one in answer["memories"]] or [
        "There are no such statements."
    ]
    shown, total = len(answer["memories"]), answer["total"]
    return [*lines, *([f"{total - shown} more; --limit shows up to 200."] if total > shown else [])]


def _about(one: Answer) -> str:
    gone = "" if one["status"] == "active" else f", {one['status']}"
    tags = f", {' '.join('#' + tag for tag in one['tags'])}" if one["tags"] else ""
    rests = f", {len(one['message_ids'])} messages"
    return f"{one['memory_id']} v{one['version']}{gone}, confirmed {one['last_confirmed_at'][:10]}{rests}{tags}"


def _history(answer: Answer) -> list[str]:
    lines: list[str] = []
    for one in answer["history"]:
        lines += [f"v{one['version']}  {one['updated_at'][:16]}  {one['status']}", f"    {one['statement']}"]
        if one["change_reason"]:
            lines.append(f"    because {one['change_reason']}")
        if one["message_ids"]:
            lines.append(f"    messages {', '.join(one['message_ids'])}")
    return lines


def _changes(answer: Answer) -> list[str]:
    since = answer["since"][:10]
    head = f"{len(answer['changes'])} changes since {since}, {answer['confirmed']} confirmations."
    return [head, *(_change(one) for one in answer["changes"])]


def _change(one: Answer) -> str:
    what = one["new_statement"] if one["new_statement"] is not None else one["old_statement"]
    why = f"  ({one['change_reason']})" if one["change_reason"] else ""
    return f"{_SIGNS.get(one['action'], '?')} {one['at'][:16]}  {one['memory_id']} v{one['version']}  {what}{why}"


def _diff(answer: Answer) -> list[str]:
    return _differences(answer["changes"][::-1]) or ["Nothing changed."]


def _differences(changes: Sequence[Answer]) -> list[str]:
    lines: list[str] = []
    for one in changes:
        old, new = one["old_statement"], one["new_statement"]
        if old == new:
            continue
        lines.append(f"@@ {one['memory_id']} v{one['version']}, {one['at'][:16]}, {one['action']}")
        lines += statement_diff(old, new)
        if one["change_reason"]:
            lines.append(f"  because {one['change_reason']}")
    return lines


def _versions_diff(answer: Answer) -> list[str]:
    """Show how a statement came to be what it is, version by version."""
    lines: list[str] = []
    before: str | None = None
    for one in answer["history"]:
        lines.append(f"@@ v{one['version']}, {one['updated_at'][:16]}")
        lines += statement_diff(before, one["statement"])
        if one["change_reason"]:
            lines.append(f"  because {one['change_reason']}")
        before = one["statement"]
    return lines


def statement_diff(old: str | None, new: str | None) -> list[str]:
    """Return a statement before and after; where both are, what differs is marked, words in English and characters
    in Chinese: [-gone-] and {+new+}.
    """
    if old is None or new is None:
        return [f"- {old}"] * (old is not None) + [f"+ {new}"] * (new is not None)
    one, other = _WORDS.findall(old), _WORDS.findall(new)
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    if matcher.ratio() < 0.5:
        return [f"- {old}", f"+ {new}"]
    parts: list[str] = []
    for kind, start, end, first, last in matcher.get_opcodes():
        gone, come = "".join(one[start:end]), "".join(other[first:last])
        if kind == "equal":
            parts.append(gone)
            continue
        parts += ([f"[-{gone}-]"] if gone else []) + ([f"{{+{come}+}}"] if come else [])
    return [f"~ {''.join(parts)}"]


_TOLD: dict[str, Callable[[Answer], list[str]]] = {
    "list": _list,
    "history": _history,
    "changes": _changes,
    "diff": _diff,
}
