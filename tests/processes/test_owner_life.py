"""How owners and clients come to an end, are replaced, and keep out who does not belong."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from server.owner.address import read_holder, socket_path
from tests.kit.clients import House, alive, end, is_of, processes, say, size_of, until
from tests.kit.stdio import LEGACY, SHIGUAN, Stdio, environment, run

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]
needs_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("setpriv") is None, reason="only root can act as a second user"
)
NOBODY = 65534


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with House(tmp_path / "data") as made:
        yield made


def greet(path: Path, line: bytes) -> bytes:
    """Say one line to the owner's socket and return all that comes back until it hangs up."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(path))
        connection.sendall(line)
        heard = b""
        with contextlib.suppress(ConnectionResetError):  # what it hung up on was not read to its end
            while chunk := connection.recv(65536):
                heard += chunk
    return heard


def test_a_client_ends_when_its_stdin_does(house: House) -> None:
    client = house.ready()
    begun = time.monotonic()
    assert client.leave() == 0
    assert time.monotonic() - begun < 10
    hurried = house.client()
    hurried.close_stdin()
    assert hurried.wait_exit(30) == 0


def test_what_was_asked_before_stdin_closed_is_still_answered(house: House) -> None:
    opening = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_status", "arguments": {}}},
    ]
    done = house.command("serve", stdin="\n".join(map(json.dumps, lines)))
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert {*answers} == {1, 2}
    assert "structuredContent" in answers[2]["result"]


def test_an_idle_owner_leaves_once_it_has_drained_its_queue(tmp_path: Path) -> None:
    """SHIGUAN_SERVER__IDLE_SECONDS=0: nothing waits for a client, but every acknowledged job is done first."""
    with House(tmp_path / "data", env={"SHIGUAN_SERVER__IDLE_SECONDS": "0"}) as house:
        client = house.ready()
        owner = house.owner()
        for number in range(20):
            client.call("end", observations=[f"Gardener qx{number:02d}k planted quinces on 2024-03-02."], force=True)
        begun = time.monotonic()
        assert client.leave() == 0
        house.left(owner)
        say(f"drained and left after {time.monotonic() - begun:.2f} s")
        assert not [*(house.folder / "queues" / "pending").glob("*.json")]
        assert house.count("SELECT count(*) FROM events WHERE same_as IS NULL") == 20
        assert not (house.folder / "owner.sock").exists()
        begun = time.monotonic()
        client = house.ready()
        owner = house.owner()
        client.leave()
        house.left(owner)
        assert time.monotonic() - begun < 18, "a client that comes and goes is all an idle owner waits for"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_short_sessions_leave_neither_processes_nor_disk_behind(house: House, count: int) -> None:
    """P5, P93: every session stores one fact and ends, every tenth takes the owner along."""
    sizes: list[int] = []
    for number in range(count):
        client = house.ready()
        text = f"Gardener qx{number:03d}k planted quinces on 2024-03-02."
        client.settled(client.call("end", observations=[text], force=True)["job_id"])
        assert client.leave() == 0
        if number % 10 == 9:
            house.command("owner", "stop")
        mine = [pid for pid, words in processes() if is_of(words, house.folder) and alive(pid)]
        assert len(mine) <= 1, mine
        sizes.append(size_of(house.folder))
    half = len(sizes) // 2
    growth = (sizes[-1] - sizes[half]) / (count - half)
    say(f"{count} sessions: {sizes[0] / 1e6:.2f} → {sizes[-1] / 1e6:.2f} MB, {growth / 1e3:.1f} kB a session")
    assert sizes[-1] < 5_000_000 + 60_000 * count
    assert house.count("SELECT count(*) FROM events WHERE same_as IS NULL") == count


def test_the_owner_can_be_seen_and_stopped_from_the_command_line(house: House) -> None:
    assert b"No owner" in house.command("owner", "status", code=1).stdout
    assert b"No owner" in house.command("owner", "stop", code=1).stderr
    client = house.ready()
    owner = house.owner()
    state = json.loads(house.command("owner", "status", "--json").stdout)
    assert state["pid"] == owner
    assert state["events"] == 0
    said = house.command("owner", "stop").stdout.decode()
    assert said == f"Owner {owner} has left.\n"
    assert client.call("memory_status")["pending"] == 0, "a client that still needs an owner starts another one"
    assert house.owner() != owner


