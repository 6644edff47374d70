"""Which lines of the log go with what is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from historian.wiping import wipe_logs

TIME = "2026-11-29 10:00:00,123"
OTHERS = (
    f"{TIME} WARNING historian.upkeep: the job of bob failed\n",
    f"{TIME} INFO historian.http: somebody else spoke of note-12345-b\n",
    "Traceback (most recent call last):\n",
)


@pytest.mark.parametrize("name", ["note-12345", "消息-一二三四五", "a.b(c)*"])
def test_a_line_that_tells_of_what_is_forgotten_goes(tmp_path: Path, name: str) -> None:
    """P102."""
    log = tmp_path / "owner.log"
    log.write_text(
        f"{OTHERS[0]}{TIME} INFO historian.x: cannot read {name}, again\n {name}\n{''.join(OTHERS[1:])}", "utf-8"
    )
    assert wipe_logs(tmp_path, [name]) == 2
    assert log.read_text("utf-8") == "".join(OTHERS)


@pytest.mark.parametrize("name", ["WARNING", "historian", "historian.upkeep", "2026-11-29", "23456", "aceback", "job"])
def test_a_name_that_somebody_chose_does_not_choose_the_lines_of_others(tmp_path: Path, name: str) -> None:
    log = tmp_path / "owner.log"
    log.write_text("".join(OTHERS), "utf-8")
    assert wipe_logs(tmp_path, [name]) == 0
    assert log.read_text("utf-8") == "".join(OTHERS)
