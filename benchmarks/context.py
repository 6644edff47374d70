"""What `build_context` costs beside its searches, and what a hook waits for it: `python -m benchmarks.context`.

The events are those of `benchmarks.search`; besides there are 200 memos, 20 pinned notes and a profile of 100 lines. In
half of the rounds there is a conversation before the message, so that two texts are looked for. The searches by
themselves are `search_events` and `search_profiles` for such texts, in the same process, round by round; no text is
looked for twice. Then `shiguan context` runs with an owner that is warm, beside a Python that does nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import SERVER, environment, folder, p50, p95, table, timed, verdict
from benchmarks.search import USER, WARM, fill, open_house, question, sentence

if TYPE_CHECKING:
    from historian.memory import ScopedMemory
    from historian.model import Message
    from server.household import Household

ROUNDS = 60
TURNS = 6
STARTS = 15
LIMIT = 1.5
HOOK_LIMIT = 300.0
"""Milliseconds."""


def furnish(household: Household) -> ScopedMemory:
    """Give the folder what a context holds besides events, and return the memory of its user."""
    from historian.model import Scope
    from historian.session import Session

    memory = household.memory.of(Scope(USER), Session(timezone="Asia/Shanghai", conversation_id="now"))
    now = datetime.now(UTC)
    lines = "\n".join(f"- {sentence(n)}" for n in range(100))
    made: list[dict[str, object]] = [
        {
            "kind": "memo",
            "owner": f"user:{USER}",
            "request_id": f"r{n}",
            "job_id": f"j{n}",
            "text": f"Answered question {n}.",
            "ts": (now - timedelta(hours=n)).isoformat(),
            "timezone": "Asia/Shanghai",
        }
        for n in range(200)
    ]
    profile = f"---\nentity_type: user\nentity_id: {USER}\n---\n\n{lines}\n"
    made.append({"kind": "profile", "owner": f"user:{USER}", "text": profile, "history": []})
    taken = memory.take_in(made)
    if taken.failed:
        raise RuntimeError(taken.failed[0][1])
    for n in range(20):
        memory.pinned.add(f"Note {n}: {sentence(n)}.")
    household.indexer.catch_up(1_000)
    return memory


def speak(memory: ScopedMemory) -> list[Message]:
    """Say some things in the conversation and return them."""
    from historian.model import Message

    start = datetime.now(UTC) - timedelta(hours=2)
    turns = [Message(f"m{n}", "now", "user", sentence(n), start + timedelta(seconds=n)) for n in range(TURNS)]
    memory.append(
        [
            {
                "message_id": turn.message_id,
                "conversation_id": "now",
                "role": "user",
                "content": turn.content,
                "ts": turn.ts.isoformat(),
            }
            for turn in turns
        ]
    )
    return turns


def rounds(memory: ScopedMemory, numbers: Iterator[int], turns: list[Message]) -> list[tuple[float, float, int]]:
    """Return for each round what a context took, what its searches took, in ms, and its tokens."""
    from historian.context_query import make_query
    from historian.session import Session

    taken: list[tuple[float, float, int]] = []
    for _ in range(ROUNDS + WARM):
        tokens: list[int] = []
        message = question(next(numbers))
        whole = timed(lambda: tokens.append(memory.context(message).tokens))  # noqa: B023
        apart = 0.0
        for at, asked in enumerate(make_query(question(next(numbers)), turns, Session()).texts):
            apart += timed(lambda: memory.search_events(asked, automatic=True))  # noqa: B023
            if not at:
                apart += timed(lambda: memory.search_profiles(asked, entity_type="user"))  # noqa: B023
        taken.append((whole, apart, tokens[0]))
    return taken[WARM:]


def in_process(data: Path, events: int) -> list[list[str]]:
    """Return the lines of the first table."""
    household = open_house(data)
    memory, numbers = furnish(household), count()
    lines: list[list[str]] = []
    for name in ("a message alone", "after a conversation"):
        turns = speak(memory) if lines else []
        wholes, parts, tokens = zip(*rounds(memory, numbers, turns), strict=True)
        ratio = p50(wholes) / p50(parts)
        lines.append(
            [
                f"{events:,} events, {name}",
                f"{p50(wholes):.1f}",
                f"{p95(wholes):.1f}",
                f"{p50(parts):.1f}",
                f"{ratio:.2f}",
                str(max(tokens)),
                verdict(ratio, LIMIT, " ×"),
            ]
        )
    household.close()
    return lines


def as_a_hook(data: Path) -> list[list[str]]:
    """Return the lines of the second table."""
    env = environment()
    ours = [SERVER[0], *SERVER[1:-1], "context", "--data-dir", str(data), "--user", USER, "--conversation", "now"]

    def run(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run(words, env=env, check=True, capture_output=True)

    warm, plain, nothing = [], [], []
    try:
        for number in range(STARTS + 3):
            plain.append(timed(run(sys.executable, "-c", "pass")))
            warm.append(timed(run(*ours, question(number))))
            nothing.append(timed(run(*ours, "--hook", question(number + 10_000))))
    finally:
        subprocess.run([*SERVER[:-1], "owner", "stop", "--data-dir", str(data)], env=env, check=False)
    floor = p50(plain[3:])
    return [
        [name, f"{p50(times[3:]):.0f}", f"{p95(times[3:]):.0f}", f"{p50(times[3:]) / floor:.1f}", said]
        for name, times, said in (
            ("python -c pass", plain, ""),
            ("shiguan context", warm, verdict(p50(warm[3:]), HOOK_LIMIT, " ms")),
            ("shiguan context --hook", nothing, verdict(p50(nothing[3:]), HOOK_LIMIT, " ms")),
        )
    ]


def main(arguments: list[str]) -> int:
    """Measure and print; the argument is the number of events (default 10000)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    events = int(arguments[0]) if arguments else 10_000
    with folder() as data:
        fill(data, events)
        lines = in_process(data, events)
        hooks = as_a_hook(data)
    heads = ["", "p50", "p95", "its searches, p50", "ratio", "most tokens", f"at most {LIMIT} ×"]
    table("`build_context` beside the searches that it is made of, in ms", heads, lines)
    table("The whole command, with a warm owner, in ms", ["", "p50", "p95", "ratio", "at most 300 ms"], hooks)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
