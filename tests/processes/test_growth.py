"""The historian's memory stays flat however many jobs it does, also when all of them fail. A real process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from historian.clock import SystemClock
from historian.model import Scope
from historian.queue import Queue
from historian.session import Session
from historian.turn import Turn, fingerprint
from historian.work import END, job_payload
from tests.kit.chat import ScriptedModel
from tests.kit.clients import resident, say, until
from tests.kit.endpoint import FakeEndpoint
from tests.kit.reply import failing
from tests.kit.speaking import good
from tests.kit.stdio import CEILING, Stdio

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

PEOPLE = 400
FACTS = 2000
"""Later jobs say again what earlier ones said: what is kept of news is in memory as vectors, and is no leak."""
BATCH = 250
GROWN_MB = 50.0
"""What the process may gain after a tenth of the jobs (a half where there are few) has shown what it needs at all."""

Enqueue = Callable[[Queue, int], object]


def a_turn(queue: Queue, number: int) -> object:
    """Close a turn of one of many people."""
    session = Session(timezone="Asia/Shanghai", sender_name="Lin Xiao")
    scope = Scope(f"u{number % PEOPLE}", None, frozenset())
    parcel = number % FACTS
    fact = f"Lin Xiao sends parcel {parcel} to Hangzhou." if parcel % 2 else f"林晓把 {parcel} 号包裹寄到杭州。"
    turn = Turn(memo=f"Noted parcel {number}.", observations=(fact,), source_message=fact)
    mark = fingerprint(scope, session, turn)
    return queue.enqueue(END, scope.owner.key, job_payload(scope, session, turn, mark, SystemClock().now()))


def a_failure(queue: Queue, number: int) -> object:
    """Queue what no historian of this version can do."""
    return queue.enqueue("of-another-version", f"user:u{number % PEOPLE}", {"number": number})


def in_work(folder: Path) -> int:
    return sum(len([*(folder / "queues" / state).glob("*.json")]) for state in ("pending", "processing"))


def grown(folder: Path, server: Stdio, enqueue: Enqueue, count: int) -> float:
    """Have so many jobs done and return by how many MB the process grew after the first of them."""
    queue = Queue(folder / "queues", clock=SystemClock())
    warm, before = max(count // 10, min(count // 2, BATCH)), 0.0
    done = 0
    try:
        while done < count:
            batch = min(BATCH, count - done, warm - done if done < warm else count)
            for number in range(done, done + batch):
                enqueue(queue, number)
            done += batch
            until(lambda: not in_work(folder), seconds=CEILING * 5)
            if done <= warm:
                before = resident(server.pid)
    finally:
        queue.close()
    return resident(server.pid) - before


@pytest.mark.parametrize("count", [200, pytest.param(20_000, marks=[pytest.mark.soak, pytest.mark.timeout(14_400)])])
@pytest.mark.parametrize(
    ("model", "enqueue"),
    [("answers", a_turn), ("fails", a_turn), ("none", a_failure)],
    ids=["all-well", "the-model-fails", "all-fail"],
)
def test_memory_stays_flat_over_many_jobs(tmp_path: Path, model: str, enqueue: Enqueue, count: int) -> None:
    """P95, P96: however many jobs there were, and however they ended."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    answer = good()
    chat = ScriptedModel(answer if model == "answers" else lambda _: failing(503))
    with FakeEndpoint(chat=chat) as endpoint:
        toml = "[historian]\nworkers = 4\n[queue]\njob_max_retries = 0\n"
        # Vectors are in memory twice: with 16 numbers each, they hide nothing else.
        toml += f'[embedding]\nprovider = "openai"\nmodel = "e"\nbase_url = "{endpoint.base_url}"\napi_key = "k"\n'
        if model != "none":
            toml += f'[chat]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\napi_key = "k"\n'
        (folder / "shiguan.toml").write_text(toml, "utf-8")
        with Stdio(folder, shims=("fast",)) as server:
            server.initialize()
            server.ready()
            growth = grown(folder, server, enqueue, count)
            failed = len([*(folder / "queues" / "failed").glob("*.json")])
            status = server.call("memory_status")
    say(f"{count} jobs, {model}: grew by {growth:.1f} MB")
    assert growth < GROWN_MB, f"{growth:.0f} MB"
    assert bool(failed) is (model == "none")
    assert status["pending"] == status["processing"] == 0
