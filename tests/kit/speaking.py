"""A home whose historian asks a chat model over real HTTP, and a model that does its work well."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from historian.chat import ROLES
from historian.chat_client import OpenAIChat
from historian.clock import Clock, SystemClock
from historian.embed import Embedder
from historian.options import ChatOptions
from historian.telemetry import Telemetry
from tests.kit.chat import Answer, ChatAsked, ScriptedModel
from tests.kit.endpoint import FakeEndpoint
from tests.kit.home import Home, home

Phrase = Callable[[str], str]


def good(phrases: Mapping[str, str] | Phrase = lambda text: text, capture: object = None) -> Answer:
    """Return a model that phrases observations as told (others stay as they are) and merges by adding what is new."""

    def say(asked: ChatAsked) -> object:
        if "<observations " in asked.messages[1]["content"]:
            return rewritten(asked, phrases)
        if "<messages " in asked.messages[1]["content"]:
            return evolved(asked)
        if "<exchange " in asked.messages[1]["content"]:
            return capture(asked) if callable(capture) else capture
        return merged(asked)

    return say


def rewritten(asked: ChatAsked, phrases: Mapping[str, str] | Phrase) -> dict[str, Any]:
    """Return the observations as a model phrases them that was told how."""
    phrase = phrases if callable(phrases) else lambda text: phrases.get(text, text)
    texts = [phrase(text) for text in asked.entries("observations")]
    return {"statements": [{"number": number, "text": text} for number, text in enumerate(texts, start=1)]}


def merged(asked: ChatAsked) -> dict[str, Any]:
    """Return a merge that keeps every line, confirms what is said again and adds what is new."""
    lines, statements = asked.entries("lines"), [_plain(text) for text in asked.entries("statements")]
    fates: list[dict[str, Any]] = []
    for number, line in enumerate(map(_plain, lines), start=1):
        said = [at for at, text in enumerate(statements, start=1) if text == line]
        fates.append({"line": number, "action": "confirm" if said else "keep", "statements": said})
    known = {_plain(line) for line in lines}
    added = [
        {"text": text, "statements": [at]}
        for at, text in enumerate(statements, start=1)
        if text not in known and text not in statements[: at - 1]
    ]
    return {"lines": fates, "added": added, "passing": [], "tags": []}


def evolved(asked: ChatAsked) -> dict[str, Any]:
    """Return a run that keeps every statement, and makes one of each message that none says yet."""
    known = [entry.split(" ", 1)[0].split("（", 1)[0] for entry in asked.entries("statements")]
    actions: list[dict[str, Any]] = [{"action": "keep", "old_id": one} for one in known]
    for entry in asked.entries("messages"):
        name, said = entry.split(" ", 1)
        text = said.split(": ", 1)[-1]
        if text not in asked.block("statements"):
            reason = "It was said."
            actions.append({"action": "create", "statement": text, "change_reason": reason, "message_ids": [name]})
    return {"actions": actions}


def _plain(entry: str) -> str:
    return re.sub(r"^\(.*?\)\s*|\s*\(said .*\)$", "", entry).strip()


@contextmanager
def speaking(answer: Answer, *, clock: Clock | None = None, timeout: float = 5.0) -> Any:
    """Serve a model on loopback; yield the client for it, the model, and the endpoint."""
    model = ScriptedModel(answer)
    with FakeEndpoint(chat=model) as endpoint:
        options = ChatOptions(endpoint.base_url, "sk-test", "small", timeout=timeout)
        chat = OpenAIChat(dict.fromkeys(ROLES, options), clock or SystemClock(), Telemetry().called)
        try:
            yield chat, model, endpoint
        finally:
            chat.close()


@asynccontextmanager
async def speaking_home(
    folder: Path,
    answer: Answer,
    *,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    timeout: float = 5.0,
    run: bool = True,
) -> AsyncGenerator[tuple[Home, ScriptedModel, FakeEndpoint]]:
    """Open a home whose historian has a model."""
    with speaking(answer, clock=clock, timeout=timeout) as (chat, model, endpoint):
        async with home(folder, chat=chat, clock=clock, embedder=embedder, run=run) as house:
            yield house, model, endpoint
