"""How well the record is searched: `python -m benchmarks.recall [--eval ../shared/eval] [--set NAME ...] [--runs DIR]`.

Loads labelled conversations into a fresh data folder as a host would (`messages_append`, one user per conversation, ids
prefixed with it), asks each question through the MCP tools, and scores as the data's own `score.py` does. Nothing of
the data is kept here; its README says where it comes from and on which terms it may be used.

lexical is the tool `lexical_search`, hybrid the tool `semantic_search`, semantic its vector arm alone. With an embedder
set in the environment (SHIGUAN_EMBEDDING__PROVIDER=openai …) the table is printed for that one, too.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp import Client

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import ROOT, folder
from historian.embed import BuiltinEmbedder, Embedder
from historian.model import ROLES, Scope
from historian.session import Session
from server.binding import Binding, FixedBinder
from server.composition import open_household
from server.household import Household
from server.models import make_embedder
from server.settings import load_settings
from tests.kit.apps import app_over

MODES = ("lexical", "semantic", "hybrid")
LOG_OF = {"memorybank-xl": "memorybank-zh"}
"""Sets of questions about the conversations of another set."""
TOP_K = 20
APPENDED = 500
HYBRID_LOSS = 0.01


@dataclass(frozen=True, slots=True)
class Baseline:
    """R@10 as the data's README has it: BM25, the builtin vectors, the prototype; and what is to be reached."""

    lexical: float
    vector: float
    prototype: float
    goal: float


BASELINES = {
    "locomo-en": Baseline(0.616, 0.229, 0.796, 0.80),
    "memorybank-zh": Baseline(0.808, 0.865, 0.975, 0.97),
    "memorybank-en": Baseline(0.819, 0.869, 0.964, 0.96),
    "memorybank-xl": Baseline(0.181, 0.888, 0.977, 0.97),
    "madial-zh": Baseline(0.535, 0.635, 0.622, 0.64),
    "madial-en": Baseline(0.526, 0.616, 0.596, 0.62),
}

