"""An export into a folder that holds an earlier one takes its place, and touches nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from historian.errors import InvalidInputError
from server.export_folder import MANIFEST, ExportFolder
from server.exports import MarkdownExport


def about(owner: str = "user:mira") -> dict[str, Any]:
    return {"kind": "about", "owner": owner, "made_at": "2026-03-01T00:00:00+00:00"}


def message(conversation: str, content: str) -> dict[str, Any]:
    named = {"kind": "message", "conversation_id": conversation, "message_id": "m", "role": "user"}
    return {**named, "content": content, "ts": "2026-03-01T10:00:00Z"}


TEA, CATS = message("tea", "Mira 喜欢乌龙茶。"), message("Cats/猫", "A secret of the cats.")


def written(folder: Path, *lines: dict[str, Any]) -> None:
    with ExportFolder(folder) as gathered:
        for line in lines or (about(), TEA):
            MarkdownExport(gathered).write([line])


def held(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def test_what_is_not_written_again_is_removed_and_what_no_export_wrote_stays(tmp_path: Path) -> None:
    (tmp_path / "conversations").mkdir()
    (tmp_path / "conversations" / "mine.md").write_text("my own")
    (tmp_path / "notes.txt").write_text("my own")
    history = {"kind": "profile", "owner": "user:mira", "text": "p", "history": [{"revision": "R1", "text": "secret"}]}
    written(tmp_path, about(), TEA, CATS, history)
    assert "secret of the cats" in str(held(tmp_path))
    written(tmp_path, about(), TEA)
    found = held(tmp_path)
    assert found.keys() == {MANIFEST, "README.md", "conversations/mine.md", "conversations/tea.md", "notes.txt"}
    assert "secret" not in str(found)
    assert "cats" not in str(found).lower()
    assert "乌龙茶" in found["conversations/tea.md"]
    assert not (tmp_path / "profile-history").exists()


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ((about("user:bob"), TEA), "an export of another person or group"),
        ((about("group:mira"), TEA), "an export of another person or group"),
        ((about(), CATS, message("foreign", "x")), "a conversations/foreign.md that no export is known"),
    ],
)
def test_an_export_that_may_not_go_there_changes_nothing(tmp_path: Path, lines: Any, sentence: str) -> None:
    written(tmp_path)
    (tmp_path / "conversations" / "foreign.md").write_text("my own")
    before = held(tmp_path)
    with pytest.raises(InvalidInputError, match=sentence):
        written(tmp_path, *lines)
    assert held(tmp_path) == before


def test_a_file_that_a_person_changed_is_left_to_them(tmp_path: Path) -> None:
    written(tmp_path)
    tea = tmp_path / "conversations" / "tea.md"
    tea.write_text(tea.read_text("utf-8") + "my remark", "utf-8")
    with pytest.raises(InvalidInputError, match=r"conversations/tea\.md was changed since"):
        written(tmp_path, about())
    tea.rename(tmp_path / "kept.md")
    written(tmp_path, about())
    assert "my remark" in held(tmp_path)["kept.md"]


def test_an_export_that_breaks_off_leaves_the_earlier_one_whole(tmp_path: Path) -> None:
    written(tmp_path)
    before = held(tmp_path)
    with pytest.raises(OSError, match="full"), ExportFolder(tmp_path) as gathered:
        MarkdownExport(gathered).write([about(), CATS])
        raise OSError(28, "full")
    assert held(tmp_path) == before
    written(tmp_path, about(), CATS)
    assert "conversations/tea.md" not in held(tmp_path)


def test_a_crash_between_the_files_is_mended_by_the_next_export(tmp_path: Path) -> None:
    """Half of the new files are in place, and the manifest knows both the former and the new ones."""
    written(tmp_path / "new", about(), message("tea", "new"), CATS)
    written(tmp_path)
    known = [json.loads((folder / MANIFEST).read_text("utf-8"))["files"] for folder in (tmp_path, tmp_path / "new")]
    both = {name: known[0].get(name, []) + known[1].get(name, []) for name in {**known[0], **known[1]}}
    (tmp_path / MANIFEST).write_text(json.dumps({"owner": "user:mira", "files": both}), "utf-8")
    (tmp_path / "new" / "conversations" / "tea.md").replace(tmp_path / "conversations" / "tea.md")
    (tmp_path / ".shiguan-export.part").mkdir()
    (tmp_path / ".shiguan-export.part" / "events.md").write_text("left behind")
    written(tmp_path, about())
    found = {name for name in held(tmp_path) if not name.startswith("new/")}
    assert found == {MANIFEST, "README.md"}


@pytest.mark.parametrize(
    "name", ["../outside.md", "/outside.md", "conversations/../../outside.md", "notes.txt", "a\\b.md"]
)
def test_a_manifest_that_names_anything_else_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.md").write_text("x")
    folder = tmp_path / "out"
    written(folder)
    (folder / MANIFEST).write_text(json.dumps({"owner": "user:mira", "files": {name: ["x"]}}), "utf-8")
    with pytest.raises(InvalidInputError, match="is damaged"):
        written(folder)
    assert (tmp_path / "outside.md").exists()
