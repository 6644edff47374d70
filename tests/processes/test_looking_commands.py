"""`shiguan rewrite`, `shiguan audit` and `shiguan log --consider` on real processes, with and without a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.kit.chat import ScriptedModel
from tests.kit.clients import House, until
from tests.kit.endpoint import FakeEndpoint
from tests.kit.speaking import good

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

WHO: Mapping[str, str] = {"SHIGUAN_USER_ID": "alice", "SHIGUAN_USER_NAME": "小明", "SHIGUAN_TIMEZONE": "Asia/Shanghai"}


def test_a_logged_turn_is_considered_audited_and_phrased_again_by_a_model(tmp_path: Path) -> None:
    """P69: 我对花生过敏 is stored, also from a hook."""
    folder = tmp_path / "data"
    with House(folder, env=WHO) as house:
        for content in ("我对花生过敏", "你好"):
            said = house.command("log", "--consider", content).stdout.decode()
            assert "decided in the background" in said
        house.command("status")
        until(lambda: house.count("SELECT count(*) FROM receipts WHERE state = 'done'") == 2)
        assert house.count("SELECT count(*) FROM events WHERE text = '小明对花生过敏'") == 1
        assert house.count("SELECT count(*) FROM events") == 1
        found = json.loads(house.command("audit", "--json").stdout)
        assert (found["statements"], found["counts"]["flagged"]) == (1, 0)
        assert "小明对花生过敏" in house.command("audit").stdout.decode()
        assert b"chat.model" in house.command("rewrite", code=1).stderr
    model = ScriptedModel(good({"我对花生过敏": "小明对花生过敏。"}))
    with FakeEndpoint(chat=model) as endpoint:
        chat = {"SHIGUAN_CHAT__BASE_URL": endpoint.base_url, "SHIGUAN_CHAT__MODEL": "small"}
        chat |= {"SHIGUAN_HISTORIAN__UPGRADES_PER_HOUR": "0"}
        with House(folder, env={**WHO, **chat}) as house:
            done = house.command("rewrite")
            assert done.stdout == b"1 of 1 events are phrased anew.\n", done.stderr
            assert house.count("SELECT count(*) FROM events WHERE text = '小明对花生过敏。' AND origin = 'model'") == 1
            assert house.command("rewrite").stdout == b"0 of 0 events are phrased anew.\n"

            house.command("log", "--group", "team", "我们周五聚会")
            until(lambda: house.count("SELECT count(*) FROM messages WHERE content = '我们周五聚会'") == 1)
            first = house.command("evolve", "--group", "team").stdout.decode().splitlines()
            assert first[0] == "1 messages read: 0 statements kept, 0 updated, 1 created, 0 deleted; 1 are active now."
            assert any(line.startswith("+ ") and "周五聚会" in line for line in first), first
            for since, read in (("2010-01-01", 1), ("2010-01-01T09:00+08:00", 1), (None, 0)):
                asked = ("evolve", "--group", "team", *(["--since", since] if since else []), "--json")
                assert json.loads(house.command(*asked).stdout)["messages"] == read, since
            assert b"--since: The time" in house.command("evolve", "--group", "team", "--since", "soon", code=1).stderr
