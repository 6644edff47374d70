"""What `search_events` costs over stdio beside a bare Chroma query of the same vector: `python -m benchmarks.search`.

The events go straight into the stores. 600 sentences, Chinese and English, are embedded by the built-in model; the
others are those with other numbers in them, and their vectors are the same ones with a little noise. No query is asked
twice, so every one is embedded. The bare query runs in this process, on a copy of the collection.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import Peer, folder, p50, p95, shiguan, table, timed

if TYPE_CHECKING:
    from server.household import Household

USER = "bench"
TOP_K = 12
BASES = 600
NOISE = 0.02
WARM = 10
PARTS = ("LexicalIndex.search", "Engine.embed_query", "VectorStore.search", "ReadableEvents.rows")
"""The methods between which the time of a search is divided."""
_WHO = ("Lin Xiao", "Mara", "Old Chen", "Priya", "Jonas", "林晓", "老陈", "小雨", "阿杰", "周老师")
_WHAT = (
    "moved to Hangzhou and pays {n} yuan for flat {n}",
    "booked seat {n} on the night train to Vienna",
    "prefers tea {n} to coffee and sleeps {n} minutes after lunch",
    "fixed bug {n} in the payment service before the release",
    "bought {n} tulips for the garden behind the house",
    "won match {n} of the table tennis club",
    "在西湖边租下第 {n} 号公寓，每月 {n} 元",
    "订了去成都的第 {n} 次航班，靠窗的座位",
    "对花生过敏，午饭只吃 {n} 号套餐",
    "把第 {n} 版合同发给了客户，等对方签字",
    "养了一只叫豆豆的猫，体重 {n} 克",
    "周末去爬山，一共走了 {n} 步",
)
_ASKED = (
    "Who moved to Hangzhou with number {n}?",
    "night train {n} Vienna seat",
    "what does Priya drink after lunch {n}",
    "payment service bug {n}",
    "谁租了西湖边的 {n} 号公寓",
    "过敏 午饭 {n}",
    "合同发给客户 第{n}版",
    "猫 体重 {n}",
)


def sentence(number: int) -> str:
    """Return one of many statements."""
    return f"{_WHO[number % len(_WHO)]} {_WHAT[number // len(_WHO) % len(_WHAT)].format(n=number)}"


def question(number: int) -> str:
    """Return one of many queries."""
    return _ASKED[number % len(_ASKED)].format(n=number)


def open_house(data: Path) -> Household:
    """Open a data folder in this process and wait for its embedder."""
    from server.composition import open_household
    from server.settings import load_settings

    household = open_household(load_settings({"data_dir": data, "user": USER, "timezone": "Asia/Shanghai"}, {}))
    household.engine.start()
    if not household.engine.wait(300):
        raise TimeoutError(household.engine.failure or "the embedder does not load")
    return household


def fill(data: Path, count: int, user_of: Callable[[int], str] = lambda _: USER) -> None:
    """Make a data folder with so many events, with words and vectors; event `n` is that of `user_of(n)`."""
    from historian.backlog import event_backlog
    from historian.events import EventStore
    from historian.model import Event, Owner

    household = open_house(data)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    store = EventStore(household.database)
    for first in range(0, count, 2_000):
        store.add(
            [
                Event(
                    event_id=f"event-{n}",
                    owner=Owner("user", user_of(n)),
                    request_id=f"job-{n}",
                    end_seq=0,
                    index=0,
                    text=sentence(n),
                    original=sentence(n),
                    timestamp=start + timedelta(minutes=n),
                    timezone="Asia/Shanghai",
                    user_id=user_of(n),
                    sender_id=user_of(n),
                )
                for n in range(first, min(count, first + 2_000))
            ]
        )
    give_vectors(household, event_backlog(household.database))
    household.close()


def give_vectors(household: Household, backlog: Any) -> None:
    """Give the events that wait for a vector one of the model's, with a little noise."""
    import numpy as np

    from historian.vectors import VectorRecord

    embedder, random = household.engine.embedder, np.random.default_rng(7)
    bases = embedder.embed([sentence(n) for n in range(BASES)])
    while waiting := backlog.next(embedder.identity, 1_000):
        noise = random.normal(0, NOISE, (len(waiting), embedder.dimension)).astype(np.float32)
        records = [
            VectorRecord(str(one.row), bases[(one.row - 1) % BASES] + extra, one.owner, one.author, one.epoch)
            for one, extra in zip(waiting, noise, strict=True)
        ]
        household.engine.vectors.upsert("events", records)
        backlog.done([one.row for one in waiting], embedder.identity)


