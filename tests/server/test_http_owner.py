"""The HTTP server is the folder's owner: it takes over, local clients come along; it starts only when it is safe."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, Protocol

import pytest

from server.cli import main
from server.http.identity import ACT_AS, ADMIN, READ, SCOPES, WRITE
from server.owner.address import read_holder
from tests.kit.clients import Client, House, alive, until
from tests.kit.http import Served, request
from tests.kit.stdio import environment, run

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="ends processes by signals")]


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with House(tmp_path / "data") as made:
        yield made


class Refuses(Protocol):
    def __call__(self, folder: Path, *flags: str, toml: str = "") -> str: ...


@pytest.fixture
def refuses(capfd: pytest.CaptureFixture[str]) -> Refuses:
    """Start a server in this process that must not start, and return its sentence."""

    def start(folder: Path, *flags: str, toml: str = "") -> str:
        folder.mkdir(exist_ok=True, mode=0o700)
        if toml:
            (folder / "shiguan.toml").write_text(toml, encoding="utf-8")
        assert main(["serve", "--http", "--port", "0", "--data-dir", str(folder), *flags]) == 1
        said = capfd.readouterr()
        sentence = said.err.splitlines()[-1]
        assert sentence.startswith("shiguan: ")
        assert str(folder) not in sentence
        assert said.out == ""
        return sentence

    return start


# ---- when it starts


@pytest.mark.parametrize(
    ("flags", "toml", "words"),
    [
        ([], "", "shiguan token create"),
        (["--host", "0.0.0.0"], '[server]\npublic_url = "https://m.example.com/mcp"\n', "shiguan token create"),
        (["--host", "0.0.0.0", "--user", "me"], '[server]\nallowed_hosts = ["m"]\n', "shiguan token create"),
        (["--host", "0.0.0.0"], "", "public_url"),
        ([], '[server]\nverifier = "tokens"\n', "shiguan token create"),
        (["--user", "me"], '[server]\nverifier = "jwt"\n', "jwt_issuer"),
        ([], '[server]\njwt_issuer = "https://i.example.com"\n', "jwt_jwks_url"),
        (["--host", "203.0.113.9", "--user", "me"], "", "cannot be listened on"),
        (["--port", "99999", "--user", "me"], "", "--port is wrong"),
        (["--trust-host"], "", "act-as"),
        (["--user", "me", "--toolsets", "nonsense"], "", "no toolset"),
    ],
)
def test_it_refuses_to_start_where_people_could_not_be_told_apart(
    tmp_path: Path, refuses: Refuses, flags: list[str], toml: str, words: str
) -> None:
    """P50: and the user of the operating system is no explicit one."""
    assert words in refuses(tmp_path / "data", *flags, toml=toml)


def test_a_user_from_the_environment_is_not_explicit(tmp_path: Path) -> None:
    """P50."""
    env = environment("fast", SHIGUAN_USER_ID="me")
    done = run("serve", "--http", "--port", "0", "--data-dir", str(tmp_path), env=env, code=1)
    assert "--user" in done.stderr.decode()
    assert done.stdout == b""


def test_expired_tokens_are_no_verifier(tmp_path: Path, refuses: Refuses) -> None:
    server = Served(tmp_path / "data")
    server.token("alice", expires_at=1)
    assert "shiguan token create" in refuses(tmp_path / "data")


def test_a_port_in_use_is_told_and_leaves_the_owner_alone(house: House) -> None:
    client = house.ready()
    owner = house.owner()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = house.command("serve", "--http", "--user", "me", "--port", port, code=1)
    assert f"Port {port} is in use" in done.stderr.decode()
    assert alive(owner)
    assert client.call("memory_status")["pending"] == 0


def test_on_loopback_one_named_user_needs_no_token(tmp_path: Path) -> None:
    with Served(tmp_path / "data", "--user", "solo", "--group", "club") as served:
        assert served.ask("GET", "/metrics").status == 200
        profile = served.call(None, "end", observations=["Solo likes tea."]).message
        assert profile["result"]["structuredContent"]["queued"]
        refused_meta = served.call(None, "get_profile", meta={"shiguan/user_id": "other"})
        assert refused_meta.status == 403
        assert "www-authenticate" in refused_meta.headers
        assert served.ask("POST", body=request("ping"), headers={"Origin": "https://evil.example.com"}).status == 403


def test_tokens_rule_where_there_are_any_and_a_named_user_is_told_to_have_no_effect(tmp_path: Path) -> None:
    server = Served(tmp_path / "data", "--user", "solo")
    token = server.token("alice")
    with server:
        assert server.said("--user has no effect")
        assert server.call(None, "get_profile").status == 401
        assert server.call(token, "get_profile").status == 200


# ---- taking over, and local clients


def test_it_takes_over_from_an_owner_and_clients_of_both_kinds_share_the_folder(house: House) -> None:
    local = house.ready("--user", "alice")
    before = house.owner()
    local.settled(local.call("end", observations=["Alice planted 木瓜树 in Lund."])["job_id"])
    served = Served(house.folder)
    token, other = served.token("alice"), served.token("bob")
    with served:
        until(lambda: not alive(before))
        assert read_holder(house.folder)["purpose"] == "serve --http"
        assert "木瓜树" in json.dumps(local.call("search_events", query="木瓜树"), ensure_ascii=False)
        found = served.call(token, "search_events", query="木瓜树").message["result"]["structuredContent"]
        assert len(found["events"]) == 1
        assert (
            served.call(other, "search_events", query="木瓜树").message["result"]["structuredContent"]["events"] == []
        )
        late = house.ready("--user", "alice")
        assert len(late.texts("木瓜树")) == 1
        status = json.loads(house.command("owner", "status", "--json").stdout)
        assert status["pid"] == served.process.pid if served.process else False
        assert status["http"] == served.url


def test_a_second_server_on_the_folder_is_refused(tmp_path: Path, refuses: Refuses) -> None:
    with Served(tmp_path / "data", "--user", "solo") as served:
        assert "in use by process" in refuses(tmp_path / "data", "--user", "solo")
        assert served.call(None, "get_profile").status == 200


def test_a_standalone_server_is_not_driven_out(house: House, refuses: Refuses) -> None:
    class Alone(Client):
        mode = ("--standalone",)

    with Alone(house.folder).initialize() as alone:
        assert "standalone" in refuses(house.folder, "--user", "solo")
        assert alone.call("memory_status")["pending"] == 0


def test_it_stays_when_nobody_is_there_and_leaves_when_it_is_told_to(tmp_path: Path) -> None:
    with Served(tmp_path / "data", "--user", "solo", toml="[server]\nidle_seconds = 0\n") as served:
        job = served.call(None, "end", observations=["Solo likes tea."]).message["result"]["structuredContent"][
            "job_id"
        ]
        asked: dict[str, Any] = {}

        def is_done() -> bool:
            asked.update(served.call(None, "memory_status", job_id=job).message["result"]["structuredContent"]["job"])
            return bool(asked["state"] == "done")

        until(is_done)
        run("owner", "stop", "--data-dir", str(tmp_path / "data"), env=environment("fast"))
        assert served.process is not None
        assert served.process.wait(30) == 0
    assert "Traceback" not in served.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_with_clients_connected(house: House, number: int) -> None:
    served = Served(house.folder)
    token = served.token("alice")
    with served:
        session = served.open_session(token)
        stream = socket.create_connection(("127.0.0.1", served.port))
        lines = [
            "GET /mcp HTTP/1.1",
            f"Host: 127.0.0.1:{served.port}",
            f"Authorization: Bearer {token}",
            "Accept: text/event-stream",
            f"Mcp-Session-Id: {session}",
        ]
        stream.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert b" 200 " in stream.recv(4096)
        local = house.ready("--user", "alice")
        assert served.process is not None
        served.process.send_signal(number)
        assert served.process.wait(30) == 0
        stream.close()
        assert local.call("memory_status")["pending"] == 0  # by an owner of its own
    assert "Traceback" not in served.stderr, served.stderr


def test_a_killed_server_loses_nothing_and_a_new_one_goes_on(tmp_path: Path) -> None:
    served = Served(tmp_path / "data")
    token = served.token("alice")
    with served:
        for number in range(20):
            answer = served.call(token, "end", observations=[f"Parcel {number} came on 2026-05-{number + 1:02d}."])
            assert answer.message["result"]["structuredContent"]["queued"]
        served.kill()
        served.start()

        def drained() -> bool:
            status = served.call(token, "memory_status").message["result"]["structuredContent"]
            return not status["pending"] and not status["processing"]

        until(drained)
        found = served.call(token, "search_events", query="parcel", top_k=50).message["result"]["structuredContent"]
        assert len(found["events"]) == 20


# ---- acting as others


def test_a_bot_speaks_for_each_user_anew_and_leaves_a_line_each_time(tmp_path: Path) -> None:
    served = Served(tmp_path / "data")
    stored, bot = served.tokens.create(None, scopes=[READ, WRITE, ACT_AS])
    own, _ = served.tokens.create("keeper", scopes=[*SCOPES])
    served.token("alice")
    with served:
        session = served.open_session(bot)
        for user, text in (("alice", "Alice likes 火锅."), ("bob", "Bob likes Pizza.")):
            params = {"name": "end", "arguments": {"observations": [text]}, "_meta": {"shiguan/user_id": user}}
            assert served.legacy(bot, session, "tools/call", params).message["result"]["structuredContent"]["queued"]
        for user, word, other in (("alice", "火锅", "Pizza"), ("bob", "Pizza", "火锅")):
            meta = {"shiguan/user_id": user}
            until(
                lambda meta=meta: (
                    not status(served, bot, meta)["pending"] and not status(served, bot, meta)["processing"]
                )
            )
            text = json.dumps(served.call(bot, "get_profile", meta=meta).message, ensure_ascii=False)
            assert word in text
            assert other not in text
        nobody = served.call(bot, "get_profile")
        assert nobody.status == 400
        assert "shiguan/user_id" in nobody.text
        assert served.legacy(bot, session, "tools/list").status == 200
        lines = [json.loads(line.split("shiguan.audit: ")[1]) for line in served.log if "shiguan.audit" in line]
        ends = [line for line in lines if line.get("tool") == "end"]
        assert [(line["user"], line["token"], line["method"]) for line in ends] == [
            ("alice", stored.token_id, "tools/call"),
            ("bob", stored.token_id, "tools/call"),
        ]
        assert all(line["audit"] == "act-as" for line in lines)
        assert own.token_id not in served.stderr


def status(served: Served, token: str, meta: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = served.call(token, "memory_status", meta=meta).message["result"]["structuredContent"]
    return found


@pytest.mark.parametrize(
    "meta",
    [
        {"shiguan/user_id": ""},
        {"shiguan/user_id": ["alice"]},
        {"shiguan/user_id": {"a": 1}},
        {"shiguan/user_id": None},
        {"shiguan/group_id": "club"},
        {"shiguan/user_id": "alice", "shiguan/admin": True},
        {"shiguan/user_id": "a\u0000"},
        {"shiguan/": "alice"},
    ],
)
def test_what_names_nobody_is_refused_also_for_a_bot_with_a_user_of_its_own(
    acting: tuple[Served, str, str], meta: dict[str, Any]
) -> None:
    served, bot, keeper = acting
    for token in (bot, keeper):
        answer = served.call(token, "get_profile", meta=meta)
        assert answer.status == 400, answer.text
        assert "keeper" not in answer.text


def test_ids_in_the_audit_line_cannot_make_a_line_of_their_own(acting: tuple[Served, str, str]) -> None:
    served, bot, _ = acting
    user = 'eve", "user": "alice\u2028 {"audit'
    meta = {"shiguan/user_id": user, "shiguan/groups": ["team", "choir"]}
    assert served.call(bot, "memory_status", meta=meta).status == 200
    audited = lambda: [line for line in served.log if "shiguan.audit" in line and "eve" in line]  # noqa: E731
    until(audited)
    line = audited()[0]
    noted = json.loads(line.split("shiguan.audit: ")[1])
    assert (noted["user"], noted["groups"]) == (user, ["choir", "team"])


@pytest.fixture(scope="module")
def acting(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Served, str, str]]:
    served = Served(tmp_path_factory.mktemp("acting") / "data")
    bot, keeper = served.token(None, scopes=[READ, WRITE, ACT_AS]), served.token("keeper", scopes=[*SCOPES])
    with served:
        yield served, bot, keeper


# ---- secrets


def test_no_token_stands_in_logs_status_errors_backups_help_or_files(house: House, tmp_path: Path) -> None:
    served = Served(house.folder)
    tokens = [served.token("alice"), served.token(None, scopes=[READ, ACT_AS]), served.token("ops", scopes=[ADMIN])]
    gone = served.token("carol")
    served.tokens.revoke(gone.split("_")[1])
    seen: list[bytes] = []
    with served:
        for token in [*tokens, gone, "not-a-token-but-secret"]:
            session = served.ask("POST", token=token, body=b"{").body
            seen += [session, served.call(token, "get_profile", x=token).body]
            seen += [served.ask("GET", "/metrics", token=token).body, served.ask("GET", f"/{token}", token=token).body]
            seen += [served.ask("POST", token=token, body=b"{", headers={"Host": token[:40]}).body]
        seen += [served.call(tokens[0], "memory_status").body]
        for command in (["status"], ["owner", "status"], ["doctor"], ["queue", "list"], ["token", "list"]):
            done = run(*command, "--data-dir", str(house.folder), code=None)
            seen += [done.stdout, done.stderr]
        backup = tmp_path / "backup.tar.gz"
        house.command("backup", str(backup))
        run("restore", str(backup), "--data-dir", str(tmp_path / "restored"))
        for command in (["--help"], ["serve", "--help"], ["token", "create", "--help"]):
            seen.append(run(*command).stdout)
        served.stop()
    seen.append(served.stderr.encode())
    files = [path for folder in (house.folder, tmp_path / "restored") for path in folder.rglob("*") if path.is_file()]
    seen += [path.read_bytes() for path in files]
    for token in [*tokens, gone]:
        for text in (token, token.split("_", 2)[2]):
            assert not [blob[:300] for blob in seen if text.encode() in blob]
    assert b"tokens.json" not in b"".join(bytes(path) for path in (tmp_path / "restored").rglob("*"))
