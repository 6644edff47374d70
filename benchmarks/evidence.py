"""How fast the record is written and read: `python -m benchmarks.evidence [--size 10000 100000] [--semantic]`.

Synthetic messages, Chinese and English mixed, of 200 people alike, and of one who said 5 000 where there is room.
Reading is measured through a real server over stdio, beside an echo on the same transport, which gives back a text of
the size of our answer, and beside bare SQL (or a numpy scan) on the same data. Rounds alternate, so that a busy machine
burdens all alike. `--semantic` also stores a vector per message; those are random, as only their number matters.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import Peer, command, environment, folder, p50, shiguan, table, timed, verdict
from historian.database import Database
from historian.embed import BuiltinEmbedder
from historian.fold import bigrams, fold, runs
from historian.model import Message, Owner
from historian.record import Record
from historian.stems import stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

USERS = 200
HEAVY, HEAVY_MESSAGES = "heavy", 5_000
BATCH = 500
QUOTE = '"'
START = datetime(2024, 1, 1, tzinfo=UTC)
ZH = (
    "今天下雨没去跑步",
    "我对花生过敏",
    "周末一起吃火锅吧",
    "项目下周三上线",
    "把 docker 镜像重新构建一次",
    "妈妈生日是五月十二号",
    "最近在学日语",
    "不吃辣",
    "会议改到下午三点",
    "新房子在杭州",
    "这个接口返回五百错误",
    "帮我查一下航班",
    "猫又生病了",
    "预算还剩三千",
    "昨晚看了一部电影",
    "他喜欢古典音乐",
    "合同已经签好",
    "数据库需要迁移",
    "孩子开始上幼儿园",
    "想换一台电脑",
)
EN = (
    "the deployment failed again last night",
    "I moved to Berlin in spring",
    "please book a table for four",
    "my sister plays the violin",
    "the invoice is still unpaid",
    "we should migrate the database",
    "no peanuts please",
    "the meeting is on Thursday",
    "coffee without sugar",
    "the flight leaves at seven",
    "he is reading a novel",
    "review the pull request",
    "the cat is sick again",
    "budget is tight this month",
    "learning to cook ramen",
)
QUERIES = (
    "花生过敏",
    "火锅",
    "docker 镜像",
    "不吃辣",
    "Berlin",
    "migrate database",
    "peanuts",
    "会议 OR meeting",
    '"古典音乐"',
    "violin",
    "航班 NOT flight",
    "预算",
    "第7次",
    "unpaid invoice",
    "幼儿园",
    "日语",
    "thursday",
    "电脑",
    "接口错误",
    "sugar coffee",
)
NO_VECTORS = {
    "SHIGUAN_EMBEDDING__PROVIDER": "openai",
    "SHIGUAN_EMBEDDING__MODEL": "none",
    "SHIGUAN_EMBEDDING__BASE_URL": "http://127.0.0.1:9/v1",
}
"""An embedder that is down: a server that embeds a hundred thousand messages meanwhile would be measured instead."""
ECHO = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("echo")


@server.tool()
def echo(size: int) -> str:
    return "记 w" * (size // 3)


server.run("stdio")
"""


@dataclass
class Taken:
    """Milliseconds of each call, and how large the answers were."""

    ours: list[float] = field(default_factory=list[float])
    echo: list[float] = field(default_factory=list[float])
    bare: list[float] = field(default_factory=list[float])
    items: list[int] = field(default_factory=list[int])

    @property
    def ratio(self) -> float:
        """Ours over echo and bare work together, by their medians."""
        return p50(self.ours) / (p50(self.echo) + (p50(self.bare) if self.bare else 0.0))


def content(chance: random.Random, number: int) -> str:
    """Return a text of one to five sentences in both languages."""
    parts = [chance.choice(ZH if chance.random() < 0.6 else EN) for _ in range(chance.randint(1, 5))]
    return "，".join([*parts, f"第{number % 97}次"])