def test_an_owner_that_is_asked_by_the_system_to_end_does_so_and_cleans_up(house: House) -> None:
    client = house.ready()
    client.leave()
    owner = house.owner()
    os.kill(owner, signal.SIGTERM)
    house.left(owner)
    assert not (house.folder / "owner.sock").exists()
    assert "address" not in read_holder(house.folder) or read_holder(house.folder)["address"] is None
    assert "Traceback" not in house.log()


def newer(tmp_path: Path, version: str) -> dict[str, str]:
    """Return an environment in which Shiguan says that it is of another version."""
    shim = tmp_path / f"shim-{version}"
    shim.mkdir()
    (shim / "sitecustomize.py").write_text(f"import server\nserver.__version__ = {version!r}\n")
    fast = Path(__file__).parents[1] / "kit" / "shims" / "fast"
    return {"PYTHONPATH": os.pathsep.join([str(shim), str(fast)])}


def test_a_newer_version_takes_over_and_older_clients_carry_on_with_it(house: House, tmp_path: Path) -> None:
    old = [house.ready() for _ in range(4)]
    first = house.owner()
    young = house.client(env=newer(tmp_path, "9.8.7"))
    begun = time.monotonic()
    young.initialize()
    say(f"the newer version answered after {time.monotonic() - begun:.2f} s, beside {len(old)} older clients")
    second = house.owner()
    assert second != first
    assert not alive(first)
    assert [client.call("memory_status")["pending"] for client in [*old, young]] == [0] * 5
    assert house.owner() == second, "no older client takes it back"
    assert json.loads(house.command("owner", "status", "--json").stdout)["version"] == "9.8.7"
    assert house.log().count("a newer version takes over") == 1


def test_looking_at_an_older_owner_does_not_end_it(house: House, tmp_path: Path) -> None:
    house.ready()
    owner = house.owner()
    env = environment() | newer(tmp_path, "9.8.7")
    done = run("owner", "status", "--json", "--data-dir", str(house.folder), env=env)
    assert json.loads(done.stdout)["pid"] == owner
    assert alive(owner)


def test_what_dead_owners_left_behind_keeps_nobody_out(house: House) -> None:
    """A socket file nobody listens on, a reused pid, and lock files that nobody locks."""
    house.folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(house.folder / "owner.sock"))
    found = house.folder.stat()
    said = {
        "pid": os.getpid(),
        "purpose": "owner",
        "since": "2024-01-01T00:00:00Z",
        "address": str(house.folder / "owner.sock"),
        "folder": [found.st_dev, found.st_ino],
    }
    (house.folder / "owner.json").write_text(json.dumps(said))
    for name in ("owner.lock", "spawn.lock"):
        (house.folder / name).write_text("stale")
    client = house.ready()
    assert client.call("memory_status")["pending"] == 0
    assert house.owner() != os.getpid()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"address": {"a": 1}}', b'{"address": 99999999}', b"\xff\xfe"])
def test_a_damaged_note_of_the_last_owner_is_ignored(house: House, content: bytes) -> None:
    """P13."""
    house.folder.mkdir(mode=0o700)
    (house.folder / "owner.json").write_bytes(content)
    (house.folder / "owner.token").write_bytes(content)
    assert house.ready().call("memory_status")["pending"] == 0


def test_a_copy_of_a_folder_is_not_served_by_the_owner_of_the_original(house: House, tmp_path: Path) -> None:
    client = house.ready()
    client.settled(client.call("end", observations=["Marlene planted quinces on 2024-03-02."])["job_id"])
    original = house.owner()
    ignored = shutil.ignore_patterns("owner.sock")
    with House(Path(shutil.copytree(house.folder, tmp_path / "copy", ignore=ignored))) as copy:
        assert copy.ready().texts("quinces")
        assert copy.owner() != original


