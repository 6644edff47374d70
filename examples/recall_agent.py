"""A recall agent in about a hundred lines: any OpenAI-compatible model, the memory over MCP, and verified evidence.

    python examples/recall_agent.py "What did I say about spicy food?" --model qwen3:4b --base-url http://127.0.0.1:11434/v1

The agent reads the recall skill from the server, lets the model call the four evidence tools, and has `verify_view`
check what the model concludes. It states only what was proven. The key of the model is taken from OPENAI_API_KEY.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from openai import AsyncOpenAI

TOOLS = ("semantic_search", "lexical_search", "messages_list", "neighbors")
ROUNDS = 8
HAND_IN: Any = {
    "type": "function",
    "function": {
        "name": "hand_in",
        "description": "Hand in the finished memory view.",
        "parameters": {
            "type": "object",
            "properties": {
                "memory_view": {"type": "object"},
                "evidence": {"type": "array", "items": {"type": "object"}},
            },
            "required": ["memory_view"],
        },
    },
}


async def recall(memory: Client, model: AsyncOpenAI, name: str, question: str) -> dict[str, Any]:
    """Return the verified memory view that answers a question.

    Raises:
        RuntimeError: the model handed in no view within its rounds.
    """
    [skill] = (await memory.read_resource("skill://recall/SKILL.md")).contents
    turns: list[Any] = [
        {"role": "system", "content": getattr(skill, "text", "")},
        {"role": "user", "content": f"{question}\n\nCall hand_in with the memory view when you are done."},
    ]
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.input_schema}}
        for t in (await memory.list_tools()).tools
        if t.name in TOOLS
    ]
    for _ in range(ROUNDS):
        answer = await model.chat.completions.create(model=name, messages=turns, tools=[*tools, HAND_IN])  # type: ignore[list-item]
        said = answer.choices[0].message
        turns.append(said.model_dump(exclude_none=True))
        if not said.tool_calls:
            turns.append({"role": "user", "content": "Call a tool, or hand_in with the memory view."})
        for call in said.tool_calls or ():
            wanted: Any = getattr(call, "function", None)
            try:
                arguments = json.loads(wanted.arguments or "{}")
            except ValueError:
                arguments = {}
            if wanted.name == "hand_in":
                return await verified(memory, arguments)
            turns.append(
                {"role": "tool", "tool_call_id": call.id, "content": await used(memory, wanted.name, arguments)}
            )
    raise RuntimeError(f"The model handed in no view within {ROUNDS} rounds.")


async def used(memory: Client, tool: str, arguments: dict[str, Any]) -> str:
    """Return what a tool answers, as a model reads it; a refusal is a sentence that says what to do."""
    if tool not in TOOLS:
        return f"The tools are {', '.join(TOOLS)} and hand_in."
    result = await memory.call_tool(tool, arguments)
    return "\n".join(getattr(block, "text", "") for block in result.content)


async def verified(memory: Client, view: dict[str, Any]) -> dict[str, Any]:
    """Return a view as the server verified it: never state a point that is not in it."""
    result = await memory.call_tool("verify_view", {"view": view})
    if result.is_error or result.structured_content is None:
        raise RuntimeError("\n".join(getattr(block, "text", "") for block in result.content))
    return result.structured_content


def told(view: dict[str, Any]) -> str:
    """Return a view for a person: each point with the words that prove it, then what is uncertain."""
    words = {one["message_id"]: f"{one['ts'][:10]} {one['role']}: {one['content']}" for one in view["evidence"]}
    lines: list[str] = []
    for points in view["memory_view"].values():
        for point in points:
            lines += [point["text"], *(f"    {words[one]}" for one in point["evidence"])]
    lines += [f"Uncertain: {one['text']} ({one['reason']})" for one in view["uncertain"]]
    return "\n".join(lines) or "Nothing is proven."


async def main() -> None:
    """Ask the memory that `shiguan serve` gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question")
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url")
    parser.add_argument("--serve", nargs="*", default=[], help="further arguments of `shiguan serve`")
    args = parser.parse_args()
    model = AsyncOpenAI(base_url=args.base_url, api_key=os.environ.get("OPENAI_API_KEY", "none"))
    server = StdioServerParameters(command="shiguan", args=["serve", "--toolsets", "recall", *args.serve])
    async with Client(server) as memory:
        try:
            said = told(await recall(memory, model, args.model, args.question))
        except RuntimeError as error:
            said = str(error)
    sys.stdout.write(said + "\n")


if __name__ == "__main__":
    asyncio.run(main())
