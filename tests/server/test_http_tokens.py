"""The tokens file and `shiguan token`: what is stored is not the token, and every change holds at once."""

from __future__ import annotations

import json
import re
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from historian.errors import NotFoundError, StoreError
from server.http.identity import READ, WRITE
from server.http.tokens import TOKENS_NAME, TokenFile
from tests.kit.stdio import run

SHAPE = re.compile(r"shiguan_[0-9a-f]{8}_[A-Za-z0-9_-]{43}")


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / TOKENS_NAME)


def create(file: TokenFile, user: str | None = "alice", **more: Any) -> str:
    return file.create(user, scopes=[READ], **more)[1]


def test_a_token_is_found_by_itself_and_by_nothing_like_it(file: TokenFile) -> None:
    token = create(file)
    assert SHAPE.fullmatch(token)
    now = time.time()
    found = file.find(token, now)
    assert found is not None
    assert found.user == "alice"
    near = [token[:-1], token + "x", token.upper(), token.lower(), f" {token}", token[:-1] + "\u0430", "", "shiguan_"]
    near += [token.replace("shiguan_", "shiguan_", 1)[:17] + "A" * 43, token.split("_", 2)[2], found.digest]
    assert [text for text in near if file.find(text, now) is not None] == []


def test_what_lies_on_disk_is_not_the_token(file: TokenFile, tmp_path: Path) -> None:
    token = create(file)
    secret = token.split("_", 2)[2]
    for path in tmp_path.rglob("*"):
        assert secret.encode() not in path.read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert secret not in repr(file.tokens())


def test_tokens_are_never_alike(file: TokenFile) -> None:
    tokens = [create(file) for _ in range(50)]
    assert len({token.split("_", 2)[2] for token in tokens}) == 50
    assert len({token.split("_")[1] for token in tokens}) == 50


def test_it_ends_when_it_was_to_end(file: TokenFile) -> None:
    token = create(file, expires_at=1000)
    assert file.find(token, 999.9) is not None
    assert file.find(token, 1000.0) is None
    assert file.find(token, 1e12) is None


def test_another_process_sees_every_change(file: TokenFile, tmp_path: Path) -> None:
    other = TokenFile(tmp_path / TOKENS_NAME)
    for _ in range(20):
        token = create(file)
        found = other.find(token, 0)
        assert found is not None
        other.revoke(found.token_id)
        assert file.find(token, 0) is None
    assert file.tokens() == []


def test_tokens_of_the_same_second_are_listed_in_the_order_in_which_they_were_made(file: TokenFile) -> None:
    made = [file.create(f"user{number}", scopes=[READ])[0].token_id for number in range(8)]
    assert [token.token_id for token in file.tokens()] == made


def test_tokens_that_are_created_at_the_same_time_are_all_kept(file: TokenFile, tmp_path: Path) -> None:
    made: list[str] = []

    def work() -> None:
        own = TokenFile(tmp_path / TOKENS_NAME)
        made.extend(create(own) for _ in range(10))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 60
    assert all(file.find(token, 0) is not None for token in made)


def test_revoking_what_is_not_there_is_told(file: TokenFile) -> None:
    with pytest.raises(NotFoundError):
        file.revoke("00000000")


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"format": "shiguan-tokens", "version": 99, "tokens": []}',
        b'{"format": "shiguan-tokens", "version": 1, "tokens": [{}]}',
        b'{"format": "shiguan-tokens", "version": 1, "tokens": {"a": 1}}',
        b'{"format": "shiguan-tokens", "version": 1, "tokens": [7]}',
    ],
)
def test_nobody_comes_in_by_a_damaged_file_and_it_is_not_overwritten(
    file: TokenFile, tmp_path: Path, damage: bytes
) -> None:
    token = create(file)
    (tmp_path / TOKENS_NAME).write_bytes(damage)
    for _ in range(2):
        with pytest.raises(StoreError) as caught:
            file.find(token, 0)
        assert str(tmp_path) not in str(caught.value)
    with pytest.raises(StoreError):
        create(file)
    assert (tmp_path / TOKENS_NAME).read_bytes() == damage


