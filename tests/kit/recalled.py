"""A record made of a few lines, and views of it: what tests of recall and verification share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from historian.chat import Chat
from tests.kit.home import Home, Person, home

Line = tuple[str, str, str, str]
"""Message id, time, role, and what was said; `c1/m1` is message m1 of conversation c1."""


def turns(lines: Sequence[Line], sender: str = "alice") -> list[dict[str, Any]]:
    """Return lines as a host would append them."""
    return [
        {
            "message_id": message_id,
            "conversation_id": message_id.partition("/")[0],
            "role": role,
            "content": content,
            "ts": ts,
            **({"sender_id": sender} if role == "user" else {}),
        }
        for message_id, ts, role, content in lines
    ]


@asynccontextmanager
async def remembering(
    folder: Path, lines: Sequence[Line], *, chat: Chat | None = None, user: str = "alice"
) -> AsyncGenerator[tuple[Home, Person]]:
    """A household whose record holds the lines, and a client with every toolset that recall needs."""
    async with (
        home(folder, chat=chat, run=False) as house,
        house.client(user, toolsets=("host", "recall")) as person,
    ):
        await person.call("messages_append", messages=turns(lines, user))
        yield house, person


def view(*points: tuple[str, Sequence[str]], evidence: Sequence[dict[str, str]] = ()) -> dict[str, Any]:
    """Return a view with these points."""
    made = [{"text": text, "evidence": [*ids]} for text, ids in points]
    return {"memory_view": {"other": made}, "evidence": [*evidence]}


def points(answer: dict[str, Any]) -> list[str]:
    """Return the texts of the proven points."""
    return [point["text"] for section in answer["memory_view"].values() for point in section]


def doubts(answer: dict[str, Any]) -> dict[str, str]:
    """Return what is uncertain, with the reasons."""
    return {doubt["text"]: doubt["reason"] for doubt in answer["uncertain"]}
