"""Flags of commands that narrow or open something, as a person gives them: each does what its help says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.kit.clients import House
from tests.kit.stdio import CEILING, SHIGUAN, environment

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

WHO = {"SHIGUAN_USER_ID": "alice", "SHIGUAN_TIMEZONE": "Asia/Shanghai", "SHIGUAN_TOOLSETS": "host"}
SAID = (
    ("m0", "tents", "qq:1", "红色帐篷在哪买的"),
    ("m1", "cats", "qq:2", "灰猫怕什么"),
    ("m2", "cats", "qq:1", "灰猫在哪"),
)


def test_each_flag_that_narrows_or_opens_does_so(tmp_path: Path) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o700)
    more = {"SHIGUAN_QUERY__AUTO_TOP_K": "1", "BROWSER": f"{browser} %s"}
    with House(tmp_path / "data", env={**WHO, **more}) as house:
        client, team = house.ready(), house.ready("--group", "team")
        messages = [
            {
                "message_id": name,
                "conversation_id": conversation,
                "role": "user",
                "sender_id": sender,
                "content": content,
                "ts": f"2026-02-2{day}T09:00",
            }
            for day, (name, conversation, sender, content) in enumerate(SAID)
        ]
        lately = [
            {
                "message_id": content,
                "conversation_id": content,
                "role": "user",
                "content": content,
                "ts": time.time() - 60,
            }
            for content in ("柏林", "怕水")
        ]
        client.call("messages_append", messages=[*messages, *lately])
        for one, facts in (
            (client, ["红色帐篷在柏林买的。", "灰猫怕水。"]),
            (team, ["红队训练很累。", "蓝队训练很早。"]),
        ):
            one.settled(one.call("end", observations=facts)["job_id"])

        def asked(*arguments: str) -> dict[str, Any]:
            return json.loads(house.command(*arguments, "--json").stdout)

        for flags, expected in (
            (("--conversation", "cats"), {"m1", "m2"}),
            (("--sender-id", "qq:1"), {"m0", "m2"}),
            (("--until", "2026-02-20"), {"m0"}),
        ):
            found = asked("search", "灰猫 OR 帐篷", "--mode", "lexical", *flags)
            assert {one["message_id"] for one in found["items"]} == expected, flags

        for flags, expected_fact in (
            (("--conversation", "柏林"), "红色帐篷在柏林买的。"),
            (("训练呢", "--group", "team", "--group-name", "红队"), "红队训练很累。"),
        ):
            [events] = [part for part in asked("context", *flags)["sections"] if part["name"] == "events"]
            assert [item["text"] for item in events["items"]] == [expected_fact], flags

        foreseen = house.command("forget", "--conversation", "cats", "--until", "2026-02-21", "--dry-run").stdout
        assert foreseen.startswith(b"This would be forgotten: 1 message.\n"), foreseen
        unknown = house.command("forget", "--event", "nope", "--yes", code=1).stderr.decode()
        assert "`shiguan export`" in unknown, "a person has no tool search_events"
        exported = house.command("export").stdout.splitlines()
        [event, *_] = [json.loads(line)["event_id"] for line in exported if json.loads(line)["kind"] == "event"]
        assert b"1 event" in house.command("forget", "--event", event, "--dry-run").stdout
        link = house.command("ui", "--open").stdout
        assert opened.read_bytes() == link


def test_a_variable_that_is_no_setting_is_told_of_and_stops_nobody(tmp_path: Path) -> None:
    """As a typo in the file is; the status, a client and a server of its own each say it once."""
    told = "There is no setting SHIGUAN_DATADIR; the variable has no effect. Did you mean SHIGUAN_DATA_DIR?"
    with House(tmp_path / "data") as house:
        house.ready()
        client = house.ready(env={"SHIGUAN_DATADIR": "x"})
        assert client.said(told)
        client.leave()
        assert "differs" not in client.stderr, "it is no setting of the owner's either"
        assert client.stderr.count(told) == 1
        house.env["SHIGUAN_DATADIR"] = "x"
        assert house.command("status").stderr.decode().count(told) == 1


@pytest.mark.parametrize("how", [[], ["--standalone"]])
def test_a_person_at_a_terminal_is_told_that_a_host_is_waited_for(tmp_path: Path, how: list[str]) -> None:
    """On stderr, and only there; a host at the other end of a pipe is told nothing."""
    line = b"shiguan: waiting for an MCP host on standard input; see `shiguan install --help`. Ctrl-C ends it.\n"
    with House(tmp_path / "data") as house:
        person, terminal = os.openpty()
        command = [SHIGUAN, "serve", *how, "--data-dir", str(house.folder)]
        with subprocess.Popen(command, stdin=terminal, stdout=-1, stderr=-1, env=environment("fast")) as process:
            os.close(terminal)
            assert process.stderr is not None
            assert process.stderr.readline() == line
            os.close(person)
            out, _ = process.communicate(timeout=CEILING)
            assert out == b""
        assert line not in house.command("serve", *how).stderr
