"""`shiguan hook`, as an agent host runs it: real processes that must never stop the host."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.read_only import read_only
from tests.kit.stdio import CEILING, ROOT, SHIGUAN, Attached, environment, run, stop_holder
from tests.kit.transcripts import Transcript

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX processes")]

HEAVY = ("mcp", "mcp_types", "pydantic", "pydantic_core", "numpy", "chromadb", "openai", "anyio", "httpx2", "sqlite3")


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    yield tmp_path / "data"
    stop_holder(tmp_path / "data")


@pytest.fixture
def talk(tmp_path: Path) -> Transcript:
    made = Transcript(tmp_path / "projects" / "session-1.jsonl")
    made.user("我对花生过敏")
    made.assistant("记住了。")
    return made


def hook(folder: Path, *arguments: str, stdin: str | bytes | dict[str, Any] = b"", **env: str) -> tuple[str, str]:
    """Run a hook, which must end with 0, and return stdout and stderr."""
    given = json.dumps(stdin) if isinstance(stdin, dict) else stdin
    flags = ["--data-dir", str(folder), "--user", "alice"]
    done = run("hook", *arguments, *flags, stdin=given, env=environment("fast", **env), code=0)
    return done.stdout.decode(), done.stderr.decode()


def test_a_turn_comes_into_the_memory_behind_a_client(folder: Path, talk: Transcript) -> None:
    """Both ways: queued before anybody runs, and while an owner does."""
    assert hook(folder, "stop", stdin=talk.payload("Stop")) == ("", "")
    with Attached(folder, "--user", "alice", "--toolsets", "evidence") as client:
        client.initialize().drained()
        assert [one["content"] for one in client.call("messages_list")["items"]] == ["记住了。", "我对花生过敏"]
        talk.user("Which tea?")
        talk.assistant("Oolong.")
        assert hook(folder, stdin=talk.payload("Stop")) == ("", "")
        client.drained()
        assert "Which tea? → Oolong." in client.texts("Which tea Oolong")


def test_a_prompt_gets_what_is_remembered_from_the_owner_that_runs(folder: Path) -> None:
    with Attached(folder, "--user", "alice") as client:
        client.initialize()
        asked = {"prompt": "What should I cook?", "session_id": "s1", "hook_event_name": "UserPromptSubmit"}
        assert hook(folder, stdin=asked)[0] == ""
        receipt = client.call("end", observations=["Alice 对花生过敏。"], force=True)
        client.settled(receipt["job_id"])
        said = json.loads(hook(folder, stdin=asked)[0])
        assert said["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
        assert "花生" in said["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("event", ["prompt", "stop", "session-end", "unheard-of", ""])
@pytest.mark.parametrize("stdin", [b"", b"{broken", b"[]", b'{"session_id": {}, "transcript_path": 7, "prompt": []}'])
def test_whatever_a_hook_gets_it_stops_nobody(folder: Path, event: str, stdin: bytes) -> None:
    out, errors = hook(folder, *([event] if event else []), stdin=stdin)
    assert out == ""
    assert len(errors.splitlines()) <= 1
    assert "Traceback" not in errors
    assert not folder.exists()


def test_without_an_owner_a_prompt_gets_nothing_and_starts_nobody(folder: Path) -> None:
    assert hook(folder, "prompt", stdin={"prompt": "What do I not eat?"}) == ("", "")
    assert not folder.exists()


def test_a_folder_that_cannot_be_used_stops_nobody(folder: Path, talk: Transcript) -> None:
    folder.write_text("This is a file.")
    for event in ("prompt", "stop", "session-end"):
        out, errors = hook(folder, event, stdin=talk.payload("Stop", prompt="x"))
        assert out == ""
        assert errors.endswith(f" The path: {folder}\n")
        assert "Traceback" not in errors


def test_a_read_only_folder_stops_nobody(folder: Path, talk: Transcript) -> None:
    with read_only(folder):
        out, errors = hook(folder, "stop", stdin=talk.payload("Stop"))
    assert out == ""
    assert errors.startswith("shiguan: ")


def test_wrong_settings_and_damaged_files_stop_nobody(folder: Path, talk: Transcript) -> None:
    folder.mkdir()
    (folder / "shiguan.toml").write_bytes(b"\xff = [")
    (folder / "owner.json").write_text('{"address": 7, "folder": []}')
    for event in ("prompt", "stop", "session-end"):
        out, errors = hook(folder, event, stdin=talk.payload("Stop", prompt="x"))
        assert out == ""
        assert errors.startswith("shiguan: shiguan.toml cannot be read")
    assert hook(folder, "stop", "--timezone", "Mars/Olympus", stdin=talk.payload("Stop"))[0] == ""


def test_a_hook_that_hears_no_end_of_stdin_is_left_alone(folder: Path) -> None:
    """Within its seconds, and with 0."""
    with subprocess.Popen(
        [SHIGUAN, "hook", "session-end", "--data-dir", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment("fast"),
    ) as process:
        assert process.wait(CEILING) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""


def test_hooks_can_be_switched_off(folder: Path, talk: Transcript) -> None:
    assert hook(folder, "stop", stdin=talk.payload("Stop"), SHIGUAN_HOOKS="off") == ("", "")
    assert not folder.exists()


def test_the_end_of_a_session_loads_nothing_but_the_standard_library(folder: Path, talk: Transcript) -> None:
    """P41: with the whole way to the job file, in a process that says what it has loaded."""
    program = (
        "import sys; from server.cli import main; code = main(sys.argv[1:]);"
        "sys.stderr.write(' '.join(sorted({name.partition('.')[0] for name in sys.modules}))); sys.exit(code)"
    )
    for event in ("session-end", "stop", "prompt"):
        talk.user(f"Before {event}")
        done = subprocess.run(
            [sys.executable, "-c", program, "hook", event, "--data-dir", str(folder), "--user", "alice"],
            input=json.dumps(talk.payload("SessionEnd", prompt="hello")).encode(),
            capture_output=True,
            env=environment() | {"PYTHONPATH": str(ROOT)},
            timeout=CEILING,
            check=True,
        )
        assert not set(done.stderr.decode().split()) & {*HEAVY}, event
    assert len([*(folder / "queues" / "pending").glob("*.json")]) >= 2