def batches_of_one(path: Path, count: int) -> float:
    """Append what one person said, in batches, durably, and return how many a second."""
    chance = random.Random(2)
    messages = [
        Message(f"m{n}", "c", "user", content(chance, n), START + timedelta(minutes=n)) for n in range(count + BATCH)
    ]
    database = Database(path)
    record = Record(database)
    record.append(Owner("user", "one"), messages[:BATCH])  # the tables of folding are loaded once
    begin = time.perf_counter()
    for start in range(BATCH, count + BATCH, BATCH):
        record.append(Owner("user", "one"), messages[start : start + BATCH])
    speed = count / (time.perf_counter() - begin)
    database.close()
    return speed


def fill(path: Path, size: int) -> tuple[float, float]:
    """Write the messages in batches of one person each; return how many a second, by the clock and by CPU time."""
    chance = random.Random(1)
    heavy = HEAVY_MESSAGES if size >= 20 * HEAVY_MESSAGES else 0
    each = (size - heavy) // USERS
    shares = [(f"u{n}", each) for n in range(USERS)] + ([(HEAVY, heavy)] if heavy else [])
    step = timedelta(days=700) / max(each, heavy)
    database = Database(path)
    record, spent, busy, written = Record(database), 0.0, 0.0, 0
    try:
        for start in range(0, max(each, heavy), BATCH):
            for user, count in shares:
                texts = [content(chance, n) for n in range(start, min(start + BATCH, count))]
                messages = [
                    Message(
                        message_id=f"m{start + n}",
                        conversation_id=f"c{(start + n) // 400}",
                        role="user" if n % 2 else "assistant",
                        content=text,
                        ts=START + step * (start + n) + timedelta(milliseconds=hash(user) % 500),
                        sender_id=user if n % 2 else None,
                    )
                    for n, text in enumerate(texts)
                ]
                if messages:
                    begin, begun = time.perf_counter(), time.process_time()
                    record.append(Owner("user", user), messages)
                    spent += time.perf_counter() - begin
                    busy += time.process_time() - begun
                    written += len(messages)
    finally:
        database.close()
    return written / spent, written / busy


class Bare:
    """The recipe and nothing else, on a connection of its own."""

    def __init__(self, path: Path, user: str) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        row = self._connection.execute("SELECT id FROM audiences WHERE key = ?", (f"user:{user}",)).fetchone()
        self._audience: int = row[0]

    def lexical(self, query: str) -> int:
        """Match, verify with `instr`, and read all that match, as whoever ranks them has to; return how many."""
        words = [word for word in query.replace('"', "").split() if word not in ("OR", "NOT", "AND")]
        joiner = " OR " if " OR " in query else " NOT " if " NOT " in query else " AND "
        match = joiner.join("(" + " AND ".join(f'"{term}"' for term in _terms(word)) + ")" for word in words)
        checked = " OR " if joiner == " OR " else " AND "
        verified = checked.join("instr(l.folded, ?)" for _ in words[: 1 if joiner == " NOT " else None])
        values = [fold(word) for word in words[: 1 if joiner == " NOT " else None]]
        if not any(bigrams(word) for word in values):
            verified, values = "TRUE", []  # a Western word may match by its stem
        statement = (
            "SELECT m.* FROM messages_fts AS f CROSS JOIN messages_lexical AS l ON l.row = f.rowid"
            " CROSS JOIN messages AS m ON m.row = f.rowid WHERE messages_fts MATCH ?"
            f" AND ({verified}) ORDER BY f.rowid DESC"
        )
        rows = self._connection.execute(statement, (f'("\ue000{self._audience}") AND ({match})', *values)).fetchall()
        return len(rows)

    def list(self) -> None:
        """Read the newest fifty."""
        self._connection.execute(
            "SELECT m.* FROM message_audiences AS a CROSS JOIN messages AS m ON m.row = a.row WHERE a.audience_id = ?"
            " ORDER BY a.row DESC LIMIT 50",
            (self._audience,),
        ).fetchall()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _terms(word: str) -> list[str]:
    found: list[str] = []
    for run, is_cjk in runs(fold(word)):
        found += (bigrams(run) or [run]) if is_cjk else [stem(run)]
    return found


