"""How well a searcher that follows the recall skill finds evidence: `python -m benchmarks.recall_agent [--set NAME]`.

The searcher is no model but a fixed policy: first searches by the table of the skill, the conversation so far as a
second hypothesis where there is one, words, then the neighbours of its anchors; it stops when a search brings nothing
new. What it found becomes a memory view, which `verify_view` checks; the messages of the verified view are scored as
`benchmarks.recall` scores a single search, on the same data (`--eval`), beside the best single search of the same run.

`--limit` asks only so many questions of each set, evenly spread. Tokens are characters of what the tools answer / 4.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import ROOT, folder
from benchmarks.recall import LOG_OF, load, plain, rows, scorer
from historian.embed import BuiltinEmbedder
from historian.model import Scope
from historian.recall_policy import THIN, windows
from historian.session import Session
from server.binding import Binding, FixedBinder
from server.composition import open_household
from server.household import Household
from server.settings import load_settings
from tests.kit.apps import app_over

FOUND = 20
SHOWN = 10
CONSTANT = 5
"""Of the fusion of ranks: the larger, the less the first place counts."""
WEIGHTS = {"question": 1.0, "conversation": 1.0, "words": 0.01}
QUIET = 2
"""After so many searches that bring nothing new the searcher stops."""


@dataclass
class Search:
    """One question being looked into."""

    client: Client
    steps: int = 0
    tokens: float = 0.0
    lists: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    view: list[str] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        if result.is_error or not isinstance(result.structured_content, dict):
            raise RuntimeError(f"{tool}: {result.content}")
        self.steps += 1
        self.tokens += sum(len(getattr(block, "text", "")) for block in result.content) / 4
        return result.structured_content

    async def look(self, name: str, tool: str, **arguments: Any) -> int:
        """Search, keep the list under a name, and return how many messages were new."""
        items = (await self.call(tool, **arguments))["items"]
        new = [item for item in items if item["message_id"] not in self.texts]
        self.texts |= {item["message_id"]: item["content"] for item in new}
        self.lists[name] = [item["message_id"] for item in items]
        return len(new)

    def ranked(self) -> list[str]:
        """Return what was found, best first, by the weighted ranks of the searches that look everywhere."""
        scores: dict[str, float] = defaultdict(float)
        for name, weight in WEIGHTS.items():
            for rank, message_id in enumerate(self.lists.get(name, ())):
                scores[message_id] += weight / (CONSTANT + rank)
        return sorted(scores, key=lambda one: -scores[one])


async def find(search: Search, question: Mapping[str, Any], now: datetime) -> list[str]:
    """Follow the skill for one question; return the messages of the verified view."""
    text = question["question"]
    quiet = 0
    for window in windows(text, now, None, None, None):
        is_everywhere = window.since is None and window.role is None
        name = "question" if is_everywhere else "narrow"
        new = await search.look(name, "semantic_search", query_text=text, filter=window.filters(), top_k=FOUND)
        if not is_everywhere and len(search.lists[name]) >= THIN:
            break
    if "question" not in search.lists:
        new = await search.look("question", "semantic_search", query_text=text, top_k=FOUND)
        quiet = 0 if new else quiet + 1
    context = question.get("context") or []
    if context:
        said = "\n".join(dict.fromkeys([*context, text]))
        new = await search.look("conversation", "semantic_search", query_text=said, top_k=FOUND)
        quiet = 0 if new else quiet + 1
    if quiet < QUIET:
        await search.look("words", "lexical_search", query_text=text, page_size=FOUND)
    shown = search.ranked()[:SHOWN]
    for anchor in shown[:2]:
        await search.look("around", "neighbors", message_id=anchor, before=2, after=2)
    made = [{"text": search.texts[one][:500], "evidence": [one]} for one in shown]
    view = await search.call("verify_view", view={"memory_view": {"other": made}})
    assert not view["removed"], view["removed"]
    return [item["message_id"] for item in view["evidence"]]


@asynccontextmanager
async def client_of(household: Household, user: str) -> AsyncGenerator[Client]:
    binding = Binding(Scope(user), Session(timezone="UTC"))
    async with Client(app_over(household, FixedBinder(binding), ("evidence", "host", "recall"))) as client:
        yield client


async def searched(
    household: Household, questions: Sequence[Mapping[str, Any]], newest: Mapping[str, datetime]
) -> AsyncGenerator[tuple[Mapping[str, Any], Search]]:
    """Look into every question, on behalf of the user whose conversation it is about."""
    for user in dict.fromkeys(question["conversation_id"] for question in questions):
        async with client_of(household, user) as client:
            for question in questions:
                if question["conversation_id"] == user:
                    search = Search(client)
                    search.view = await find(search, question, newest[user])
                    yield question, search


async def measure(data: Path, names: Sequence[str], limit: int) -> bool:
    """Print a line for each set; return whether each view is at least as good as the best single search."""
    score, good = scorer(data), True
    print(f"{'R@10':15s}{'n':>5s}  lexical   hybrid     view |  steps  tokens  seconds per question")
    for name in names:
        with folder() as path:
            household = open_household(
                load_settings({"data_dir": path, "user": "nobody"}, {}), embedder=BuiltinEmbedder()
            )
            try:
                messages = rows(data / LOG_OF.get(name, name) / "messages.jsonl")
                questions = rows(data / name / "questions.jsonl")
                every = max(1, len(questions) // limit) if limit else 1
                questions = questions[::every][: limit or None]
                asked = {question["conversation_id"] for question in questions}
                messages = [one for one in messages if one["conversation_id"] in asked]
                await load(household, messages)
                good &= await one_set(household, score, name, messages, questions)
            finally:
                household.close()
    return good


async def one_set(
    household: Household,
    score: Any,
    name: str,
    messages: Sequence[Mapping[str, Any]],
    questions: Sequence[Mapping[str, Any]],
) -> bool:
    newest: dict[str, datetime] = {}
    for message in messages:
        at = datetime.fromisoformat(message["timestamp"])
        at = at if at.tzinfo else datetime.fromisoformat(f"{message['timestamp']}+00:00")
        newest[message["conversation_id"]] = max(at, newest.get(message["conversation_id"], at))
    sums: dict[str, float] = defaultdict(float)
    begin = time.perf_counter()
    for question, search in [found async for found in searched(household, questions, newest)]:
        groups = [set(g) for g in question.get("evidence_groups") or [[m] for m in question["evidence_message_ids"]]]
        found = {"lexical": search.lists.get("words", []), "hybrid": search.lists["question"], "view": search.view}
        for mode, ids in found.items():
            sums[mode] += score(groups, [plain(one) for one in ids])["R@10"]
        sums["steps"] += search.steps
        sums["tokens"] += search.tokens
    seconds = (time.perf_counter() - begin) / len(questions)
    lexical, hybrid, view_mean, steps, tokens = (
        sums[key] / len(questions) for key in ("lexical", "hybrid", "view", "steps", "tokens")
    )
    reached = view_mean >= max(lexical, hybrid)
    print(
        f"{name:15s}{len(questions):5d} {lexical:8.3f} {hybrid:8.3f} {view_mean:8.3f} | {steps:6.1f} {tokens:7.0f} "
        f"{seconds:8.2f}{'' if reached else '  missed'}",
        flush=True,
    )
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--eval", type=Path, default=ROOT.parent / "shared" / "eval", help="the folder of labelled sets"
    )
    parser.add_argument("--set", nargs="*", help="only these sets")
    parser.add_argument("--limit", type=int, default=0, help="questions of each set (default: all)")
    args = parser.parse_args()
    if not (args.eval / "score.py").is_file():
        sys.exit(f"There are no labelled sets in {args.eval}; name their folder with --eval.")
    names = args.set or sorted(path.parent.name for path in args.eval.glob("*/questions.jsonl"))
    sys.exit(not anyio.run(measure, args.eval, names, args.limit))


if __name__ == "__main__":
    main()