def test_who_does_not_know_the_secret_gets_one_line_and_no_data(house: House) -> None:
    house.ready()
    house.owner()
    path = house.folder / "owner.sock"
    for hello in (
        {"purpose": "mcp", "user": "root"},
        {"token": "0" * 64, "purpose": "control"},
        {"token": "é", "purpose": "control"},
        {"token": None},
        {"token": ["a"], "version": "99"},
        [],
        "token",
    ):
        heard = greet(path, json.dumps(hello, ensure_ascii=False).encode() + b"\n" + b'{"op":"status"}\n')
        answer = json.loads(heard)
        assert heard.count(b"\n") == 1
        assert {*answer} == {"ok", "error"}
        assert "secret" in answer["error"]
    for rubbish in (b"\n", b"nothing\n", b"\xff\xff\n", b"[" * 60_000 + b"\n", b"x" * 70_000):
        assert greet(path, rubbish) == b""
    token = (house.folder / "owner.token").read_text()
    half = json.loads(greet(path, json.dumps({"token": token, "purpose": "mcp"}).encode() + b"\n"))
    assert not half["ok"]
    assert house.ready().call("memory_status")["pending"] == 0
    assert house.owners() == [house.owner()]
    assert "Traceback" not in house.log()


def test_a_client_whose_token_is_not_the_owners_is_refused_in_one_sentence(house: House) -> None:
    house.ready()
    house.owner()
    (house.folder / "owner.token").write_text("1" * 64)
    client = house.client()
    assert client.wait_exit() == 1
    assert client.stderr.startswith("shiguan: This client does not know the secret")
    assert client.stderr.count("\n") == 1


@needs_root
def test_a_second_user_of_the_system_cannot_attach(tmp_path: Path) -> None:
    """Neither through the folder nor through the socket, even where the folders above are open to everybody."""
    for folder in [tmp_path, *tmp_path.parents][:-1]:
        if folder.stat().st_uid == os.getuid() and folder != Path("/tmp"):
            folder.chmod(0o755)
    with House(tmp_path / "data") as house:
        house.ready()
        house.owner()
        other = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        served = [*other, SHIGUAN, "serve", "--data-dir", str(house.folder)]
        done = subprocess.run(served, input=b"", capture_output=True, env=environment(), timeout=60, check=False)
        assert done.returncode == 1
        assert b"cannot be" in done.stderr
        assert b"Traceback" not in done.stderr
        house.folder.chmod(0o755)  # even so
        knock = f"import socket; socket.socket(socket.AF_UNIX).connect({str(house.folder / 'owner.sock')!r})"
        peek = f"open({str(house.folder / 'owner.token')!r})"
        for attempt in (knock, peek):
            tried = [*other, sys.executable, "-c", attempt]
            done = subprocess.run(tried, capture_output=True, env=environment(), timeout=60, check=False)
            assert b"PermissionError" in done.stderr


@needs_root
def test_a_folder_that_cannot_be_written_is_named_in_one_sentence(tmp_path: Path) -> None:
    for folder in [tmp_path, *tmp_path.parents][:-1]:
        if folder.stat().st_uid == os.getuid() and folder != Path("/tmp"):
            folder.chmod(0o755)
    folder = tmp_path / "data"
    folder.mkdir(mode=0o500)
    os.chown(folder, NOBODY, NOBODY)
    served = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", SHIGUAN, "serve"]
    done = subprocess.run(
        [*served, "--data-dir", str(folder)], input=b"", capture_output=True, env=environment(), timeout=60, check=False
    )
    assert done.returncode == 1
    said = b"shiguan: The data folder cannot be written; make it writable for this user and try again. The path: "
    assert done.stderr.startswith(said + os.fsencode(folder))
    assert done.stderr.count(b"\n") == 1


def test_a_folder_that_is_a_file_is_named_in_one_sentence(house: House) -> None:
    house.folder.write_text("not a folder")
    done = house.command("serve", code=1)
    said = b"shiguan: The data folder is a file; name a folder with --data-dir. The path: "
    assert done.stderr == said + os.fsencode(house.folder) + b"\n"


def test_a_very_long_path_has_its_socket_in_a_private_folder(tmp_path: Path) -> None:
    with House(tmp_path / ("长" * 20) / ("d" * 90) / "data") as house:
        assert house.ready().call("memory_status")["pending"] == 0
        house.owner()
        path = Path(read_holder(house.folder)["address"])
        assert path == socket_path(house.folder)
        assert len(os.fsencode(path)) <= 100
        assert path.parent.stat().st_mode & 0o777 == 0o700
        end(house.owner())
        assert house.ready().call("memory_status")["pending"] == 0
        house.command("owner", "stop")