def measure(
    ours: Peer,
    echo: Peer,
    calls: Sequence[tuple[str, dict[str, Any]]],
    rounds: int,
    bare: Callable[[int], object] | None,
) -> Taken:
    """Run the calls in turn, each beside an echo of the same size and the bare work."""
    taken = Taken()
    for tool, arguments in calls:  # warm
        ours.burst([(tool, arguments)])
    for number in range(rounds):
        at = number % len(calls)
        tool, arguments = calls[at]
        taken.ours += ours.burst([(tool, arguments)])
        line = ours.lines[-1][1]
        taken.items.append(len(json.loads(line)["result"]["structuredContent"]["items"]))
        taken.echo += echo.burst([("echo", {"size": len(line.decode()) // 2})])
        if bare is not None:
            taken.bare.append(timed(partial(bare, at)))
    return taken


class RandomVectors(BuiltinEmbedder):
    """The built-in embedder, but for messages it makes vectors up."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return random unit vectors, shape (n, dimension)."""
        import numpy as np

        made = np.random.default_rng(len(texts)).standard_normal((len(texts), self.dimension)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def store_vectors(data: Path) -> float:
    """Give each message a vector and return how many a second."""
    from server.composition import open_household
    from server.settings import load_settings

    household = open_household(load_settings({"data_dir": data, "user": "bench"}, {}), embedder=RandomVectors())
    try:
        household.engine.start()
        household.engine.wait(None)
        begin, made = time.perf_counter(), 0
        while count := household.indexer.run_batch():
            made += count
        return made / (time.perf_counter() - begin)
    finally:
        household.close()


def nearest(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the sixty nearest rows: the exact scan."""
    import numpy as np

    cosines = matrix @ vector
    best = np.argpartition(cosines, -60)[-60:]
    return best[np.argsort(-cosines[best])]


def semantic(data: Path, echo: Peer, rounds: int) -> list[str]:
    """Measure the search by meaning of the one who said 5 000 messages."""
    import numpy as np

    embedder = BuiltinEmbedder()
    embedder.load()
    chance = np.random.default_rng(3)
    matrix = chance.standard_normal((HEAVY_MESSAGES, embedder.dimension)).astype(np.float32)
    bare = Bare(data / "memory.sqlite3", HEAVY)
    parts: dict[str, list[float]] = {"ours": [], "echo": [], "embed": [], "scan": [], "sql": []}
    with Peer(shiguan(data, "--standalone", "--user", HEAVY)) as ours:
        ours.initialize()
        ours.ready()
        for number in range(rounds + 3):
            words = QUERIES[number % len(QUERIES)]
            query = f"{words.replace(QUOTE, '')} {number}"  # a new one each time: the server remembers vectors
            (mine,) = ours.burst([("semantic_search", {"query_text": query})])
            (echoed,) = echo.burst([("echo", {"size": len(ours.lines[-1][1].decode()) // 2})])
            vector = embedder.embed([query])[0]
            embed = timed(partial(embedder.embed, [f"{query} "]))
            scan = timed(partial(nearest, matrix, vector))
            sql = timed(partial(bare.lexical, words))
            if number >= 3:
                for name, value in zip(parts, (mine, echoed, embed, scan, sql), strict=True):
                    parts[name].append(value)
        resident = ours.resident()
    bare.close()
    figures = {name: p50(values) for name, values in parts.items()}
    floor = figures["echo"] + figures["embed"] + figures["scan"] + figures["sql"]
    ratio = figures["ours"] / floor
    return [
        f"semantic_search, {HEAVY_MESSAGES} messages of one",
        f"{figures['ours']:.2f}",
        f"{figures['echo']:.2f}",
        f"{figures['embed']:.2f} + {figures['scan']:.2f} + {figures['sql']:.2f}",
        f"{ratio:.2f}",
        verdict(ratio, 2.0),
        f"{resident:.0f} MB",
    ]


def index_sizes(path: Path) -> tuple[float, float]:
    """Return the bytes per message of the whole database and of the word index in it."""
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM messages").fetchone()
        try:
            (words,) = connection.execute(
                "SELECT sum(pgsize) FROM dbstat WHERE name GLOB 'messages_fts*' OR name = 'messages_lexical'"
            ).fetchone()
        except sqlite3.OperationalError:
            (words,) = connection.execute("SELECT sum(length(block)) FROM messages_fts_data").fetchone()
    return path.stat().st_size / count, words / count


def run(size: int, rounds: int, *, with_vectors: bool) -> dict[str, float]:
    """Measure one size, print its table and return the medians that have to stay flat."""
    with folder() as data:
        path = data / "memory.sqlite3"
        data.mkdir(exist_ok=True)
        speed, by_cpu = fill(path, size)
        whole, words = index_sizes(path)
        rows: list[list[str]] = []
        vectors = store_vectors(data) if with_vectors else 0.0
        bare = Bare(path, "u0")
        without = {} if with_vectors else NO_VECTORS
        with (
            Peer(command(ECHO), env=environment()) as echo,
            Peer(shiguan(data, "--standalone", "--user", "u0"), env=environment(**without)) as ours,
        ):
            echo.initialize()
            ours.initialize()
            if with_vectors:
                ours.ready()
            lexical = [("lexical_search", {"query_text": query}) for query in QUERIES]
            anchor = ours.call("messages_list", page_size=5)["items"][-1]["message_id"]
            jobs: list[tuple[str, list[tuple[str, dict[str, Any]]], Callable[[int], object] | None]] = [
                ("lexical_search", lexical, lambda at: bare.lexical(QUERIES[at])),
                ("messages_list", [("messages_list", {})], lambda _: bare.list()),
                ("neighbors", [("neighbors", {"message_id": anchor})], None),
            ]
            results = {name: measure(ours, echo, calls, rounds, work) for name, calls, work in jobs}
            resident = ours.resident()
            for name, taken in results.items():
                limit = verdict(taken.ratio, 1.5) if name == "lexical_search" else ""
                rows.append(
                    [
                        f"{name} ({p50(taken.items):.0f} items)",
                        f"{p50(taken.ours):.2f}",
                        f"{p50(taken.echo):.2f}",
                        f"{p50(taken.bare):.2f}" if taken.bare else "",
                        f"{taken.ratio:.2f}",
                        limit,
                        f"{resident:.0f} MB",
                    ]
                )
            if with_vectors and size >= 20 * HEAVY_MESSAGES:
                rows.append(semantic_after(ours, data, echo, rounds))
        bare.close()
        table(
            f"{size} messages of {USERS} people: appended {speed:.0f}/s ({by_cpu:.0f}/s of CPU time), {whole:.0f} bytes"
            f" a message, of them {words:.0f} for words" + (f", {vectors:.0f} vectors/s" if with_vectors else ""),
            ["", "ours p50 ms", "echo", "bare", "ratio", "target", "RSS"],
            rows,
        )
    return {name: p50(taken.ours) for name, taken in results.items()}


def semantic_after(ours: Peer, data: Path, echo: Peer, rounds: int) -> list[str]:
    """End the first server, which holds the folder, and measure with another."""
    ours.__exit__()
    return semantic(data, echo, rounds)


def main() -> None:
    """Run all sizes and say whether the medians are flat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--semantic", action="store_true", help="also store vectors and search by meaning; minutes")
    arguments = parser.parse_args()
    with folder() as data:
        speed = batches_of_one(data / "memory.sqlite3", 20_000)
    print(f"append, batches of {BATCH} of one person, durable: {speed:.0f}/s (target ≥ 5000)")
    medians = [run(size, arguments.rounds, with_vectors=arguments.semantic) for size in arguments.size]
    if len(medians) > 1:
        flat = {name: medians[-1][name] / medians[0][name] for name in ("messages_list", "neighbors")}
        rows = [[name, f"{growth:.2f}", verdict(growth, 1.5)] for name, growth in flat.items()]
        table(f"Medians at {arguments.size[-1]} over those at {arguments.size[0]}", ["", "growth", "target"], rows)


if __name__ == "__main__":
    main()
