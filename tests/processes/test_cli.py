"""The commands, as a person or a hook runs them: real processes, with and without a server beside them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from historian.clock import SystemClock
from historian.ids import safe_name
from historian.queue import Queue
from tests.kit.endpoint import FakeEndpoint, Reply
from tests.kit.stdio import CEILING, SHIGUAN, Attached, Stdio, environment, run, stop_holder

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX processes")]

NOW = "2026-03-04T10:00:00+08:00"


class Shell:
    """Runs commands on one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, command: str, *more: str, stdin: str | bytes = b"", code: int = 0, **env: str) -> str:
        """Run a command that must end with `code`; return stdout, or the one sentence on stderr when it refuses."""
        name, *rest = command.split()
        flags = ["--user", "alice"] if name in ("log", "import") else []
        done = run(
            name,
            "--data-dir",
            str(self.folder),
            *flags,
            *rest,
            *more,
            stdin=stdin,
            env=environment("fast", **env),
            code=code,
        )
        if code == 0:
            return done.stdout.decode(env.get("PYTHONIOENCODING", "utf-8"))
        assert done.stdout == b""
        (line,) = done.stderr.decode().splitlines()
        assert line.startswith("shiguan: ")
        assert str(self.folder) not in line
        return line

    def imported(self, lines: Iterable[object], **env: str) -> tuple[str, list[str]]:
        """Import lines; return what it says on stdout and on stderr."""
        text = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
        done = run(
            "import", "--data-dir", str(self.folder), "--user", "alice", "-", stdin=text, env=environment("fast", **env)
        )
        return done.stdout.decode().strip(), done.stderr.decode().splitlines()

    def status(self) -> dict[str, Any]:
        """Return what `status --json` says."""
        state: dict[str, Any] = json.loads(self("status --json"))
        return state

    def column(self, sql: str) -> list[Any]:
        """Read one column of the database, changing nothing."""
        with closing(sqlite3.connect(f"file:{self.folder / 'memory.sqlite3'}?mode=ro", uri=True)) as connection:
            return [row[0] for row in connection.execute(sql)]


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Shell]:
    folder = tmp_path / "data"
    yield Shell(folder)
    stop_holder(folder)


def message(number: int, text: str = "") -> dict[str, Any]:
    content = text or f"Message number {number} 🐈 关于茶叶。"
    return {"message_id": f"m{number}", "conversation_id": "c", "role": "user", "content": content, "ts": NOW}


# ---- import


def test_an_import_takes_every_good_line_names_each_bad_one_and_may_be_repeated(shell: Shell) -> None:
    """P4, P71: a byte order mark, blank lines, CRLF, a megabyte, other encodings, and a last line cut in half."""
    half = json.dumps(message(9)).encode()[:-20]
    lines: list[object] = [
        b"\xef\xbb\xbf" + json.dumps(message(1), ensure_ascii=False).encode(),
        b"",
        json.dumps(message(2)).encode() + b"\r",
        b"   \t",
        message(3, "x" * 999_990),
        message(4, "x" * 1_000_001),
        json.dumps(message(5, "中文"), ensure_ascii=False).encode("gbk"),
        b"[1, 2]",
        {**message(6), "role": "robot"},
        {**message(7), "ts": "the day before"},
        {**message(8), "surprise": 1},
        b'{"message_id": "half", "content": "\\ud83d"}',
        half,
    ]
    said, named = shell.imported(lines, PYTHONIOENCODING="gbk")
    assert said == "3 imported, 0 known already, 8 refused."
    assert [line.split(":")[0] for line in named] == [f"line {number}" for number in range(6, 14)]
    assert not [line for line in named if "Traceback" in line or len(line) > 300]
    again, _ = shell.imported(lines)
    assert again == "0 imported, 3 known already, 8 refused."
    assert sorted(shell.column("SELECT message_id FROM messages")) == ["m1", "m2", "m3"]
    assert "🐈 关于茶叶" in shell.column("SELECT content FROM messages WHERE message_id = 'm1'")[0]


def test_an_import_from_a_file_that_is_not_there_or_is_empty_says_so(shell: Shell, tmp_path: Path) -> None:
    assert "cannot be read" in shell("import", str(tmp_path / "nothing.jsonl"), code=1)
    (tmp_path / "empty.jsonl").touch()
    assert shell("import", str(tmp_path / "empty.jsonl")) == "0 imported, 0 known already, 0 refused.\n"


