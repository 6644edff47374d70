"""`shiguan import` as people run it: folders, archives, rehearsals, and being killed in the middle."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from server.commands.exporting import FILE
from server.export_folder import MANIFEST, NOT_THEIRS
from server.imports.reports import UNSEEN
from tests.kit.clients import House, alive, say, until
from tests.kit.exporting import telegram
from tests.kit.exports import FIXTURES
from tests.kit.stdio import CEILING, SHIGUAN, environment

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with House(tmp_path / "data") as made:
        yield made


def imported(
    house: House, *arguments: str, user: str = "mira", seconds: float = CEILING
) -> tuple[list[str], list[str]]:
    """Import; return the lines on stdout and on stderr."""
    done = house.command("import", "--user", user, "--timezone", "Europe/Stockholm", *arguments, seconds=seconds)
    return done.stdout.decode().splitlines(), done.stderr.decode().splitlines()


def record(folder: Path) -> list[tuple[object, ...]]:
    """Return everything that is recorded, in order."""
    with closing(sqlite3.connect(f"file:{folder / 'memory.sqlite3'}?mode=ro", uri=True)) as connection:
        columns = "row, owner_key, message_id, conversation_id, role, sender_id, sender_name, ts, meta, content"
        return connection.execute(f"SELECT {columns} FROM messages ORDER BY row").fetchall()


def test_all_formats_at_once_from_a_folder_with_a_report_of_what_was_left(house: House, tmp_path: Path) -> None:
    """P107: what other programs hold comes in, with its ids, its people and its times."""
    report = tmp_path / "refused.jsonl"
    said, named = imported(house, str(FIXTURES), "--me", "Mira", "--me", "米拉", "--report", str(report))
    assert said[0] == "60 imported, 0 known already, 13 refused."
    assert "2 × codex" in said[1]
    assert "4 × whatsapp" in said[1]
    assert said[2].startswith("Passed over: ")
    assert said[3].startswith("Files of no known format: ")
    refused = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    assert len(refused) == len(named) == 13
    assert {one["file"] for one in refused} >= {"whatsapp/ios/_chat.txt", "telegram/result.json", "json/list.json"}
    again, _ = imported(house, str(FIXTURES), "--me", "Mira", "--me", "米拉")
    assert again[0] == "0 imported, 60 known already, 13 refused."
    found = house.command("search", "--user", "mira", "苏州", "--mode", "lexical", "--json").stdout
    assert "明天去苏州吗" in json.loads(found)["items"][0]["content"]


def test_a_rehearsal_stores_nothing_and_starts_nobody(house: House) -> None:
    said, named = imported(house, str(FIXTURES / "telegram"), "--dry-run")
    assert said[0] == f"2 could be imported, 1 refused. Nothing was stored. {UNSEEN}"
    assert named == ["message 5: It has no time."]
    assert not house.folder.exists()
    assert house.owners() == []


def test_what_was_said_earlier_can_be_left_out(house: House) -> None:
    said, _ = imported(house, str(FIXTURES / "slack"), "--since", "2020-03-02")
    assert said[0] == "1 imported, 0 known already, 3 too early, 1 refused."


def test_what_is_imported_can_be_remembered_too_in_one_command(house: House, tmp_path: Path) -> None:
    """P77: a conversation and another memory at once, each statement at its own time, and repeating adds nothing."""
    lines = tmp_path / "chat.jsonl"
    said = {"conversation_id": "c", "role": "user", "content": "我对花生过敏。", "ts": "2023-03-01T10:00:00+01:00"}
    lines.write_text(json.dumps(said) + "\n", "utf-8")
    paths = [str(lines), str(FIXTURES / "basic-memory")]
    rehearsed, _ = imported(house, *paths, "--remember", "--dry-run")
    assert rehearsed[-1].endswith("exchanges would be considered.")
    assert not house.folder.exists()
    first, _ = imported(house, *paths, "--remember")
    assert re.search(r"exchanges considered; [1-9]\d* new statements remembered\.$", first[-1])
    found = house.command("export", "--user", "mira").stdout.decode().splitlines()
    events = [one for one in map(json.loads, found) if one["kind"] == "event"]
    assert {one["text"] for one in events} >= {"mira 对花生过敏。", "Lin Xia drinks oolong"}
    assert not [one for one in events if one["timestamp"].startswith("2026")]
    again, _ = imported(house, *paths, "--remember")
    assert "of them before; no new statements remembered." in again[-1]
    assert len(house.command("export", "--user", "mira").stdout.splitlines()) == len(found)


def test_an_archive_is_read_in_place_like_its_folder(house: House, tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "slack"), "zip", FIXTURES / "slack")
    assert imported(house, packed)[0][0] == "4 imported, 0 known already, 1 refused."
    before = record(house.folder)
    assert imported(house, str(FIXTURES / "slack"))[0][0] == "0 imported, 4 known already, 1 refused."
    assert record(house.folder) == before


def test_times_without_a_zone_are_those_of_the_zone_that_is_named(house: House) -> None:
    imported(house, str(FIXTURES / "qq"))
    assert {str(row[7])[-6:] for row in record(house.folder)} == {"+01:00"}


def test_a_wrong_format_and_a_wrong_time_are_one_sentence_each(house: House) -> None:
    for flags, sentence in (
        (("--format", "icq"), "There is no format 'icq'"),
        (("--since", "someday"), "--since: The time 'someday' is not a time"),
    ):
        done = house.command("import", str(FIXTURES / "qq"), *flags, code=1)
        assert done.stderr.decode().startswith(f"shiguan: {sentence}")
        assert len(done.stderr.decode().splitlines()) == 1
    done = house.command("import", str(FIXTURES / "unknown" / "picture.png"), code=1)
    assert b"picture.png, file: Its format is not known; name it with --format" in done.stderr


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_an_import_that_is_killed_and_repeated_gives_the_record_of_one_that_was_not(
    house: House, tmp_path: Path, count: int
) -> None:
    """P4: killed at random points, the command and once the owner too; repeating it is all there is to do."""
    source = telegram(tmp_path / "result.json", count)
    rng, long = random.Random(count), CEILING + count / 100
    command = [SHIGUAN, "import", "--data-dir", str(house.folder), "--user", "mira", str(source)]
    points = sorted(rng.randrange(1, count * 9 // 10) for _ in range(3))
    for number, point in enumerate(points):
        process = subprocess.Popen(command, stdout=-1, stderr=-1, env=environment("fast"))
        until(lambda point=point, process=process: _stored(house) >= point or process.poll() is not None, seconds=long)
        if number == 1:
            owner = house.owner()
            house_end(owner)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=CEILING)
        say(f"killed with {_stored(house)} of {count} messages stored")
    report = tmp_path / "refused.jsonl"
    said, _ = imported(house, str(source), "--report", str(report), seconds=long)
    assert len(report.read_bytes().splitlines()) == count // 1000
    assert _stored(house) == count - count // 1000
    with House(tmp_path / "other") as other:
        whole, _ = imported(other, str(source), seconds=long)
        assert whole[0] == f"{count - count // 1000} imported, 0 known already, {count // 1000} refused."
        assert record(other.folder) == record(house.folder)
    assert said[0].endswith(f"{count // 1000} refused.")


def house_end(pid: int) -> None:
    """Kill an owner as a crash would, and wait until it is gone."""
    import os

    os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(pid))


def _stored(house: House) -> int:
    try:
        return house.count("SELECT count(*) FROM messages")
    except sqlite3.OperationalError:
        return 0


def test_an_export_from_the_command_line_is_imported_again_and_read_by_people(house: House, tmp_path: Path) -> None:
    """P105, P107."""
    imported(house, str(FIXTURES / "shiguan"), str(FIXTURES / "telegram"))
    out = tmp_path / "out"
    done = house.command("export", "--user", "mira", str(out))
    counts = "3 messages, 1 events, 0 memos, 1 short-term memos, 0 pinned notes, 0 group statements, 0 profiles"
    assert done.stderr.decode() == f"Exported {counts}.\n"
    piped = house.command("export", "--user", "mira").stdout
    written = (out / "shiguan-export.jsonl").read_bytes()
    assert piped.splitlines()[1:] == written.splitlines()[1:]
    assert (out / "shiguan-export.jsonl").stat().st_mode & 0o077 == 0
    with House(tmp_path / "other") as other:
        assert imported(other, str(out))[0][0] == "5 imported, 0 known already, 0 refused."
        assert other.command("export", "--user", "mira").stdout.splitlines()[1:] == written.splitlines()[1:]
    house.command("export", "--user", "mira", "--format", "markdown", str(tmp_path / "read"))
    assert "Mira planted a quince" in (tmp_path / "read" / "events.md").read_text("utf-8")
    assert b"needs the name of a folder" in house.command("export", "--format", "markdown", code=1).stderr


def test_an_export_made_anew_holds_nothing_of_what_was_forgotten_and_never_takes_the_place_of_anothers(
    house: House, tmp_path: Path
) -> None:
    lines, out = tmp_path / "chat.jsonl", tmp_path / "out"
    told = [{"conversation_id": c, "role": "user", "content": f"榅桲 {c} secret", "ts": 1.7e9} for c in ("a", "b")]
    lines.write_text("".join(json.dumps(one) + "\n" for one in told), "utf-8")
    imported(house, str(lines))
    for form in ("markdown", "jsonl"):
        house.command("export", "--user", "mira", "--format", form, str(out))
    (out / "conversations" / "mine.md").write_text("my own")
    house.command("forget", "--user", "mira", "--conversation", "b", "--yes")
    for form in ("markdown", "jsonl"):
        house.command("export", "--user", "mira", "--format", form, str(out))
        refused = house.command("export", "--user", "bob", "--format", form, str(out), code=1).stderr.decode()
        assert refused == f"shiguan: {NOT_THEIRS}\n"
    found = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    files = {"README.md", "conversations/a.md", "conversations/mine.md", FILE, MANIFEST}
    assert found.keys() == files
    assert b"a secret" in found["conversations/a.md"]
    assert not any(b"b secret" in data or b"b.md" in data for data in found.values())


def test_a_dump_of_several_users_makes_no_statements_of_others_about_the_user(house: House, tmp_path: Path) -> None:
    dump, at = tmp_path / "mem0.json", "2025-01-01T00:00:00Z"
    told = [("a1", "Likes tea", "mira"), ("a2", "Is allergic to penicillin", "otheruser")]
    dump.write_text(json.dumps([{"id": i, "memory": said, "user_id": who, "created_at": at} for i, said, who in told]))
    said, _ = imported(house, str(dump), "--me", "mira", "--remember")
    assert "those of others (otheruser) are kept as said by them" in said[2]
    lines = [json.loads(line) for line in house.command("export", "--user", "mira").stdout.splitlines()]
    assert [one["text"] for one in lines if one["kind"] == "event"] == ["Likes tea"]
    assert [one["sender_id"] for one in lines if "penicillin" in str(one)] == ["mem0:otheruser"]
    assert b"penicillin" not in b"".join(path.read_bytes() for path in (house.folder / "profiles").rglob("*.md"))
