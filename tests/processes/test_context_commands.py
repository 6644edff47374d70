"""`shiguan context` and `shiguan migrate` as hooks and people run them, and the chat bot of the examples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.chat import ChatAsked, Said, ScriptedModel
from tests.kit.endpoint import FakeEndpoint
from tests.kit.stdio import CEILING, SHIGUAN, environment, run, stop_holder

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX processes")]

BOT = Path(__file__).parents[2] / "examples" / "chat_bot.py"
IDENTITY = ("--user=alice", "--name=小林")
EMPTY = "Nothing is remembered here yet."


class Shell:
    """Runs commands of one person on one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, command: str, *more: str, stdin: str | bytes = b"", code: int = 0) -> tuple[str, str]:
        where = ("--data-dir", str(self.folder), "--user", "alice", "--timezone", "Asia/Shanghai")
        done = run(command, *where, *more, stdin=stdin, env=environment("fast"), code=code)
        return done.stdout.decode(), done.stderr.decode()

    def settle(self) -> None:
        """Wait until every job is done."""
        until = time.monotonic() + CEILING
        while time.monotonic() < until:
            done = run("status", "--data-dir", str(self.folder), "--json", env=environment("fast"))
            status = json.loads(done.stdout)
            if not status["pending"] and not status["processing"]:
                return
        raise TimeoutError(status)


def without_notices(text: str) -> list[str]:
    """Return the lines that do not say how the memory is doing: an owner that just came up may still be loading."""
    return [line for line in text.splitlines() if not line.startswith("Degraded:")]


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Shell]:
    folder = tmp_path / "data"
    yield Shell(folder)
    stop_holder(folder)


def test_summaries_of_an_earlier_memory_are_migrated_once_and_told_before_an_answer(
    shell: Shell, tmp_path: Path
) -> None:
    """P83: repeated, the same rows stand there."""
    shell.folder.mkdir()
    file = tmp_path / "end_summaries.json"
    group = {"type": "group", "name": "球群"}
    records: list[Any] = [
        "帮小林改了一首诗",
        {"summary": "查了去杭州的火车", "timestamp": "2026-01-05T10:00:00+08:00", "location": group},
        {"summary": "Booked a table for two", "timestamp": "2026-01-06 09:00"},
        {"summary": ""},
        {"summary": "no time", "timestamp": "once"},
        7,
    ]
    file.write_text(json.dumps(records, ensure_ascii=False), "utf-8")
    assert without_notices(shell("context")[0]) == [EMPTY]
    said, _ = shell("migrate", str(file), "--dry-run", code=1)
    assert said.startswith("3 would be migrated, 0 known already, 0 forgotten before, 3 refused.")
    said, complaints = shell("migrate", str(file), code=1)
    assert said.startswith("3 queued, 0 known already, 0 forgotten before, 3 refused.")
    assert [line.partition(":")[0] for line in complaints.splitlines()] == ["Record 4", "Record 5", "Record 6"]
    shell.settle()
    text, _ = shell("context", "火车")
    assert [line for line in text.splitlines() if line.startswith("-")] == [
        "- 「Booked a table for two」 (2026-01-06 09:00; memo)",
        "- 「查了去杭州的火车」 (2026-01-05 10:00; memo)",
        "- 「帮小林改了一首诗」 (2026-01-05 10:00; memo)",
    ]
    for _ in range(2):
        said, _ = shell("migrate", str(file), code=1)
        assert said.startswith("0 queued, 3 known already, 0 forgotten before, 3 refused.")
    shell.settle()
    assert without_notices(shell("context", "火车")[0]) == without_notices(text)
    shell("forget", "--everything", "--yes")
    said, _ = shell("migrate", str(file), "--place", "球群", code=1)
    assert said.startswith("0 queued, 0 known already, 1 forgotten before, 3 refused.")
    assert without_notices(shell("context")[0]) == [EMPTY]
    said, _ = shell("migrate", str(file), "--place", "球群", "--again", code=1)
    assert said.startswith("1 queued")


def test_a_hook_is_told_what_is_remembered_and_never_held_up_by_what_fails(shell: Shell, tmp_path: Path) -> None:
    hook = json.dumps({"session_id": "s", "prompt": "我不能吃什么？", "hook_event_name": "UserPromptSubmit"})
    assert shell("context", "--hook", stdin=hook) == ("", ""), "nothing is remembered, and nothing said"
    file = tmp_path / "s.json"
    file.write_text(
        json.dumps([{"summary": "记下了", "observations": ["小林对花生过敏。"], "timestamp": "2026-01-05"}])
    )
    shell("migrate", str(file))
    shell.settle()
    told, complaints = shell("context", "--hook", stdin=hook)
    assert "「小林对花生过敏。」" in told
    assert complaints == ""
    answer = json.loads(shell("context", "花生", "--json")[0])
    assert without_notices(answer["text"]) == without_notices(shell("context", "-", stdin="花生")[0])
    assert {source["kind"] for source in answer["sources"]} == {"event", "memo"}
    for broken in (b"\xff\xfe", b"", b"null", b'{"prompt": 7}'):
        _, complaints = shell("context", "--hook", stdin=broken)
        assert complaints == ""
    stop_holder(shell.folder)
    (shell.folder / "shiguan.toml").write_text("this is no toml")
    assert shell("context", "--hook", stdin=hook) == ("", "")
    assert "shiguan.toml cannot be read" in shell("context", "x", code=1)[1]


def test_the_chat_bot_of_the_examples_remembers_from_one_run_to_the_next(shell: Shell) -> None:
    def answers(asked: ChatAsked) -> object:
        if "过敏" in asked.last:
            observed = {"memo": "问候了小林", "observations": ["小林对花生过敏。"]}
            return Said("记住了。", tool_calls=[("end", observed)])
        return "你对花生过敏。" if "「小林对花生过敏。」" in asked.system else "我不知道。"

    model = ScriptedModel(answers)
    with FakeEndpoint(chat=model) as endpoint:

        def chat(line: str) -> str:
            path = os.pathsep.join([str(Path(SHIGUAN).parent), os.environ["PATH"]])
            done = subprocess.run(
                [sys.executable, str(BOT), "--model=scripted", f"--base-url={endpoint.base_url}", *IDENTITY],
                input=f"{line}\n\n".encode(),
                capture_output=True,
                env=environment("fast", PATH=path, SHIGUAN_DATA_DIR=str(shell.folder), PYTHONIOENCODING="utf-8"),
                timeout=CEILING,
                check=False,
            )
            assert done.returncode == 0, done.stderr.decode()
            return done.stdout.decode().strip()

        assert chat("我不能吃什么？") == "我不知道。"
        assert chat("我是小林，对花生过敏。") == "记住了。"
        shell.settle()
        assert chat("我不能吃什么？") == "你对花生过敏。"
    assert all("never instructions" in asked.system or EMPTY in asked.system for asked in model.asked)
