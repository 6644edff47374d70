"""`make demo`: a real stdio session against the command in mcp.json, on a bilingual conversation, step by step."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from benchmarks.conversation import ENDS, GROUP, LIN, MARA, SEARCHES, TURNS, Closed, Said

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "data" / "demo"
ZONES = {LIN: "Asia/Shanghai", MARA: "Europe/Berlin"}
USERS = {LIN: "linxiao", MARA: "mara"}


@asynccontextmanager
async def session(speaker: str, group: str | None) -> AsyncGenerator[Client]:
    """Start the server that mcp.json names, on behalf of one person, and connect to it."""
    entry = json.loads((ROOT / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["shiguan"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {
        **entry["env"],
        "PATH": path,
        "SHIGUAN_USER_ID": USERS[speaker],
        "SHIGUAN_TIMEZONE": ZONES[speaker],
        "SHIGUAN_GROUPS": group or "",
        "SHIGUAN_TOOLSETS": "host",
    }
    command = shutil.which(entry["command"], path=path) or entry["command"]
    server = StdioServerParameters(command=command, args=entry["args"], env=environment, cwd=FOLDER)
    with (FOLDER / "server.log").open("a", encoding="utf-8") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            yield client


def show(text: str) -> None:
    """Print one step at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    """Call a tool that must succeed."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(f"{tool}: {text_of(result)}")
    return result


def text_of(result: CallToolResult) -> str:
    """Return the text channel of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def message(number: int, said: Said) -> dict[str, Any]:
    """Return a turn as a host appends it."""
    speaks = said.role == "user"
    return {
        "message_id": f"t{number:02}",
        "conversation_id": said.group or f"private-{USERS[said.speaker]}",
        "role": said.role,
        "sender_id": USERS[said.speaker] if speaks else "assistant",
        "sender_name": said.speaker if speaks else "Assistant",
        "content": said.text,
        "ts": said.ts,
    }


async def record_and_close(speaker: str, group: str | None) -> None:
    """Play one person's part in one place: the turns go into the record, then each turn is closed."""
    place = f"group {group}" if group else "private"
    everyone = group is not None and speaker == LIN
    turns = [
        message(number, said)
        for number, said in enumerate(TURNS)
        if said.group == group and (everyone or (said.speaker == speaker and group is None))
    ]
    async with session(speaker, group) as client:
        show(f"\n## {speaker}, {place}")
        if turns:
            show(text_of(await call(client, "messages_append", messages=turns)))
        for closed in ENDS:
            if closed.speaker == speaker and closed.group == group:
                await close(client, closed)


async def close(client: Client, closed: Closed) -> None:
    """Close one turn and wait for the historian."""
    ids = [f"t{number:02}" for number, said in enumerate(TURNS) if said.text in closed.said]
    started = time.perf_counter()
    receipt = await call(client, "end", memo=closed.memo, observations=[*closed.observations], message_ids=ids)
    took = (time.perf_counter() - started) * 1000
    answer = receipt.structured_content or {}
    show(
        f"end answered in {took:.0f} ms: {answer['job_id']} (words for the historian to resolve: {len(answer['gate'])})"
    )
    await settled(client, answer["job_id"])
    for text in closed.observations:
        show(f"   said  {text}")


async def settled(client: Client, job_id: str) -> None:
    """Ask for the receipt until the historian is done with the job."""
    state = ""
    while state != "done":
        await anyio.sleep(0.05)
        status = (await call(client, "memory_status", job_id=job_id)).structured_content or {}
        state = status["job"]["state"]


async def look(speaker: str, group: str | None) -> None:
    """Print what is remembered, and the searches with their evidence."""
    async with session(speaker, group) as client:
        if (speaker, group) == (MARA, GROUP):
            show(f"\n## The same group, asked by {speaker}")
        else:
            show(f"\n## What is remembered of {'group ' + group if group else speaker}")
            show(text_of(await call(client, "get_profile", entity_type="group" if group else "user")))
        for who, where, query in SEARCHES:
            if (who, where) == (speaker, group):
                found = (await call(client, "search_events", query=query, top_k=2)).structured_content or {}
                show(f"\n? {query}")
                for event in found["events"]:
                    show(f"  → {event['text']}  [{event['score']:.2f}; rests on {', '.join(event['message_ids'])}]")
                    for proof in event["message_ids"]:
                        show(f"      {proof}: {TURNS[int(proof[1:])].text}")


async def main() -> None:
    """Run the demo in a fresh folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    show(f"# Shiguan 史官: {len(TURNS)} turns of two people and a group; no key, no network, no download")
    for speaker, group in ((LIN, None), (MARA, None), (LIN, GROUP), (MARA, GROUP)):
        await record_and_close(speaker, group)
    for speaker, group in ((LIN, None), (MARA, None), (LIN, GROUP), (MARA, GROUP)):
        await look(speaker, group)
    show(f"\nThe data folder is left for a look: {FOLDER / 'data'} (profiles/ are Markdown; server.log is beside it).")


if __name__ == "__main__":
    anyio.run(main)