def test_an_import_and_a_server_work_side_by_side(shell: Shell) -> None:
    """P2, P3: both go through the one owner of the folder."""
    with Attached(shell.folder, "--user", "alice", "--toolsets", "host") as server:
        server.initialize()
        flying = [server.send_call("end", observations=[f"Parcel {number} is blue."]) for number in range(10)]
        said, named = shell.imported(message(number) for number in range(1500))
        assert (said, named) == ("1500 imported, 0 known already, 0 refused.", [])
        for number in flying:
            server.settled(server.answer(number)["structuredContent"]["job_id"])
        assert server.call("messages_append", messages=[message(700)])["ignored"] == 1
        assert server.leave() == 0
        server.messages()
    assert shell.column("SELECT count(*) FROM messages") == [1500]


def test_two_imports_at_once_both_succeed_and_the_counts_match(shell: Shell, tmp_path: Path) -> None:
    """P4, P11: started together on a folder that does not exist yet."""
    file = tmp_path / "messages.jsonl"
    file.write_text("".join(json.dumps(message(number)) + "\n" for number in range(2000)), "utf-8")
    command = [SHIGUAN, "import", "--data-dir", str(shell.folder), "--user", "alice", str(file)]
    both = [subprocess.Popen(command, stdout=-1, stderr=-1, env=environment("fast")) for _ in range(2)]
    said = [process.communicate(timeout=CEILING) for process in both]
    counts = [[int(word) for word in out.split() if word.isdigit()] for out, _ in said]
    assert [process.returncode for process in both] == [0, 0], said
    assert [sum(one) for one in counts] == [2000, 2000]
    assert sum(inserted for inserted, _, _ in counts) == 2000
    assert shell.column("SELECT count(*) FROM messages") == [2000]


def test_commands_that_need_the_folder_name_the_standalone_server_that_holds_it(shell: Shell) -> None:
    """P2, P19: a folder has one owner; the sentence says who it is, and that server goes on undisturbed."""
    with Stdio(shell.folder, "--user", "alice") as server:
        server.initialize()
        for command in ("status", "reindex", "queue list", "import -"):
            sentence = shell(command, code=1)
            assert f"in use by process {server.pid} (serve --standalone)" in sentence
        server.settled(server.call("end", observations=["Alice keeps three bees."])["job_id"])
        assert server.leave() == 0


# ---- log


def test_a_logged_turn_is_recorded_by_the_server_and_once_however_often_it_is_logged(shell: Shell) -> None:
    """P33, P71: before any server ran, while one runs, and from stdin in UTF-8 whatever the system speaks."""
    emoji = "林晓养了一只 🐈‍⬛。"
    assert "Queued message a-1." in shell("log --message-id a-1 --ts 2026-03-04T10:00:00Z", "first")
    assert (shell.folder.stat().st_mode & 0o077) == 0
    with Stdio(shell.folder, "--user", "alice", "--toolsets", "host") as server:
        server.initialize()
        shell("log --message-id a-1 --ts 2026-03-04T10:00:00Z", "first")
        shell(
            "log --message-id 消息-🐈 --role assistant --conversation c -", stdin=f"{emoji}\n", PYTHONIOENCODING="gbk"
        )
        shell("log --ts 2026-03-04T10:00:00Z", "derived")
        shell("log --ts 2026-03-04T10:00:00Z", "derived")
        server.drained()
        assert server.call("memory_status")["failed"] == 0
        assert server.leave() == 0
    assert sorted(shell.column("SELECT content FROM messages")) == sorted(["first", "derived", emoji])
    assert shell.column("SELECT sender_id FROM messages WHERE content = 'first'") == ["alice"]


@pytest.mark.parametrize(
    ("flags", "content", "stdin", "said"),
    [
        ("--ts yesterday", "hello", b"", "yesterday"),
        ("--ts 2026-13-01T00:00:00Z", "hello", b"", "2026-13-01"),
        ("", "  ", b"", "nothing to record"),
        ("", "-", b"", "nothing to record"),
        ("", "-", "中文".encode("gbk"), "not UTF-8"),
        ("--timezone Mars/Olympus", "hello", b"", "Mars/Olympus"),
    ],
)
def test_a_turn_that_cannot_be_logged_is_refused_in_a_sentence(
    shell: Shell, flags: str, content: str, stdin: bytes, said: str
) -> None:
    assert said in shell(f"log {flags}", content, stdin=stdin, code=1)
    assert not [*shell.folder.rglob("*.json")]


# ---- status, queue


