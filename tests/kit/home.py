"""A data folder with a running memory, and clients of different people over it: the real stores, without a process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult, TextContent

from historian.chat import Chat
from historian.clock import Clock
from historian.embed import Embedder
from historian.embed_fake import HashingEmbedder
from historian.model import Scope
from historian.session import Session
from server.binding import Binding, FixedBinder
from server.composition import open_household
from server.household import Household, running
from server.settings import load_settings
from server.trust import TrustedBinder
from tests.kit.apps import app_over
from tests.kit.checked_schemas import share_checked_schemas
from tests.kit.pauses import pauses


class Home:
    """An open household whose historian runs."""

    def __init__(self, household: Household) -> None:
        self.household = household

    @asynccontextmanager
    async def client(
        self,
        user: str = "alice",
        *,
        group: str | None = None,
        groups: Sequence[str] = (),
        toolsets: Sequence[str] = ("host",),
        mode: str = "auto",
        **session: Any,
    ) -> AsyncGenerator[Person]:
        """Connect a client on behalf of `user`."""
        scope = Scope(user, group, frozenset({*groups, *([group] if group else [])}))
        binding = Binding(scope, Session(**{"timezone": "Asia/Shanghai", **session}))
        app = app_over(self.household, FixedBinder(binding), toolsets)
        async with Client(app, mode=mode) as client:
            yield Person(share_checked_schemas(client))

    @asynccontextmanager
    async def host(
        self, *, toolsets: Sequence[str] = ("host",), mode: str = "auto", timezone: str = "Asia/Shanghai"
    ) -> AsyncGenerator[Person]:
        """Connect a trusted host, which says in each call whose it is; see `Person.acting`."""
        app = app_over(self.household, TrustedBinder(Session(timezone=timezone)), toolsets)
        async with Client(app, mode=mode) as client:
            yield Person(share_checked_schemas(client))


class Person:
    """A client, with short-hands for what tests do most."""

    def __init__(self, client: Client, meta: Mapping[str, Any] | None = None) -> None:
        self.client = client
        self.meta: Any = dict(meta) if meta is not None else None

    def acting(self, user: str, **said: Any) -> Person:
        """Return the same connection of a trusted host, calling on behalf of `user`."""
        return Person(self.client, {f"shiguan/{key}": value for key, value in {"user_id": user, **said}.items()})

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed and return its structured content."""
        result = await self.client.call_tool(tool, arguments, meta=self.meta)
        assert not result.is_error, prose(result)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def both(self, tool: str, /, **arguments: Any) -> tuple[dict[str, Any], str]:
        """Call a tool that must succeed and return its structured content and its text."""
        result = await self.client.call_tool(tool, arguments, meta=self.meta)
        assert not result.is_error and isinstance(result.structured_content, dict), prose(result)
        return result.structured_content, prose(result)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must refuse and return its sentence."""
        result = await self.client.call_tool(tool, arguments, meta=self.meta)
        assert result.is_error, result.structured_content
        return prose(result)

    async def remember(self, *observations: str, **more: Any) -> str:
        """Close a turn with `observations`, wait until the historian is done with it, and return the job id."""
        receipt = await self.call("end", observations=[*observations], **more)
        await self.settled(receipt["job_id"])
        return str(receipt["job_id"])

    async def settled(self, job_id: str, state: str = "done") -> Mapping[str, Any]:
        """Wait until a job has reached `state`."""
        with anyio.fail_after(30):
            for pause in pauses():
                job: Mapping[str, Any] = (await self.call("memory_status", job_id=job_id))["job"]
                if job["state"] == state:
                    return job
                await anyio.sleep(pause)
        raise AssertionError

    async def drained(self, seconds: float = 60) -> Mapping[str, Any]:
        """Wait until no job of the scope is pending or processing and return the status."""
        with anyio.fail_after(seconds):
            for pause in pauses():
                status: Mapping[str, Any] = await self.call("memory_status")
                if not status["pending"] and not status["processing"]:
                    return status
                await anyio.sleep(pause)
        raise AssertionError

    async def embedded(self, seconds: float = 60) -> Mapping[str, Any]:
        """Wait until every text of the scope has its vector too, which follows behind, and return the status."""
        with anyio.fail_after(seconds):
            for pause in pauses():
                status = await self.drained(seconds)
                if not status["unembedded"]:
                    return status
                await anyio.sleep(pause)
        raise AssertionError

    async def texts(self, query: str, **more: Any) -> list[str]:
        """Return the texts of the events that answer a query."""
        found = await self.call("search_events", query=query, **more)
        return [event["text"] for event in found["events"]]


def prose(result: CallToolResult) -> str:
    """Return the text channel of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


@asynccontextmanager
async def home(
    folder: Path,
    *,
    embedder: Embedder | None = None,
    chat: Chat | None = None,
    clock: Clock | None = None,
    run: bool = True,
) -> AsyncGenerator[Home]:
    """Open the memory in `folder`; with `run`, its historian works."""
    settings = load_settings({"data_dir": folder, "user": "alice", "timezone": "Asia/Shanghai"}, {})
    household = open_household(settings, embedder=embedder or HashingEmbedder(), chat=chat, clock=clock)
    if run:
        async with running(household):
            yield Home(household)
    else:
        try:
            yield Home(household)
        finally:
            household.close()
