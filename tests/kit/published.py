"""Everything that a server publishes, as requests made out of its own lists: what is new is covered by itself."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CompleteRequest,
    CompleteRequestParams,
    CompleteResult,
    CompletionArgument,
    Prompt,
    PromptReference,
    ResourceTemplateReference,
    Tool,
)
from pydantic import BaseModel

UNKNOWN = "nobody-at-all"
"""An identifier that nothing has."""
Kind = Literal["tool", "resource", "prompt", "template completion", "prompt completion"]


@dataclass(frozen=True)
class Request:
    """One request: of a tool, a resource by its address, a prompt, or a completion of one argument.

    `value` is the identifier in it that varies, and `shape` what it is without that.
    """

    kind: Kind
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    argument: str = ""
    shape: str = ""
    value: str = ""

    async def answer(self, client: Client, meta: Mapping[str, Any] | None = None) -> str:
        """Return everything that comes back, as text: structured content, text channel, or the error."""
        return as_text(await self.send(client, meta))

    async def send(self, client: Client, meta: Mapping[str, Any] | None = None) -> Any:
        """Return everything that comes back, as JSON values; a protocol error is a map of its own."""
        try:
            result = await self._result(client, meta)
        except MCPError as error:
            return {"protocol_error": error.error.model_dump(mode="json")}
        return plain(result)

    async def _result(self, client: Client, meta: Any) -> BaseModel:
        match self.kind:
            case "tool":
                return await client.call_tool(self.name, dict(self.arguments), meta=meta)
            case "resource":
                return await client.read_resource(self.name, meta=meta, cache_mode="bypass")
            case "prompt":
                return await client.get_prompt(self.name, dict(self.arguments), meta=meta)
            case "template completion":
                ref: Any = ResourceTemplateReference(uri=self.name)
            case "prompt completion":
                ref = PromptReference(name=self.name)
        wanted = CompletionArgument(name=self.argument, value=str(self.arguments[self.argument]))
        params = CompleteRequestParams(ref=ref, argument=wanted, _meta=meta)
        return await client.session.send_request(CompleteRequest(params=params), CompleteResult)


@dataclass(frozen=True)
class Listing:
    """What a server lists: its tools, the addresses of its resources and templates, and its prompts."""

    tools: Sequence[Tool]
    resources: Sequence[str]
    templates: Sequence[str]
    prompts: Sequence[Prompt]


async def listing(client: Client, meta: Any = None) -> Listing:
    """Ask a server for all that it lists."""
    return Listing(
        tools=(await client.list_tools(meta=meta)).tools,
        resources=[str(one.uri) for one in (await client.list_resources(meta=meta)).resources],
        templates=[one.uri_template for one in (await client.list_resource_templates(meta=meta)).resource_templates],
        prompts=(await client.list_prompts(meta=meta)).prompts,
    )


def every_request(published: Listing, ids: Sequence[str], probe: str) -> Iterator[Request]:
    """Yield each tool with each choice and each identifier, and all resources, prompts and completions likewise."""
    for tool in published.tools:
        yield from calls(tool, ids, probe)
    yield from readings(published, ids)


def calls(tool: Tool, ids: Sequence[str], probe: str) -> Iterator[Request]:
    """Yield calls of a tool out of its schema: each choice, `probe` as query, each identifier with every value."""
    properties: Mapping[str, Any] = tool.input_schema["properties"]
    base = {name: _filling(name, properties[name], probe) for name in tool.input_schema.get("required", ())}
    if "top_k" in properties:
        base["top_k"] = 200
    choices = [name for name, schema in properties.items() if schema.get("enum")]
    for chosen in itertools.product(*(properties[name]["enum"] for name in choices)):
        picked = base | dict(zip(choices, chosen, strict=True))
        yield Request("tool", tool.name, picked, shape=str(chosen))
        for name, schema in properties.items():
            takes_many = schema["type"] == "array" and name.endswith("ids")
            if takes_many or (schema["type"] == "string" and name.endswith("_id")):
                for value in ids:
                    given = picked | {name: [value] if takes_many else value}
                    yield Request("tool", tool.name, given, shape=f"{name} {chosen}", value=value)


def readings(published: Listing, ids: Iterable[str]) -> Iterator[Request]:
    """Yield every resource, and every template, prompt and completion with every identifier."""
    values = [*ids]
    for uri in published.resources:
        yield Request("resource", uri)
    for template, value in itertools.product(published.templates, values):
        yield Request("resource", filled(template, value), shape=template, value=value)
        for name in parameters(template):
            yield Request("template completion", template, {name: value}, argument=name, value=value)
    for prompt, value in itertools.product(published.prompts, values):
        words = {argument.name: value for argument in prompt.arguments or ()}
        yield Request("prompt", prompt.name, words, value=value)
        for name in words:
            yield Request("prompt completion", prompt.name, words, argument=name, value=value)


def parameters(template: str) -> list[str]:
    """Return the names of what stands in braces."""
    return [name.lstrip("+#./;?&").rstrip("*") for name in re.findall(r"\{([^}]*)\}", template)]


def filled(template: str, value: str) -> str:
    """Return the address that a template is for a value."""
    return re.sub(r"\{[^}]*\}", lambda _: escaped(value), template)


def escaped(value: str) -> str:
    """Return a value as it stands in an address."""
    return quote(value.encode("utf-8", "replace"), safe="")


def plain(result: BaseModel) -> Any:
    """Return a result as JSON values, without what the SDK adds about the server."""
    return result.model_dump(mode="json", by_alias=True, exclude={"meta"}, exclude_none=True)


def as_text(value: Any) -> str:
    """Return JSON values as one text."""
    return json.dumps(value, ensure_ascii=False)


def without(text: str, value: str) -> str:
    """Return an answer without the identifier that was asked for, as it may be repeated in it."""
    for form in (repr(value), json.dumps(value, ensure_ascii=False)[1:-1], escaped(value), value):
        text = text.replace(form, "…") if form else text
    return text.replace("'…'", "…")


def _filling(name: str, schema: Mapping[str, Any], probe: str) -> object:
    kinds: dict[str, object] = {"string": probe, "array": [], "object": {}, "boolean": False}
    return UNKNOWN if name.endswith("_id") else kinds.get(schema["type"], schema.get("minimum", 1))