def test_status_counts_and_the_queue_can_be_listed_retried_and_discarded(shell: Shell) -> None:
    """P27: what failed is named with its reason, and goes only when a person says so."""
    shell.folder.mkdir()
    (shell.folder / "shiguan.toml").write_text("[queue]\njob_max_retries = 0\n", "utf-8")
    queue = Queue(shell.folder / "queues", clock=SystemClock())
    ids = [queue.enqueue("🐈", "user:alice", {}).job_id for _ in range(3)]
    queue.close()
    assert shell.imported([message(1), message(2)])[0].startswith("2 imported")
    wait_for(lambda: shell.status()["failed"] == 3)
    state = shell.status()
    assert (state["messages"], state["pending"], state["processing"]) == (2, 0, 0)
    assert "failed               3" in shell("status")
    jobs = [json.loads(line) for line in shell("queue list --json", PYTHONIOENCODING="gbk").splitlines()]
    assert [(job["job_id"], job["state"], job["kind"]) for job in jobs] == [(job_id, "failed", "🐈") for job_id in ids]
    assert all("cannot be processed" in job["error"] for job in jobs)
    assert ids[0] in shell("queue list", PYTHONIOENCODING="gbk")
    assert shell(f"queue retry {ids[0]}") == "1 will run again.\n"
    wait_for(lambda: shell.status()["failed"] == 3)
    assert shell(f"queue discard {ids[1]}") == "1 discarded.\n"
    for command in (f"queue discard {ids[1]}", "queue retry no-such-job", f"queue list {ids[0]}"):
        assert shell(command, code=1).endswith(".")
    assert shell("queue discard") == "2 discarded.\n"
    assert shell("queue list") == ""
    assert shell.status()["failed"] == 0


def wait_for(fact: Any) -> None:
    """Wait until something is so that can only be asked for."""
    deadline = time.monotonic() + CEILING
    while not fact():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_job_that_waits_for_long_earns_a_hint_and_its_age_is_shown(shell: Shell) -> None:
    """P28: queued two days ago and never done."""
    shell("log", "hello")
    (job,) = (shell.folder / "queues" / "pending").glob("*.json")
    document = json.loads(job.read_bytes())
    soon, long_ago = time.time() + 86_400, time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() - 172_800))
    job.write_text(json.dumps(document | {"created_at": long_ago, "not_before": soon}), "utf-8")
    with Stdio(shell.folder, "--user", "alice") as server:
        server.initialize()
        status = server.call("memory_status")
        assert status["pending"] == 1
        assert status["oldest_age_seconds"] > 172_000
        assert "has waited for" in status["hint"]
        assert server.leave() == 0
    assert shell.status()["oldest_age_seconds"] > 172_000


# ---- reindex, and another embedding model


def searched(server: Stdio, query: str, expected: str) -> dict[str, Any]:
    """Search; the statement must come. Return the answer."""
    found = server.call("search_events", query=query)
    assert expected in [event["text"] for event in found["events"]], found
    return found


def test_reindex_makes_every_vector_anew_after_the_folder_of_vectors_is_gone(shell: Shell) -> None:
    """P87: Chroma is an index; the texts are elsewhere."""
    fact = "Alice keeps three bees."
    with Stdio(shell.folder, "--user", "alice") as server:
        server.initialize()
        server.settled(server.call("end", observations=[fact, "爱丽丝不吃辣。"])["job_id"])
        server.ready()
        assert server.leave() == 0
    shutil.rmtree(shell.folder / "chroma")
    assert shell("reindex").startswith("4 texts have a new vector of builtin:")
    assert shell("reindex").startswith("4 texts have a new vector of builtin:")
    with Attached(shell.folder, "--user", "alice") as client:
        client.initialize()
        client.ready()
        found = searched(client, "three bees", fact)
        assert "semantic" in next(event for event in found["events"] if event["text"] == fact)["found_by"]
        assert client.call("memory_status")["unembedded"] == 0


def test_another_embedding_model_is_named_with_its_remedy_and_nothing_is_deleted(shell: Shell) -> None:
    """P84, P86, P87: words answer meanwhile; the old model finds its vectors again; `reindex` moves to the new one."""
    fact = "Alice keeps three bees."
    with Stdio(shell.folder, "--user", "alice") as server:
        server.initialize()
        server.settled(server.call("end", observations=[fact])["job_id"])
        server.ready()
        assert server.leave() == 0
    with FakeEndpoint(dimension=24) as endpoint:
        settings = shell.folder / "shiguan.toml"
        settings.write_text(
            f'[embedding]\nprovider = "openai"\nmodel = "other"\nbase_url = "{endpoint.base_url}"\napi_key = "k"\n',
            "utf-8",
        )
        with Stdio(shell.folder, "--user", "alice") as server:
            server.initialize()
            found = searched(server, "three bees", fact)
            wait_for(lambda: "shiguan reindex" in " ".join(server.call("memory_status")["degraded"]))
            assert "shiguan reindex" in " ".join(server.call("search_events", query="bees")["degraded"]), found
            server.settled(server.call("end", observations=["Alice keeps four wasps."])["job_id"])
            searched(server, "four wasps", "Alice keeps four wasps.")
            assert server.leave() == 0
        settings.rename(shell.folder / "kept.toml")
        with Stdio(shell.folder, "--user", "alice") as server:
            server.initialize()
            server.ready()
            found = searched(server, "three bees", fact)
            assert "semantic" in found["events"][0]["found_by"]
            assert server.leave() == 0
        (shell.folder / "kept.toml").rename(settings)
        assert "4 texts have a new vector of openai:other:24." in shell("reindex")
        with Attached(shell.folder, "--user", "alice") as server:
            server.initialize()
            server.ready()
            assert "semantic" in searched(server, "three bees", fact)["events"][0]["found_by"]
            assert server.call("memory_status")["degraded"] == []
            assert server.call("memory_status")["unembedded"] == 0


