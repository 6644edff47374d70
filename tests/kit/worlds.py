"""Two data folders behind one transport: in the first somebody keeps secrets, in the second they never were."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from historian.session import Session
from server.binding import Binder
from server.http.identity import SCOPES
from server.toolsets import TOOLSETS
from server.trust import TrustedBinder
from tests.kit.apps import app_over
from tests.kit.checked_schemas import share_checked_schemas
from tests.kit.home import home
from tests.kit.http import Served
from tests.kit.published import Request
from tests.kit.stdio import SHIGUAN, environment, stop_holder

WAIT = 60.0
"""Seconds within which what was written must have been worked off."""


UNLIMITED = "[server]\nrate_limit = 1000000\n"


class Heard:
    """Everything that a server sent without being asked: progress, logs, changes."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    async def note(self, message: object) -> None:
        self.messages.append(repr(message))

    async def progress(self, *said: object) -> None:
        self.messages.append(repr(said))


@dataclass
class World:
    """One data folder, how to connect to it as a trusted host, and what its server wrote into its log."""

    connect: Callable[[Heard], AbstractAsyncContextManager[Client]]
    log: Callable[[], str]


Transport = Callable[[Path, str], AbstractAsyncContextManager[World]]
"""Opens the world in a folder, for clients of an era (`auto` or `legacy`)."""


def in_this_process(binder: Binder | None = None) -> Transport:
    """Return the transport to this process, without a wire; `binder` says who asks, by default as a host is trusted."""
    bound_by = binder or TrustedBinder(Session(timezone="UTC"))

    @asynccontextmanager
    async def opened(folder: Path, mode: str) -> AsyncGenerator[World]:
        async with home(folder) as house:

            @asynccontextmanager
            async def connect(heard: Heard) -> AsyncGenerator[Client]:
                app = app_over(house.household, bound_by, [*TOOLSETS])
                async with Client(app, mode=mode, message_handler=heard.note, log_level="debug") as client:
                    yield share_checked_schemas(client)

            yield World(connect, lambda: "")

    return opened


def over_stdio(*flags: str) -> Transport:
    """Return the transport to a `shiguan serve --trust-host` of its own, which with `--standalone` is all there is."""

    @asynccontextmanager
    async def opened(folder: Path, mode: str) -> AsyncGenerator[World]:
        await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
        log = folder.with_suffix(".log")
        arguments = ["serve", *flags, "--trust-host", "--timezone", "UTC", "--toolsets", ",".join([*TOOLSETS])]
        command = StdioServerParameters(
            command=SHIGUAN, args=[*arguments, "--data-dir", str(folder)], env=environment("fast")
        )

        @asynccontextmanager
        async def connect(heard: Heard) -> AsyncGenerator[Client]:
            with log.open("a") as said:
                wire = stdio_client(command, errlog=said)
                async with Client(wire, mode=mode, message_handler=heard.note, log_level="debug") as client:
                    yield share_checked_schemas(client)

        def logged() -> str:
            return "".join(path.read_text("utf-8", "replace") for path in (log, folder / "owner.log") if path.exists())

        try:
            yield World(connect, logged)
        finally:
            stop_holder(folder)

    return opened


@asynccontextmanager
async def over_http(folder: Path, mode: str) -> AsyncGenerator[World]:
    """Serve over HTTP; the client's token may act as anybody."""
    toolsets = ",".join([*TOOLSETS])
    served = Served(folder, "--timezone", "UTC", "--toolsets", toolsets, toml=UNLIMITED)
    token = served.token(None, scopes=SCOPES)
    with served:

        @asynccontextmanager
        async def connect(heard: Heard) -> AsyncGenerator[Client]:
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=headers, timeout=WAIT, trust_env=False) as web:
                wire = streamable_http_client(served.url, http_client=web)
                async with Client(wire, mode=mode, message_handler=heard.note, log_level="debug") as client:
                    yield share_checked_schemas(client)

        yield World(connect, lambda: served.stderr)


# ---- asking


async def settled(client: Client, meta: Mapping[str, Any]) -> None:
    """Wait until nothing of this asker waits any more."""
    with anyio.fail_after(WAIT):
        while True:
            status = await Request("tool", "memory_status").send(client, meta)
            found = status.get("structuredContent", {})
            if not any(found.get(name) for name in ("pending", "processing", "unembedded", "degraded")):
                return
            await anyio.sleep(0.05)  # the background steps aside while somebody asks