class Bare:
    """Chroma by itself, on a copy of the collection, and the vectors of the queries."""

    def __init__(self, vectors: Path, embed: Callable[[Sequence[str]], Any]) -> None:
        import chromadb
        from chromadb.config import Settings

        client = chromadb.PersistentClient(path=str(vectors), settings=Settings(anonymized_telemetry=False))
        self._collection = client.get_collection("events", embedding_function=None)
        self._embed = embed

    def time(self, text: str) -> float:
        """Return the milliseconds of one query."""
        vector = self._embed([text])
        return timed(lambda: self._collection.query(query_embeddings=vector, n_results=TOP_K, include=["distances"]))


@contextmanager
def clocks(spent: dict[str, float]) -> Generator[None]:
    """Add up what `PARTS` take while the block runs, in ms, under their names."""
    from historian.engine import Engine
    from historian.events import ReadableEvents
    from historian.lexical import LexicalIndex
    from historian.vectors import VectorStore

    methods = ((LexicalIndex, "search"), (Engine, "embed_query"), (VectorStore, "search"), (ReadableEvents, "rows"))
    originals = [(owner, name, getattr(owner, name)) for owner, name in methods]

    def clocked(method: Callable[..., Any], key: str) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **more: Any) -> Any:
            begin = time.perf_counter()
            try:
                return method(*arguments, **more)
            finally:
                spent[key] += (time.perf_counter() - begin) * 1000

        return wrapper

    for owner, name, method in originals:
        setattr(owner, name, clocked(method, f"{owner.__name__}.{name}"))
    try:
        yield
    finally:
        for owner, name, method in originals:
            setattr(owner, name, method)


def compare(data: Path, count: int, queries: int) -> tuple[list[list[str]], list[str]]:
    """Ask each query of the server, of Chroma alone and of a copy of the data in this process; return both tables."""
    from historian.model import Scope
    from historian.session import Session
    from server.folder import VECTORS_NAME

    spent = dict.fromkeys(PARTS, 0.0)
    taken: list[list[float]] = []
    with folder() as copies, Peer(shiguan(data, "--standalone")) as peer, clocks(spent):
        shutil.copytree(data, copies / "ours")
        shutil.copytree(data / VECTORS_NAME, copies / "bare")
        household = open_house(copies / "ours")
        bare = Bare(copies / "bare", household.engine.embedder.embed)
        memory = household.memory.of(Scope(USER), Session(timezone="Asia/Shanghai"))
        peer.initialize()
        peer.ready()
        for number in range(queries + WARM):
            text = question(number)
            ours = timed(lambda: peer.call("search_events", query=text, top_k=TOP_K))  # noqa: B023
            plain = bare.time(text)
            spent.update(dict.fromkeys(PARTS, 0.0))
            inside = timed(lambda: memory.search_events(text, top_k=TOP_K))  # noqa: B023
            taken.append([plain, ours, *spent.values(), inside - sum(spent.values()), ours - inside])
        household.close()
    plain_times, our_times, *shares = [[*column] for column in zip(*taken[WARM:], strict=True)]
    lines = [
        [
            f"{count:,} events, {name}",
            f"{of(plain_times):.2f}",
            f"{of(our_times):.2f}",
            f"{of(our_times) / of(plain_times):.1f}",
        ]
        for name, of in (("p50", p50), ("p95", p95))
    ]
    return lines, [f"{count:,} events", *(f"{p50(share):.2f}" for share in shares)]


def main(arguments: list[str]) -> int:
    """Measure and print; the arguments are the numbers of events (default 1000 20000)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    counts = [int(argument) for argument in arguments] or [1_000, 20_000]
    lines: list[list[str]] = []
    shares: list[list[str]] = []
    for count in counts:
        with folder() as data:
            fill(data, count)
            compared, own = compare(data, count, 100)
            lines += compared
            shares.append(own)
    table(
        f"`search_events` over stdio against one bare Chroma query (n_results={TOP_K}) of the same vector, in ms",
        ["", "bare Chroma", "search_events", "ratio"],
        lines,
    )
    table(
        "Where the time goes, medians in ms; the last column: the answer less the same search in this process",
        ["", "by words", "embed the query", "by meaning", "read rows", "rank and rest", "SDK, stdio, process"],
        shares,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
