"""The store of every released version opens, keeps all it holds, and answers as it did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kit.golden_store import GOLDEN, SAID, STORES, unpacked
from tests.kit.home import home

pytestmark = pytest.mark.anyio
VERSIONS = sorted(path.name.removesuffix(".tar.gz") for path in STORES.glob("*.tar.gz"))


def test_there_is_a_store_of_the_first_version() -> None:
    assert "0.1.0" in VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_store_of_an_earlier_version_answers_as_it_did(tmp_path: Path, version: str) -> None:
    """P88: golden queries still hit, by words and by meaning, before and after the folder is opened once more."""
    folder = unpacked(version, tmp_path)
    for _ in range(2):
        async with home(folder) as house:
            async with house.client("alice", toolsets=("host", "evidence", "admin")) as alice:
                await alice.embedded()
                for query, text in GOLDEN.items():
                    found: dict[str, Any] = await alice.call("search_events", query=query)
                    assert found["events"][0]["text"] == text
                    assert found["events"][0]["message_ids"]
                    assert found["degraded"] == []
                listed = (await alice.call("messages_list"))["items"]
                assert [one["content"] for one in listed if one["message_id"].startswith("m")] == [*SAID][::-1]
                near = (await alice.call("semantic_search", query_text="bees in Lund"))["items"]
                assert near[0]["content"] == SAID[1]
                words = (await alice.call("lexical_search", query_text="不吃辣"))["items"]
                assert [one["message_id"] for one in words] == ["m1"]
                profile = (await alice.call("get_profile"))["text"]
                assert all(text.removeprefix("Alice ").rstrip("。.") in profile for text in GOLDEN.values())
                assert (await alice.call("profile_history"))["revisions"]
                assert {one["text"] for one in (await alice.call("memory_status"))["memos"]} == {
                    "Allergy noted.",
                    "记下了行程。",
                }
            async with house.client("alice", group="choir") as alice:
                assert await alice.texts("choir") == ["Alice conducts the choir."]
            assert [one for one in house.household.doctor.run(fix=False).left if one.severity == "error"] == []