def said_by(user: object, **more: object) -> dict[str, Any]:
    """Return the `_meta` of a call on behalf of a user."""
    given = {"user_id": user, "time": "2025-06-01T09:00:00+00:00", "timezone": "UTC", **more}
    return {f"shiguan/{key}": value for key, value in given.items() if value is not None}


# ---- comparing

_VOLATILE = re.compile(r"age|seconds|updated_at|created_at|confirmed_at|uptime")
_MASKED = (
    (re.compile(r"\b[0-9a-f]{16,}\b"), "#"),
    (re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{24,}(?![A-Za-z0-9_-])"), "#"),
    (re.compile(r"\b20(?:2[6-9]|[3-9]\d)\d{4}T\d{6}\.\d+Z"), "now"),
    (re.compile(r"\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?"), "now"),
    (re.compile(r"(score|for|oldest for) \d+(?:\.\d+)?( s)?"), r"\1 #"),
)
"""What differs from world to world without meaning: made ids, cursors, today's instants, the last digits of scores."""


def difference(one: Any, other: Any, where: str = "") -> str | None:
    """Return where two answers differ in what they tell, or None."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return f"{where}: {sorted(one.keys() ^ other.keys())}"
        return _first((one[key], other[key], f"{where}.{key}") for key in one if not _VOLATILE.search(key))
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{where}: {len(one)} and {len(other)} entries"
        pairs = zip(_unranked(one), _unranked(other), strict=True)
        return _first((a, b, f"{where}[{at}]") for at, (a, b) in enumerate(pairs))
    return None if _is_same(one, other) else f"{where}: {' and '.join(_parting(str(one), str(other)))}"


def _parting(one: str, other: str) -> tuple[str, str]:
    """Return what stands where two texts part."""
    still, moved = masked(one), masked(other)
    at = next((at for at, (a, b) in enumerate(zip(still, moved, strict=False)) if a != b), min(len(still), len(moved)))
    return repr(still[max(0, at - 60) : at + 90]), repr(moved[max(0, at - 60) : at + 90])


def _unranked(entries: list[Any]) -> list[Any]:
    """Return what was ranked in an order of its own: equal scores differ in their last digits with the time."""
    if not all(isinstance(entry, dict) and "score" in entry for entry in entries):
        return entries
    return sorted(entries, key=lambda entry: masked(json.dumps({**entry, "score": 0}, sort_keys=True)))


def _first(pairs: Iterable[tuple[Any, Any, str]]) -> str | None:
    return next((found for one, other, where in pairs if (found := difference(one, other, where))), None)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, abs_tol=2e-3)
    if isinstance(one, str) and isinstance(other, str):
        return masked(one) == masked(other)
    return bool(one == other)


def masked(text: str) -> str:
    """Return a text, or the JSON that it is, without what differs from world to world."""
    if text.startswith("{"):
        with suppress(ValueError):
            text = json.dumps(_still(json.loads(text)), sort_keys=True)
    for pattern, instead in _MASKED:
        text = pattern.sub(instead, text)
    ranked = re.compile(r"^\d+\. ", re.MULTILINE)
    return "\n".join(sorted(ranked.sub("", text).split("\n"))) if ranked.search(text) else text


_TODAY = re.compile(r"\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\d\b")


def undated(answer: Any) -> Any:
    """Return an answer without the days of the clock: a long contest ends on another day than it began on."""
    return json.loads(_TODAY.sub("today", json.dumps(answer, ensure_ascii=False)))


def _still(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _still(inner) for key, inner in value.items() if not _VOLATILE.search(key)}
    return [_still(inner) for inner in value] if isinstance(value, list) else value


# ---- harvesting


def harvest(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield what an answer names: (field, identifier or cursor)."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from harvest(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from harvest(inner, name)
    elif isinstance(value, str) and value and re.search(r"(?:^|_)ids?$|cursor", name):
        yield name, value


@dataclass
class Counter:
    """Makes canaries: words that occur nowhere else, and say where they came from."""

    number: Iterator[int] = field(default_factory=itertools.count)

    def __call__(self) -> str:
        return f"canary{next(self.number):04d}zq"


CANARY = re.compile(r"canary\d{4}zq", re.IGNORECASE)
