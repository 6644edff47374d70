"""The bot of docs/http.md, run as it stands there against a real server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from server.http.binder import MAY_NOT_ACT
from server.http.identity import ACT_AS, READ, WRITE
from tests.kit.http import Served
from tests.kit.stdio import CEILING, environment

pytestmark = pytest.mark.process

PAGE = Path(__file__).resolve().parents[2] / "docs" / "http.md"
ADDRESS = "https://memory.example.com/mcp"


def shown(served: Served, token: str) -> str:
    """Return what the example prints."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert code.count(ADDRESS) == 1
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code.replace(ADDRESS, served.url)],
        env=environment(SHIGUAN_TOKEN=token, PYTHONIOENCODING="utf-8"),
        capture_output=True,
        timeout=CEILING,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8")


def test_the_documented_bot_writes_and_reads_for_the_user_it_names(tmp_path: Path) -> None:
    server = Served(tmp_path / "data")
    bot, person = server.token(None, scopes=[READ, WRITE, ACT_AS]), server.token("qq:10001")
    with server:
        assert "job_id" in shown(server, bot)
        assert server.said('"user": "qq:10001", "method": "tools/call", "tool": "end"')
        listed = server.call(person, "messages_list").message["result"]["structuredContent"]
        assert "我对花生过敏" in json.dumps(listed, ensure_ascii=False)


def test_the_documented_bot_is_told_that_its_token_may_not_speak_for_others(tmp_path: Path) -> None:
    server = Served(tmp_path / "data")
    token = server.token("alice")
    with server:
        assert shown(server, token).startswith(MAY_NOT_ACT)
