"""A settings file that is wrong, on real processes: a running owner goes on, and what needs no settings works."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.clients import House, end
from tests.kit.stdio import RpcError, run
from tests.kit.transcripts import Transcript

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

GOOD = 'user = "mara"\ntoolsets = ["host"]\n[guard]\ncredentials = "refuse"\n'
BROKEN = f"{GOOD}[query\n"
WRONG = f"{GOOD}[query]\nauto_topk = 3\n"
NO_TOML = "shiguan.toml cannot be read as TOML: Expected ']' at the end of a table declaration (at line 5, column 7)."
KEPT = "The changed settings have no effect, the former ones stay: "
KEY = "Bearer ghp_" + "a1B2c3D4e5" * 4
TEA = {"message_id": "m1", "conversation_id": "c", "role": "user", "content": "我喜欢乌龙茶 oolong", "ts": 1771569000}


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    with House(folder) as made:
        write(made, GOOD)
        yield made


def write(house: House, toml: str) -> None:
    (house.folder / "shiguan.toml").write_text(toml, "utf-8")
    (house.folder / "shiguan.toml").chmod(0o600)


def findings(house: House) -> dict[str, tuple[str, str]]:
    """Return what the doctor says of each part; it must not call the folder healthy."""
    report: dict[str, Any] = json.loads(house.command("doctor", "--json", code=1).stdout)
    assert not report["healthy"]
    return {one["check"]: (one["severity"], one["message"]) for one in report["findings"]}


def test_while_an_owner_runs_a_file_that_is_no_toml_stops_nobody_and_is_said(house: House, tmp_path: Path) -> None:
    """Whose memory it is stays what the file said last, and so does how credentials are kept out."""
    client = house.ready()
    client.call("messages_append", messages=[TEA])
    write(house, BROKEN)
    said = f"shiguan: {KEPT}{NO_TOML} The path: {house.folder / 'shiguan.toml'}\n".encode()
    for words in (("search", "乌龙"), ("queue", "list"), ("log", "绿茶也行"), ("context", "茶")):
        done = house.command(*words)
        assert said in done.stderr, words
    assert house.command("search", "乌龙").stdout.count("乌龙茶".encode()) == 1
    refused = house.command("log", KEY, code=1)
    assert refused.stderr.startswith(said)
    assert b"redential" in refused.stderr
    talk = Transcript(tmp_path / "projects" / "session-1.jsonl")
    talk.user("Which tea?")
    talk.assistant("Sencha.")
    assert house.command("hook", "stop", stdin=json.dumps(talk.payload("Stop"))).stderr == said
    second = house.ready()
    second.drained()
    contents = {one["content"] for one in second.call("messages_list")["items"]}
    assert contents == {"我喜欢乌龙茶 oolong", "绿茶也行", "Which tea?", "Sencha."}
    assert len(house.owners()) == 1
    status = house.command("status").stdout.decode()
    assert f"settings             {KEPT}{NO_TOML}\n" in status
    assert findings(house)["settings"] == ("error", NO_TOML)
    assert b"Backed up 4 messages" in house.command("backup", str(tmp_path / "kept.tar.gz")).stdout


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        (BROKEN, NO_TOML),
        (WRONG, "The setting query.auto_topk is wrong: there is no such setting; did you mean query.auto_top_k?"),
    ],
)
def test_without_an_owner_doctor_backup_and_restore_work_and_the_rest_names_file_and_cause(
    house: House, tmp_path: Path, toml: str, reason: str
) -> None:
    client = house.ready()
    client.call("messages_append", messages=[TEA])
    client.leave()
    house.command("owner", "stop")
    write(house, toml)
    for words in (("status",), ("search", "茶"), ("serve",), ("serve", "--standalone"), ("owner", "run"), ("reindex",)):
        done = house.command(*words, code=1)
        assert f"shiguan: {reason} The path: {house.folder / 'shiguan.toml'}\n" in done.stderr.decode(), words
        assert done.stdout == b""
    found = findings(house)
    assert found["settings"] == ("error", reason)
    assert found["database"] == ("ok", "All is well.")
    assert found["vectors"][0] == "warning"
    backup = str(tmp_path / "kept.tar.gz")
    assert b"Backed up 1 messages" in house.command("backup", backup).stdout
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    (other / "shiguan.toml").write_text(toml, "utf-8")
    assert b"Restored 1 messages" in run("restore", backup, "--data-dir", str(other)).stdout
    assert not house.owners()


def test_a_host_whose_owner_cannot_start_again_is_told_the_cause_and_a_person_the_path_too(house: House) -> None:
    client = house.ready()
    owner = house.owner()
    write(house, WRONG)
    end(owner)
    house.left(owner)
    assert client.said(f"did you mean query.auto_top_k? The path: {house.folder / 'shiguan.toml'}")
    with pytest.raises(RpcError) as refused:
        client.call("memory_status")
    assert "did you mean query.auto_top_k?" in refused.value.sentence
    assert str(house.folder) not in refused.value.sentence


def test_a_token_is_revoked_whatever_is_wrong_with_the_settings(house: House) -> None:
    """A server that runs goes on with its former settings, and must not go on with a token that was stolen."""
    elsewhere = house.folder.parent / "secrets.json"
    good = f"{GOOD}[server]\ntoken_file = {json.dumps(str(elsewhere))}\n"
    write(house, good)
    token_id = house.command("token", "create", "--user", "mara", "--expires", "30m").stdout.decode().split("_")[1]
    for wrong in (f"{good}port = 'many'\n", f"timezone = 'Mars/Olympus'\nnonsense = 1\n{good}"):
        write(house, wrong)
        assert token_id in house.command("token", "list").stdout.decode()
        assert house.command("token", "create", "--user", "bot", "--expires", "90d").stdout
    house.command("token", "revoke", token_id)
    write(house, f"{good}[query\n")
    refused = house.command("token", "list", code=1).stderr.decode()
    assert refused.startswith("shiguan: shiguan.toml cannot be read as TOML: ")
    write(house, good)
    house.ready()
    write(house, f"{good}[query\n")
    listed = house.command("token", "list").stdout.decode()
    assert listed.count("user bot") == 2
    assert token_id not in listed
    house.command("token", "revoke", listed.split()[0])
    assert house.command("token", "list").stdout.count(b"user bot") == 1
    assert not (house.folder / "tokens.json").exists()