Score = Callable[[list[set[str]], list[str]], dict[str, float]]
Scores = Mapping[str, Mapping[str, float]]
"""Mode to the mean of each measure."""


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def scorer(data: Path) -> Score:
    """Return the function that the data scores one question with."""
    spec = importlib.util.spec_from_file_location("score_of_eval", data / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    score: Score = module.score
    return score


def turn(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of the data as a host would send it."""
    conversation = message["conversation_id"]
    return {
        "message_id": f"{conversation}/{message['message_id']}",
        "conversation_id": conversation,
        "role": message["role"] if message["role"] in ROLES else "user",
        "sender_name": message["speaker"],
        "content": message["text"],
        "ts": message["timestamp"],
    }


@asynccontextmanager
async def client_of(household: Household, user: str) -> AsyncGenerator[Client]:
    binding = Binding(Scope(user), Session(timezone="UTC"))
    async with Client(app_over(household, FixedBinder(binding), ("evidence", "host"))) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.is_error or not isinstance(result.structured_content, dict):
        raise RuntimeError(f"{tool}: {result.content}")
    return result.structured_content


async def load(household: Household, messages: Sequence[Mapping[str, Any]]) -> None:
    """Append every conversation under a user of its own, then wait for the vectors."""
    turns: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for message in messages:
        turns[message["conversation_id"]].append(turn(message))
    for user, said in turns.items():
        async with client_of(household, user) as client:
            for start in range(0, len(said), APPENDED):
                answer = await call(client, "messages_append", messages=said[start : start + APPENDED])
                assert not answer["failed"], answer["failed"]
    household.warm_up()
    await anyio.to_thread.run_sync(household.engine.wait, 120)
    while await anyio.to_thread.run_sync(household.indexer.run_batch):
        pass


async def ask(household: Household, questions: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Return the ids that answer each question, best first, by mode."""
    by_user: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for question in questions:
        by_user[question["conversation_id"]].append(question)
    found: dict[str, dict[str, list[str]]] = {mode: {} for mode in MODES}
    for user, asked in by_user.items():
        evidence = household.memory.of(Scope(user)).evidence
        async with client_of(household, user) as client:
            for question in asked:
                text, key = question["question"], question["question_id"]
                lexical = await call(client, "lexical_search", query_text=text, page_size=TOP_K)
                hybrid = await call(client, "semantic_search", query_text=text, top_k=TOP_K)
                assert not hybrid["degraded"], hybrid["degraded"]
                alone = await anyio.to_thread.run_sync(
                    partial(evidence.by_meaning, text, {}, top_k=TOP_K, mode="semantic")
                )
                found["lexical"][key] = [plain(item["message_id"]) for item in lexical["items"]]
                found["hybrid"][key] = [plain(item["message_id"]) for item in hybrid["items"]]
                found["semantic"][key] = [plain(item.message.message_id) for item in alone.items]
    return found


def plain(message_id: str) -> str:
    return message_id.partition("/")[2]


def scores(
    score: Score, questions: Sequence[Mapping[str, Any]], found: Mapping[str, Mapping[str, list[str]]]
) -> Scores:
    means: dict[str, dict[str, float]] = {}
    for mode in MODES:
        results = [
            score(
                [set(g) for g in question.get("evidence_groups") or [[m] for m in question["evidence_message_ids"]]],
                found[mode].get(question["question_id"], []),
            )
            for question in questions
        ]
        means[mode] = {name: sum(result[name] for result in results) / len(results) for name in results[0]}
    return means


def keep(runs: Path, name: str, found: Mapping[str, Mapping[str, list[str]]]) -> None:
    """Write the runs as `score.py` reads them."""
    runs.mkdir(parents=True, exist_ok=True)
    for mode, answers in found.items():
        lines = (json.dumps({"question_id": key, "message_ids": ids}) for key, ids in answers.items())
        (runs / f"{name}.{mode}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


async def measure(data: Path, names: Sequence[str], embedder: Embedder, runs: Path | None) -> bool:
    """Print the table of one embedder; return whether all goals are met."""
    score = scorer(data)
    logs = defaultdict[str, list[str]](list)
    for name in names:
        logs[LOG_OF.get(name, name)].append(name)
    print(
        f"{'R@10':15s}{'n':>5s}  lexical semantic   hybrid | README: BM25 vector prototype   goal |   R@1   R@5   MRR"
    )
    good = True
    for log, sets in logs.items():
        with folder() as path:
            household = open_household(load_settings({"data_dir": path, "user": "nobody"}, {}), embedder=embedder)
            try:
                await load(household, rows(data / log / "messages.jsonl"))
                for name in sets:
                    questions = rows(data / name / "questions.jsonl")
                    found = await ask(household, questions)
                    if runs is not None:
                        keep(runs, name, found)
                    good &= show(name, len(questions), scores(score, questions, found))
            finally:
                household.close()
    return good


def show(name: str, count: int, means: Scores) -> bool:
    lexical, semantic, hybrid = (means[mode]["R@10"] for mode in MODES)
    line = f"{name:15s}{count:5d} {lexical:8.3f} {semantic:8.3f} {hybrid:8.3f} |"
    known, more = BASELINES.get(name), means["hybrid"]
    if known is not None:
        line += f" {known.lexical:12.3f} {known.vector:6.3f} {known.prototype:9.3f} {known.goal:6.2f}"
    rest = f" | {more['R@1']:5.3f} {more['R@5']:5.3f} {more['MRR']:5.3f}"
    reached = (known is None or hybrid >= known.goal) and hybrid >= max(lexical, semantic) - HYBRID_LOSS
    print(f"{line}{rest}{'' if reached else '  missed'}", flush=True)
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--eval", type=Path, default=ROOT.parent / "shared" / "eval", help="the folder of labelled sets"
    )
    parser.add_argument("--set", nargs="*", help="only these sets")
    parser.add_argument("--runs", type=Path, help="a folder to write the answers to, for score.py")
    args = parser.parse_args()
    if not (args.eval / "score.py").is_file():
        sys.exit(f"There are no labelled sets in {args.eval}; name their folder with --eval.")
    names = args.set or sorted(path.parent.name for path in args.eval.glob("*/questions.jsonl"))
    embedders: list[Embedder] = [BuiltinEmbedder()]
    with folder() as path:
        settings = load_settings({"data_dir": path, "user": "nobody"}, os.environ)
        if settings.embedding.provider != "builtin":
            embedders.append(make_embedder(settings))
    begin, good = time.perf_counter(), True
    for embedder in embedders:
        embedder.load()
        print(f"\n{embedder.identity}")
        good &= anyio.run(measure, args.eval, names, embedder, args.runs)
    print(f"\n{time.perf_counter() - begin:.0f} s; {'all reached' if good else 'not all reached'}")
    sys.exit(not good)


if __name__ == "__main__":
    main()
