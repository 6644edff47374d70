"""A minimal chat bot with a memory: it reads `build_context` before it answers, and closes every turn with `end`.

    python examples/chat_bot.py --model qwen3:4b --base-url http://127.0.0.1:11434/v1 --user alice

Type a line and read the answer; an empty line ends it. The model is any that speaks the OpenAI protocol, and its key
stands in OPENAI_API_KEY. The memory is `shiguan serve` over stdio, with the data folder in SHIGUAN_DATA_DIR.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from typing import Any

from mcp import Client, StdioServerParameters
from openai import AsyncOpenAI

SYSTEM = (
    "You are a friendly assistant. Answer in the user's language. When you have answered, call end once: what you did "
    "as memo, and each new fact that the user told you as an observation: whole sentences, with names and absolute "
    "dates.\n\n"
)
KEPT_TURNS = 20
"""What the model itself is shown of the conversation; the memory knows the rest."""


class ChatBot:
    """One conversation between a person and a model, with a memory."""

    def __init__(self, memory: Client, model: AsyncOpenAI, name: str, end: dict[str, Any]) -> None:
        self._memory = memory
        self._model = model
        self._name = name
        self._end = end
        self._turns: list[dict[str, Any]] = []

    async def answer(self, message: str) -> str:
        """Answer one message."""
        known = await self._call("build_context", message=message)
        asked = [
            {"role": "system", "content": SYSTEM + known["text"]},
            *self._turns[-KEPT_TURNS:],
            {"role": "user", "content": message},
        ]
        said, closing = await self._complete(asked)
        # the words of the person are the evidence of what is remembered, whatever the model makes of them
        await self._call("end", **{"memo": f"Answered: {said[:200]}", **closing, "source_message": message})
        self._turns += [{"role": "user", "content": message}, {"role": "assistant", "content": said}]
        return said

    async def _complete(self, messages: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        """Return what the model says, and what it wants to have remembered; a weak model calls no tool."""
        tools: Any = [{"type": "function", "function": self._end}]
        asked: Any = messages
        reply = await self._model.chat.completions.create(model=self._name, messages=asked, tools=tools)
        message = reply.choices[0].message
        closing: dict[str, Any] = {}
        for call in message.tool_calls or ():
            if call.type == "function" and call.function.name == "end":
                given = json.loads(call.function.arguments or "{}")
                closing = {name: given[name] for name in ("memo", "observations") if given.get(name)}
        if message.content:
            return message.content, closing
        reply = await self._model.chat.completions.create(model=self._name, messages=asked)  # it only called the tool
        return reply.choices[0].message.content or "", closing

    async def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._memory.call_tool(tool, arguments)
        if result.is_error or not isinstance(result.structured_content, dict):
            raise RuntimeError(f"{tool}: {result.content}")
        return result.structured_content


async def talk(arguments: argparse.Namespace) -> None:
    """Answer each line of stdin."""
    server = StdioServerParameters(
        command="shiguan", args=["serve", "--user", arguments.user, "--name", arguments.name], env=dict(os.environ)
    )
    model = AsyncOpenAI(base_url=arguments.base_url, api_key=os.environ.get("OPENAI_API_KEY") or "none")
    async with Client(server) as memory, model:
        (end,) = [tool for tool in (await memory.list_tools()).tools if tool.name == "end"]
        described = {"name": end.name, "description": end.description or "", "parameters": end.input_schema}
        bot = ChatBot(memory, model, arguments.model, described)
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            sys.stdout.write(await bot.answer(line) + "\n")
            sys.stdout.flush()


def main() -> None:
    """Read the arguments and talk."""
    parser = argparse.ArgumentParser(description="Chat with a model that has a memory.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url", help="of an OpenAI-compatible endpoint (default: OpenAI's)")
    parser.add_argument("--user", default="me", help="whose memory")
    parser.add_argument("--name", default="", help="the user's name, by which statements call them")
    asyncio.run(talk(parser.parse_args()))


if __name__ == "__main__":
    main()
