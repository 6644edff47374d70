"""`shiguan profile`: read profiles and their history, go back in it, and decide on merges that are held."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

from server.commands.common import existing_settings_from, say
from server.owner.ask import conversation

Answer = Mapping[str, Any]


def manage_profiles(arguments: argparse.Namespace) -> int:
    """Do what was asked, through the owner."""
    settings = existing_settings_from(arguments)
    action = arguments.action if arguments.action != "review" else f"review {arguments.decision}"
    request = {
        "op": "profile",
        "action": action,
        "entity": getattr(arguments, "entity", None) or f"user:{settings.user}",
        "revision": getattr(arguments, "revision", None),
        "review": getattr(arguments, "review", None),
        "reason": getattr(arguments, "reason", None),
    }
    with conversation(settings) as talk:
        answer = talk.ask(request)
    if arguments.json:
        say(json.dumps(answer, ensure_ascii=False))
        return 0
    for line in _TOLD[action](answer):
        say(line)
    return 0


def _list(answer: Answer) -> list[str]:
    return [
        f"{one['entity']:40} {one['revisions']} earlier versions, {one['held']} held for review"
        for one in answer["profiles"]
    ] or ["There are no profiles yet."]


def _show(answer: Answer) -> list[str]:
    tags = [f"tags: {', '.join(answer['tags'])}", ""] if answer["tags"] else []
    receipts = [
        f"{one['line']}  [{one['shown_in']}; confirmed {one['confirmed']}; {', '.join(one['events']) or 'by hand'}]"
        for one in answer["provenance"]
    ]
    return [*tags, *answer["text"].splitlines(), "", "Receipts:", *receipts]


def _diff(answer: Answer) -> list[str]:
    return [*answer["diff"]] or ["Nothing differs."]


def _prose(answer: Answer) -> list[str]:
    return str(answer["prose"]).splitlines()


def _reviews(answer: Answer) -> list[str]:
    return [_line(one) for one in answer["reviews"]] or ["Nothing is held."]


def _review(answer: Answer) -> list[str]:
    statements = [f"{one['event_id']}  {one['text']}" for one in answer["statements"]]
    changes = [*answer["diff"]] or ["nothing"]
    proposed = str(answer["proposed"]).splitlines()
    would = ["It would change:", *changes, "", "Proposed:", *proposed]
    return [_line(answer), "", "New statements:", *statements, "", *would]


def _line(one: Answer) -> str:
    return f"{one['review']:>6}  {one['entity']}  {one['made_at']}  {'; '.join(one['reasons'])}"


_TOLD: dict[str, Callable[[Answer], list[str]]] = {
    "list": _list,
    "show": _show,
    "history": _prose,
    "diff": _diff,
    "rollback": _prose,
    "review list": _reviews,
    "review show": _review,
    "review accept": lambda answer: [f"Review {answer['review']} is accepted; the profile is changed."],
    "review reject": lambda answer: [f"Review {answer['review']} is rejected; its statements stay out."],
}
