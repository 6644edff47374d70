"""Credentials never reach the disk, whichever way they come in."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from historian.clock import SystemClock
from historian.errors import InvalidInputError
from historian.queue import Queue
from server.bare import credentials_mode
from server.settings import load_settings
from server.toolsets import TOOLSETS
from tests.historian.test_credentials import CASES
from tests.kit.home import Home, Person, home
from tests.kit.published import Request, listing

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
CARD = "4111 1111 1111 1111"
WHEN = "2026-02-20T10:00:00Z"


def message(**more: Any) -> dict[str, Any]:
    return {"conversation_id": "c", "role": "user", "content": "hello", "ts": WHEN} | more


def on_disk(folder: Path, secret: str) -> list[str]:
    """Return the files that hold a text, as it is or as JSON writes it."""
    forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    wanted = [form.encode() for form in forms]
    found: list[str] = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # the memory is at work
            held = path.read_bytes()
            found += [path.name] if any(form in held for form in wanted) else []
    return found


async def test_what_end_is_given_is_masked_before_it_is_queued(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        for number, (kind, secret) in enumerate(CASES):
            said = f"aws_secret_access_key = {secret}" if kind == "AWS secret" else secret
            receipt = await alice.call(
                "end",
                memo=f"{number} {said}",
                observations=[f"Alice's key is {said}."],
                source_message=f"{'word ' * 140} my key is {said} ok?",
                recent_messages=[said, {"content": said, "sender_name": said}],
                location=said if "\n" not in said and len(said) < 100 else "here",
            )
            assert kind in receipt["note"]
            assert "credential in memo was masked" in receipt["note"]
            payload = json.dumps(house.household.queue.get(receipt["job_id"])[1].payload)  # type: ignore[index]
            assert payload.count(f"[masked: {kind}]") >= 4, (kind, secret)
            assert json.dumps(secret)[1:-1][-30:] not in payload, (kind, secret)
        assert not [secret for _, secret in CASES if on_disk(tmp_path, secret[-30:])]


async def test_a_masked_turn_goes_its_way(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember(f"Alice's GitHub token is {TOKEN}.", source_message=f"my token is {TOKEN}")
        assert await alice.texts("GitHub token") == ["Alice's GitHub token is [masked: GitHub token]."]
        assert (await alice.call("messages_list"))["items"][0]["content"] == "my token is [masked: GitHub token]"
    assert not on_disk(tmp_path, TOKEN)


async def test_messages_are_masked_in_all_their_texts_and_keep_their_identifiers(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        given = message(message_id="4111111111111111", content=f"card {CARD}", sender_name=TOKEN, meta={"k": [TOKEN]})
        done = await alice.call("messages_append", messages=[given, message(content="my password is weak")])
        assert (done["inserted"], done["failed"]) == (2, [])
        assert [note.split(" was ")[0] for note in done["warnings"]] == [
            "A credential in message 0.content",
            "A credential in message 0.sender_name",
            "A credential in message 0.meta.k[0]",
        ]
        items = {item["message_id"]: item for item in (await alice.call("messages_list"))["items"]}
        assert items["4111111111111111"]["content"] == "card [masked: card number]"
        refused = await alice.call("messages_append", messages=[message(reply_to=TOKEN)])
        assert refused["failed"][0]["reason"].startswith("message 0.reply_to holds a credential; identify it")
    assert not on_disk(tmp_path, TOKEN)
    assert not on_disk(tmp_path, CARD)


def house_with(folder: Path, mode: str) -> Any:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shiguan.toml").write_text(f'[guard]\ncredentials = "{mode}"\n')
    return home(folder, run=False)


async def test_set_to_refuse_a_text_with_a_credential_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with house_with(tmp_path, "refuse") as house, house.client() as alice:
        sentence = await alice.refused("end", observations=["fine", f"key {TOKEN}"])
        assert sentence == "observations[1] holds a credential (GitHub token); take it out, the memory keeps none."
        done = await alice.call("messages_append", messages=[message(), message(content=f"x {TOKEN}")])
        assert done["inserted"] == 1
        assert done["failed"] == [
            {
                "index": 1,
                "reason": "message 1.content holds a credential (GitHub token); take it out, the memory keeps none.",
            }
        ]
    assert not on_disk(tmp_path, TOKEN)


async def test_set_to_off_texts_are_kept_as_they_are(tmp_path: Path) -> None:
    async with house_with(tmp_path, "off") as house, house.client() as alice:
        await alice.call("messages_append", messages=[message(content=TOKEN)])
        assert (await alice.call("messages_list"))["items"][0]["content"] == TOKEN


async def test_meta_without_end_is_refused(tmp_path: Path) -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"a": deep}
    async with home(tmp_path, run=False) as house, house.client() as alice:
        done = await alice.call("messages_append", messages=[message(meta=deep), message()])
        assert done["inserted"] == 1
        assert "nested too deeply" in done["failed"][0]["reason"]


async def test_no_tool_writes_a_credential_that_it_is_given_anywhere(tmp_path: Path) -> None:
    """Every tool, also one that is not written yet, with a credential in every text that it takes."""
    async with home(tmp_path) as house, house.client(toolsets=[*TOOLSETS]) as alice:
        await alice.remember("Alice has a cat.", source_message="I have a cat.")
        published = await listing(alice.client)
        for tool in published.tools:
            for given in with_secret(tool.input_schema):
                await Request("tool", tool.name, given).answer(alice.client)
        await drained(house, alice)
        assert not on_disk(tmp_path, TOKEN)


async def drained(house: Home, person: Person) -> None:
    for state in ("pending", "processing"):
        for job in house.household.queue.jobs(state):  # type: ignore[arg-type]
            await person.settled(job.job_id)


def with_secret(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return arguments that hold the credential: one text alone beside what is required, and all of them at once."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = {name: filled(name, properties[name]) for name in schema.get("required", ())}
    every = {name: filled(name, inner) for name, inner in properties.items()}
    return [required | {name: filled(name, inner)} for name, inner in properties.items()] + [every]


def filled(name: str, schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    if schema.get("enum"):
        return next(choice for choice in schema["enum"] if choice)
    if kind == "array":
        return [filled(name.removesuffix("s"), schema.get("items", {"type": "string"}))]
    if kind == "object":
        return {key: filled(key, inner) for key, inner in schema.get("properties", {}).items()} or {"text": TOKEN}
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return False
    is_name = name in ("id", "role", "ts") or re.search(r"_ids?$|since|until|time|cursor|date", name)
    return WHEN if name in ("ts", "since", "until") else "c" if is_name else f"token {TOKEN}"


@pytest.mark.parametrize(
    ("file", "variable", "expected"),
    [
        (None, None, "mask"),
        ("refuse", None, "refuse"),
        ("refuse", "off", "off"),
        (None, "refuse", "refuse"),
    ],
)
def test_the_command_that_writes_by_itself_reads_the_same_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str | None, variable: str | None, expected: str
) -> None:
    if file is not None:
        (tmp_path / "shiguan.toml").write_text(f'[guard]\ncredentials = "{file}"\n')
    environment = {"SHIGUAN_GUARD__CREDENTIALS": variable} if variable else {}
    assert credentials_mode(tmp_path, environment) == expected
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert load_settings({"data_dir": tmp_path}, {}).options.guard.credentials == expected


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / "shiguan.toml").write_text('[guard]\ncredentials = "hide"\n')
    for read in (lambda: credentials_mode(tmp_path, {}), lambda: load_settings({"data_dir": tmp_path}, {})):
        with pytest.raises(InvalidInputError, match=r"guard\.credentials is wrong"):
            read()


def test_log_masks_before_it_writes_the_queue_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from server.cli import main

    flags = ["log", "--data-dir", str(tmp_path), "--user", "alice", "--timezone", "UTC"]
    assert main([*flags, f"my token is {TOKEN}", "--sender-name", CARD]) == 0
    assert "GitHub token" in capsys.readouterr().err
    assert not on_disk(tmp_path, TOKEN)
    assert not on_disk(tmp_path, CARD)
    (tmp_path / "shiguan.toml").write_text('[guard]\ncredentials = "refuse"\n')
    assert main([*flags, f"my token is {TOKEN}"]) == 1
    assert "take it out" in capsys.readouterr().err
    queue = Queue(tmp_path / "queues", clock=SystemClock())
    assert len(queue.jobs("pending")) == 1
    queue.close()
