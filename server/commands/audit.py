"""`shiguan audit`: what of all that is remembered is worth a look."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from server.commands.common import existing_settings_from, say
from server.owner.ask import conversation

KINDS = ("duplicates", "flagged", "unsupported", "oldest")
WIDTH = 100
"""Characters of a statement that the table shows."""


def audit(arguments: argparse.Namespace) -> int:
    """Print the audit of the whole folder, as its owner makes it."""
    with conversation(existing_settings_from(arguments)) as talk:
        found = talk.ask({"op": "audit", "limit": arguments.limit})
    if arguments.json:
        say(json.dumps(found, ensure_ascii=False))
        return 0
    say(f"{found['statements']} statements, {found['repeats']} repeats linked to them, {found['memos']} memos besides.")
    for kind in KINDS:
        _show(kind, found["counts"].get(kind), found[kind])
    if found["flags"]:
        say("")
        say("Flags: " + ", ".join(f"{count} × {flag}" for flag, count in found["flags"].items()))
    return 0


def _show(kind: str, count: int | None, suspects: Sequence[Mapping[str, Any]]) -> None:
    say("")
    say(kind.capitalize() if count is None else f"{kind.capitalize()}: {count}")
    for one in suspects:
        text = one["text"] if len(one["text"]) <= WIDTH else one["text"][: WIDTH - 1] + "…"
        say(f"  {one['at'][:10]:10}  {one['owner']:20}  {text}")
        say(f"  {'':10}  {one['where']}: {one['why']}")
