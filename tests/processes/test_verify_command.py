"""`shiguan verify` on real processes: the view of any agent, checked by the owner of the folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.kit.clients import House

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

WHO: Mapping[str, str] = {"SHIGUAN_USER_ID": "alice", "SHIGUAN_TIMEZONE": "Asia/Shanghai"}


def test_a_view_is_verified_from_a_file_and_the_exit_code_says_whether_all_of_it_is_proven(tmp_path: Path) -> None:
    with House(tmp_path / "data", env=WHO) as house:
        house.command("log", "我对花生过敏", "--message-id", "m1", "--ts", "2026-05-03T12:00:00+08:00")
        right, wrong = tmp_path / "right.json", tmp_path / "wrong.json"
        point = {"text": "用户对花生过敏", "evidence": ["m1"]}
        quote = {"message_id": "m1", "content": "我对花生过敏", "role": "user"}
        right.write_text(json.dumps({"memory_view": {"constraints": [point]}, "evidence": [quote]}), "utf-8")
        altered = {**quote, "content": "我对花粉过敏"}
        wrong.write_text(json.dumps({"memory_view": {"constraints": [point]}, "evidence": [altered]}), "utf-8")

        answer = json.loads(house.command("verify", str(right), "--json").stdout)
        assert answer["memory_view"]["constraints"] == [point]
        assert answer["evidence"][0]["ts"] == "2026-05-03T12:00:00+08:00"
        shown = house.command("verify", str(wrong), code=1).stdout.decode()
        assert "No point is proven." in shown
        assert "Removed: message 「m1」. The quotation differs from the record." in shown
        assert b"cannot be read" in house.command("verify", str(tmp_path / "nothing.json"), code=1).stderr
        wrong.write_text("{", "utf-8")
        assert b"The view is not JSON" in house.command("verify", str(wrong), code=1).stderr