# ---- `end` never waits


def test_end_stays_quick_while_the_embedder_hangs_and_jobs_pile_up(shell: Shell) -> None:
    """P32: no model answers; the calls do, and closing stdin still ends the process."""
    never = threading.Event()
    with FakeEndpoint(dimension=24) as endpoint:
        shell.folder.mkdir()
        (shell.folder / "shiguan.toml").write_text(
            f'[embedding]\nprovider = "openai"\nmodel = "m"\nbase_url = "{endpoint.base_url}"\napi_key = "k"\n', "utf-8"
        )
        with Stdio(shell.folder, "--user", "alice") as server:
            server.initialize()
            server.ready()
            endpoint.script(*[Reply(hold=never)] * 200)
            took = []
            for number in range(60):
                begun = time.monotonic()
                server.call("end", observations=[f"Parcel {number} is blue and stands in depot {number + 500}."])
                took.append(time.monotonic() - begun)
            assert statistics.median(took) < 0.5, took
            assert max(took) < 5, took
            status = server.call("memory_status")
            assert status["pending"] + status["processing"] > 0, "the jobs did not pile up"
            assert server.leave(12) == 0
        never.set()
    with Stdio(shell.folder, "--user", "alice") as server:
        server.initialize()
        assert server.drained()["failed"] == 0
    assert shell.column("SELECT count(*) FROM events") == [60]


# ---- who


def test_ids_that_no_file_system_likes_are_people_of_their_own(shell: Shell) -> None:
    """P73: separators, dots, device names, 300 characters, emoji; case, width and normal forms are told apart."""
    people = ["a/b:..CON", "a/b:..con", "CON", "con", "..", "x" * 300, "🐈‍⬛", "Zoë", "zoë", "ｚoë", "end."]
    with running_clients(shell.folder, people) as clients:
        for number, client in enumerate(clients):
            fact = f"Person {number} keeps {number + 10} bees."
            client.settled(client.call("end", observations=[fact])["job_id"])
        for number, client in enumerate(clients):
            text = client.call("get_profile")["text"]
            assert f"Person {number} keeps {number + 10} bees" in text
            assert text.count("keeps") == 1
            assert len(client.texts("bees", top_k=50)) == 1
    files = {file.name for file in (shell.folder / "profiles" / "users").iterdir()}
    assert files == {f"{safe_name(person)}.md" for person in people}
    assert len({name.casefold() for name in files}) == len(people)
    with running_clients(shell.folder, ["Zoe\u0308", " Zoë "]) as clients:
        for client in clients:
            assert "Person 7 keeps" in client.call("get_profile")["text"]


@contextmanager
def running_clients(folder: Path, people: list[str]) -> Generator[list[Stdio]]:
    """Attach a client for each person to the one owner."""
    clients = [Attached(folder, "--user", person) for person in people]
    try:
        yield [client.initialize() for client in clients]
    finally:
        for client in clients:
            client.kill()


# ---- help


def test_help_names_the_flags_and_needs_nothing(tmp_path: Path) -> None:
    out = run("serve", "--help").stdout.decode()
    for flag in ("--standalone", "--data-dir", "--user", "--group", "--timezone", "--toolsets"):
        assert flag in out
    listed = run("--help").stdout.decode()
    for command in ("serve", "log", "import", "status", "reindex", "queue"):
        assert command in listed
        run(command, "--help", env=environment(HOME=str(tmp_path)))
    for arguments in ((), ("no-such-command",), ("queue", "burn"), ("log",)):
        done = run(*arguments, code=2)
        assert b"Traceback" not in done.stderr
        assert done.stdout == b""
    assert list(tmp_path.iterdir()) == []