@pytest.mark.parametrize(("key", "value"), [("digest", "é" * 64), ("groups", "team"), ("scopes", "shiguan:read")])
def test_nobody_comes_in_by_a_file_with_an_entry_that_cannot_be_read(
    file: TokenFile, tmp_path: Path, key: str, value: str
) -> None:
    token = create(file)
    document = json.loads((tmp_path / TOKENS_NAME).read_text("utf-8"))
    document["tokens"][0][key] = value
    (tmp_path / TOKENS_NAME).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(StoreError):
        file.find(token, 0)


def test_a_token_with_a_digest_of_another_kind_lets_nobody_in(file: TokenFile, tmp_path: Path) -> None:
    token = create(file)
    document = json.loads((tmp_path / TOKENS_NAME).read_text("utf-8"))
    for digest in ("", "0" * 64, token):
        document["tokens"][0]["digest"] = digest
        (tmp_path / TOKENS_NAME).write_text(json.dumps(document), encoding="utf-8")
        assert file.find(token, 0) is None


# ---- the command


def command(folder: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    done = run("token", arguments[0], "--data-dir", str(folder), *arguments[1:], code=code)
    return done.stdout.decode(), done.stderr.decode()


@pytest.mark.process
def test_create_prints_the_token_alone_and_the_rest_beside_it(tmp_path: Path) -> None:
    out, err = command(tmp_path, "create", "--user", " 小明 ", "--group", "家", "--group", "team", "--expires", "90d")
    assert SHAPE.fullmatch(out.strip())
    assert out.count("\n") == 1
    assert out.strip() not in err
    assert "小明" in err or "\\u" in err
    stored = TokenFile(tmp_path / TOKENS_NAME).find(out.strip(), time.time())
    assert stored is not None
    assert (stored.user, stored.groups, stored.scopes) == ("小明", ("家", "team"), (READ, WRITE))
    assert stored.expires_at is not None
    assert 89 < (stored.expires_at - time.time()) / 86_400 <= 90


@pytest.mark.process
def test_list_shows_all_but_the_secret_and_revoke_ends_it(tmp_path: Path) -> None:
    token = command(tmp_path, "create", "--user", "alice", "--scope", "read,admin", "--expires", "never")[0].strip()
    bot = command(tmp_path, "create", "--scope", "act-as", "--scope", "shiguan:read", "--expires", "2099-01-31")[
        0
    ].strip()
    out, _ = command(tmp_path, "list")
    assert token.split("_")[1] in out
    assert bot.split("_")[1] in out
    assert token.split("_", 2)[2] not in out
    entries = [json.loads(line) for line in command(tmp_path, "list", "--json")[0].splitlines()]
    assert [entry["user"] for entry in entries] == ["alice", None]
    assert entries[0]["expires_at"] is None
    assert entries[1]["expires_at"].startswith("2099-01-3")
    assert "digest" not in str(entries)
    command(tmp_path, "revoke", token.split("_")[1])
    assert TokenFile(tmp_path / TOKENS_NAME).find(token, time.time()) is None
    assert "no token" in command(tmp_path, "revoke", token.split("_")[1], code=1)[1]


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["create"], "--user"),
        (["create", "--scope", "read"], "--user"),
        (["create", "--user", " "], "empty"),
        (["create", "--user", "a", "--scope", "root"], "no scope"),
        (["create", "--user", "a", "--expires", "yesterday"], "--expires"),
        (["create", "--user", "a", "--expires", "2001-01-01"], "past"),
        (["create", "--user", "a", "--expires", "0d"], "past"),
        (["create", "--user", "a", "--timezone", "Mars/Olympus"], "time zone"),
        (["revoke", "0000"], "no token"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(tmp_path: Path, arguments: list[str], words: str) -> None:
    out, err = command(tmp_path, *arguments, code=1)
    assert out == ""
    assert words in err
    assert str(tmp_path) not in err
    assert not (tmp_path / TOKENS_NAME).exists()


@pytest.mark.process
def test_the_file_may_lie_elsewhere(tmp_path: Path) -> None:
    folder, secrets = tmp_path / "data", tmp_path / "secrets"
    folder.mkdir()
    secrets.mkdir()
    (folder / "shiguan.toml").write_text(f"[server]\ntoken_file = {json.dumps(str(secrets / 't.json'))}\n", "utf-8")
    command(folder, "create", "--user", "alice")
    assert (secrets / "t.json").exists()
    assert not (folder / TOKENS_NAME).exists()
    assert "alice" in command(folder, "list")[0]
