"""The MCP server: what is published, and the one place that turns Shiguan's errors into what a client sees."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, cast

from mcp.server.context import ServerMiddleware
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, GetPromptResult, InputRequiredResult
from typing_extensions import override

from historian.errors import InvalidInputError, NotConfiguredError, NotFoundError, ShiguanError
from prompts.skills import shipped_skills
from server import __version__
from server.answers import refusal
from server.arguments import checked, require_one
from server.binding import BOUND_NAME, Attached, bind_requests, with_memory
from server.outstanding import LineWriter, Outstanding
from server.remembering import publish_remember
from server.resources import publish_resources
from server.schema import flatten
from server.skills import Skills, publish_recall_prompt, recall_skill
from server.toolsets import Published, published, require_toolsets

log = logging.getLogger(__name__)


_attaching: ContextVar[Attached] = ContextVar("shiguan_attaching")

Lifespan = Callable[[MCPServer[Attached]], AbstractAsyncContextManager[Attached]]

INSTRUCTIONS = (
    "Long-term memory. Before answering, build_context, and search_events for more; when a turn is done, call end once "
    "with a short memo and the new facts as observations, each a full sentence with names and dates. What was said word"
    " for word: lexical_search, semantic_search, messages_list, neighbors; how to search and prove: "
    "skill://recall/SKILL.md."
)


class LateTools(ToolManager):
    """The tools of some toolsets, loaded when somebody asks for tools: a client is greeted before. One thread's."""

    def __init__(self, toolsets: Sequence[str]) -> None:
        super().__init__()
        self._toolsets = toolsets

    @cached_property
    def published(self) -> Mapping[str, Published]:
        """The tools as they are declared, by their names."""
        declared = {tool.name: tool for tool in published(self._toolsets)}
        self._tools.update((name, registered(tool)) for name, tool in declared.items())
        return declared

    @override
    def get_tool(self, name: str) -> Tool | None:
        return super().get_tool(name) if name in self.published else None

    @override
    def list_tools(self) -> list[Tool]:
        return [*map(self._tools.__getitem__, self.published)]


class ShiguanServer(MCPServer[Attached]):
    """An MCP server whose arguments are checked first and whose errors are sentences."""

    def __init__(
        self, toolsets: Sequence[str], lifespan: Lifespan, middleware: Sequence[ServerMiddleware[Any]] = ()
    ) -> None:
        skills = shipped_skills()
        super().__init__(
            "shiguan",
            title="Shiguan 史官",
            description="A memory that keeps what was said, what it amounts to, and the messages that prove it.",
            instructions=INSTRUCTIONS,
            version=__version__,
            lifespan=lifespan,
            middleware=[bind_requests, *middleware],
            extensions=[Skills(skills)],
            resource_security=ResourceSecurity(exempt_params={"group_id", "event_id"}),
        )
        self._tool_manager = self._tools = LateTools(toolsets)
        publish_resources(self)
        publish_recall_prompt(self, recall_skill(skills))
        publish_remember(self)

    async def serve_lines(self, attached: Attached, source: AsyncIterable[str], sink: LineWriter) -> None:
        """Serve one client whose lines come from `source` until it ends."""
        attach(attached)
        server = self._lowlevel_server
        lines = Outstanding(source, sink)
        async with stdio_server(cast(Any, lines), cast(Any, lines)) as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    @override
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Attached, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        tool = self._tools.get_tool(name)
        if tool is None:
            return refusal(f"There is no tool of that name; the tools are {', '.join(self._tools.published)}.")
        try:
            published = self._tools.published[name]
            arguments = checked(name, tool.parameters, arguments, published.aliases)
            require_one(name, published.one_of, arguments)
            return await super().call_tool(name, arguments, context)
        except ShiguanError as error:
            return refusal(str(error))
        except UnexpectedToolError as wrapped:
            return _tool_failure(wrapped)

    @override
    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Attached, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        prompt = self._prompt_manager.get_prompt(name)
        if prompt is None:
            raise MCPError(code=INVALID_PARAMS, message="There is no prompt of that name; prompts/list shows them.")
        try:
            arguments = checked(name, _prompt_schema(prompt), arguments or {}, {})
        except InvalidInputError as wrong:
            raise MCPError(code=INVALID_PARAMS, message=str(wrong)) from wrong
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as wrapped:
            cause = _root(wrapped)
            if isinstance(cause, ShiguanError):
                is_callers = isinstance(cause, InvalidInputError)
                code = INVALID_PARAMS if is_callers else INTERNAL_ERROR
                raise MCPError(code=code, message=str(cause)) from wrapped
            raise

    @override
    async def read_resource(
        self, uri: Any, context: Context[Attached, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        try:
            return await super().read_resource(uri, context)
        except UnexpectedResourceError as wrapped:
            cause = _root(wrapped)
            if isinstance(cause, NotFoundError):
                raise ResourceNotFoundError(str(cause)) from wrapped
            if isinstance(cause, InvalidInputError):
                raise MCPError(code=INVALID_PARAMS, message=str(cause)) from wrapped
            if isinstance(cause, ShiguanError):
                raise ResourceError(str(cause)) from wrapped
            raise


def attach(attached: Attached) -> None:
    """Let the sessions that are begun from here work with `attached`."""
    _attaching.set(attached)


@asynccontextmanager
async def attached_lifespan(_: MCPServer[Attached]) -> AsyncGenerator[Attached]:
    """Give each session what was attached where it was begun."""
    yield _attaching.get()


def registered(tool: Published) -> Tool:
    """Return `tool` as the SDK registers it, with schemas that every host accepts."""
    made = Tool.from_function(
        tool.function,
        name=tool.name,
        title=tool.title,
        description=tool.description,
        annotations=tool.annotations,
        context_kwarg=BOUND_NAME,  # which leaves it out of the schema; the SDK's own way to fill it costs 0.2 ms a call
    )
    made.fn = with_memory(tool.function, tool.room)
    made.is_async = True
    published_schema = made.fn_metadata.output_schema
    if published_schema is None:
        raise TypeError(f"tool {tool.name} has no output schema")
    made.parameters = flatten(made.parameters)
    made.fn_metadata.output_schema = flatten(published_schema)
    return made


def _prompt_schema(prompt: Prompt) -> dict[str, Any]:
    asked = prompt.arguments or []
    return {
        "properties": {one.name: {"type": "string", "description": one.description or "send it"} for one in asked},
        "required": [one.name for one in asked if one.required],
    }


def _tool_failure(wrapped: UnexpectedToolError) -> CallToolResult:
    cause = _root(wrapped)
    if isinstance(cause, NotConfiguredError):
        raise MCPError(code=INTERNAL_ERROR, message=str(cause)) from wrapped
    if isinstance(cause, ShiguanError):
        return refusal(str(cause))
    raise wrapped


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None and not isinstance(error, ShiguanError):
        error = error.__cause__
    return error


def build_app(
    toolsets: Sequence[str],
    lifespan: Lifespan = attached_lifespan,
    middleware: Sequence[ServerMiddleware[Any]] = (),
) -> ShiguanServer:
    """Return the server that publishes the default toolsets and `toolsets`; `middleware` runs once requests are bound.

    Raises:
        InvalidInputError: a toolset does not exist (yet); the sentence lists those that do.
    """
    require_toolsets(toolsets)
    return ShiguanServer(toolsets, lifespan, middleware)
