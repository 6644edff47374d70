"""A backup and what is restored from it, over the real stores and without a process; more in the tests of processes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from historian.check_permissions import PermissionsCheck
from historian.errors import InvalidInputError
from historian.restore import restore
from tests.kit.home import home
from tests.kit.speaking import good, speaking_home

pytestmark = pytest.mark.anyio


async def test_what_is_known_of_a_group_and_what_is_pinned_is_counted_and_found_again(
    tmp_path: Path,
) -> None:
    said = {"message_id": "m1", "conversation_id": "c", "role": "user", "content": "我们每周五聚会"}
    async with (
        speaking_home(tmp_path / "one", good()) as (house, _, _),
        house.client(group="team", toolsets=("host", "group", "pinned")) as alice,
    ):
        await alice.call("messages_append", messages=[said | {"ts": datetime.now(UTC).isoformat()}])
        await alice.call("evolve_memories")
        await alice.remember("我们每周五聚会。")
        await alice.call("memory_add", text="带上雨伞。")
        await alice.embedded()
        made = house.household.back_up(tmp_path / "kept.tar.gz")
    assert (made.counts["group_statements"], made.counts["pinned_notes"]) == (1, 1)

    assert restore(tmp_path / "kept.tar.gz", tmp_path / "two").counts == made.counts
    assert PermissionsCheck(tmp_path / "two", (tmp_path / "two" / "profiles",)).find(fix=False) == []
    with closing(sqlite3.connect(tmp_path / "two" / "memory.sqlite3")) as connection:
        assert connection.execute("SELECT embedded_by FROM group_memories").fetchall() == [(None,)]
    async with home(tmp_path / "two") as house, house.client(group="team", toolsets=("host", "group")) as alice:
        await alice.embedded()
        found = await alice.call("search_group_memories", query="我们每周五聚会")
        assert [one["statement"] for one in found["memories"]] == ["我们每周五聚会"]
        assert found["degraded"] == []


@pytest.mark.skipif(not Path("/proc").is_mount(), reason="needs a folder that is a mount point everywhere")
def test_a_mount_point_is_refused_as_the_folder_to_restore_into_with_what_to_do(tmp_path: Path) -> None:
    """As a volume of a container is one: it cannot be renamed."""
    with pytest.raises(InvalidInputError, match="restore into a folder inside it with --data-dir"):
        restore(tmp_path / "kept.tar.gz", Path("/proc"))
