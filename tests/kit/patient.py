"""A memory with a few texts in it, in this process, for the doctor to look at."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from historian.clock import SystemClock
from historian.embed import Embedder
from historian.embed_fake import HashingEmbedder
from historian.events import EventStore
from historian.merge import Statement
from historian.model import Event, Message, Owner
from historian.record import Record
from historian.trial import Trial
from server.composition import open_household
from server.household import Household
from server.settings import load_settings

ALICE = Owner("user", "alice")
AT = datetime(2026, 11, 28, 8, 0, tzinfo=UTC)
TEXTS = ("小明喜欢吃火锅。", "Bob moved to Berlin in May.", "Alice 的猫叫 Mochi。")


@contextmanager
def household(
    folder: Path, texts: Sequence[str] = TEXTS, *, embedder: Embedder | None = None, start: bool = True
) -> Generator[Household]:
    """Open a memory of these texts, as messages, events and profile lines, each with its vector if it is started."""
    settings = load_settings({"data_dir": folder, "user": "alice", "timezone": "Asia/Shanghai"}, {})
    opened = open_household(settings, embedder=embedder or HashingEmbedder())
    try:
        fill(opened, texts)
        if start:
            opened.engine.start()
            assert opened.engine.wait(60)
            embed_all(opened)
        yield opened
    finally:
        opened.close()


def fill(opened: Household, texts: Sequence[str]) -> None:
    """Put texts into all three stores; the same ones again change nothing."""
    messages = [Message(f"m{number}", "c", "user", text, AT, sender_id="alice") for number, text in enumerate(texts)]
    Record(opened.database).append(ALICE, messages)
    EventStore(opened.database).add([event(number, text) for number, text in enumerate(texts)])
    statements = [Statement(text, f"e{number}", "private", AT) for number, text in enumerate(texts)]
    if statements:
        opened.historian.upkeep.biographer.merge(ALICE, statements)


def event(number: int, text: str, *, same_as: str | None = None) -> Event:
    """Return an event of Alice's."""
    return Event(f"e{number}", ALICE, "r", number, 0, text, text, AT, "Asia/Shanghai", "alice", same_as=same_as)


def embed_all(opened: Household) -> None:
    """Give every text its vector."""
    while opened.indexer.run_batch():
        pass


def trial(folder: Path) -> Trial:
    """Return the guard of the folder's vectors."""
    return Trial(folder / "chroma", SystemClock())


def marked(opened: Household) -> int:
    """Return how many texts are said to have a vector."""
    identity = opened.engine.embedder.identity
    return sum(backlog.count_done(identity) for backlog in opened.indexer.backlogs)


def make_deadly(chroma: Path) -> None:
    """Let every link of the index lead out of it: a process that follows one ends with a segmentation fault."""
    for path in chroma.glob("*/data_level0.bin"):
        header = (path.parent / "header.bin").read_bytes()
        size, links = (int.from_bytes(header[at : at + 8], "little") for at in (28, 44))
        data = bytearray(path.read_bytes())
        for start in range(0, len(data) - size + 1, size):
            data[start : start + links] = (32).to_bytes(4, "little") + (0x7FFFFFF0).to_bytes(4, "little") * 32
        path.write_bytes(data)