def test_loopback_with_the_secret_works_where_there_are_no_unix_sockets(tmp_path: Path) -> None:
    with House(tmp_path / "data", env={"SHIGUAN_TCP": "1"}) as house:
        first, second = house.ready(), house.ready()
        first.settled(first.call("end", observations=["Marlene planted quinces on 2024-03-02."])["job_id"])
        assert second.texts("quinces")
        owner = house.owner()
        port = read_holder(house.folder)["address"]
        assert isinstance(port, int)
        assert not (house.folder / "owner.sock").exists()
        with socket.create_connection(("127.0.0.1", port), timeout=30) as stranger:
            stranger.sendall(b'{"purpose":"control","token":"x"}\n{"op":"status"}\n')
            heard: Any = json.loads(stranger.makefile("rb").read())
        assert {*heard} == {"ok", "error"}
        end(owner)
        assert second.texts("quinces")
        assert house.owner() != owner
        assert b"running" in house.command("owner", "status").stdout


def test_a_port_of_a_dead_owner_that_is_somebody_elses_now_never_hears_the_secret(tmp_path: Path) -> None:
    with House(tmp_path / "data", env={"SHIGUAN_TCP": "1"}) as house, socket.socket() as stranger:
        client = house.ready()
        client.leave()
        owner = house.owner()
        end(owner)
        until(lambda: not alive(owner))
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        said = read_holder(house.folder) | {"address": stranger.getsockname()[1]}
        (house.folder / "owner.json").write_text(json.dumps(said))
        assert house.ready().call("memory_status")["pending"] == 0
        secret = (house.folder / "owner.token").read_bytes().strip()
        stranger.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            while True:  # somebody else may have known the port; what counts is that nobody tells the secret
                heard, _ = stranger.accept()
                with heard:
                    heard.settimeout(0.5)
                    assert secret not in heard.recv(1 << 16)


def test_settings_that_differ_from_the_owners_are_named(house: House) -> None:
    house.ready()
    client = house.ready(env={"SHIGUAN_QUERY__TOOL_DEFAULT_TOP_K": "5", "SHIGUAN_CHAT__API_KEY": "sk-very-secret"})
    assert client.said("SHIGUAN_QUERY__TOOL_DEFAULT_TOP_K differs from the running owner's")
    assert client.said("SHIGUAN_CHAT__API_KEY differs")
    assert "very-secret" not in client.stderr + house.log()
    assert client.call("memory_status")["pending"] == 0
    assert house.ready("--user", "bob", "--timezone", "Asia/Shanghai").stderr == ""


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--toolsets", "magic"], "no toolset 'magic'"),
        (["--timezone", "Mars/Olympus"], "Mars/Olympus"),
        (["--user", "a\x07b"], ""),
    ],
)
def test_wrong_flags_end_the_client_with_one_sentence(house: House, flags: list[str], words: str) -> None:
    done = house.command("serve", *flags, code=1)
    said = done.stderr.decode()
    assert said.startswith("shiguan: ")
    assert words in said
    assert said.count("\n") == 1
    assert done.stdout == b""


def test_wrong_settings_of_the_owner_are_told_to_the_client_that_started_it(tmp_path: Path) -> None:
    with House(tmp_path / "data", env={"SHIGUAN_QUERY__AUTO_TOP_K": "many"}) as house:
        (tmp_path / "data").mkdir(mode=0o700)
        (house.folder / "owner.log").write_text("shiguan: An old complaint.\n")
        done = house.command("serve", code=1)
        assert "query.auto_top_k" in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1


def test_a_standalone_server_on_the_folder_is_named_to_a_client(house: House) -> None:
    with Stdio(house.folder).initialize() as alone:
        client = house.client()
        assert client.wait_exit() == 1
        assert f"in use by process {alone.pid} (serve --standalone)" in client.stderr
        assert client.stderr.count("\n") == 1
        assert alone.call("memory_status")["pending"] == 0
    assert house.ready().call("memory_status")["pending"] == 0


def test_an_owner_on_the_folder_is_named_to_a_standalone_server(house: House) -> None:
    """P19's other half: --standalone says who holds the folder."""
    house.ready()
    owner = house.owner()
    with Stdio(house.folder) as alone:
        assert alone.wait_exit() == 1
        assert f"in use by process {owner} (owner)" in alone.stderr
