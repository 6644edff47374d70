"""Archives that cannot be opened: what is said of them, and that they never stop the others."""

from __future__ import annotations

import io
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from historian.formats.registry import chosen
from server.imports.importer import Importer, Plan
from server.imports.reports import Report
from server.imports.sources import opened
from tests.kit.exports import FIXTURES, READING

DAMAGED = "It is an archive that is damaged or incomplete; get another copy of it."
NESTED = "It is an archive within an archive; unpack the outer one and import this one."
STREAMED = "It is an archive, which is not opened on stdin; name its file instead."


def rehearsed(*paths: Path | str, named: str = "auto") -> Report:
    report = Report()
    with opened([str(path) for path in paths]) as bundles:
        Importer(Plan(chosen(named), named, READING), report, None, lambda _done, _messages: None).run(bundles)
    return report


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return Path(shutil.make_archive(str(tmp_path / "聊天 slack"), "zip", FIXTURES / "slack"))


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, data in members.items():
            made.writestr(f"{name}.zip" if data.startswith(b"PK") else f"{name}.json", data)
    return path


@pytest.mark.parametrize("named", ["auto", "slack"])
def test_a_download_that_was_broken_off_is_called_so(packed: Path, named: str) -> None:
    whole = packed.read_bytes()
    assert rehearsed(packed).inserted == 4
    for length in (4, 100, len(whole) // 2, len(whole) - 30):
        packed.write_bytes(whole[:length])
        report = rehearsed(packed, named=named)
        assert report.named == [f"{packed.name}, file: {DAMAGED}"]
        assert report.is_in_vain


def test_a_broken_archive_in_a_folder_is_named_and_the_others_are_read(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    shutil.copytree(FIXTURES / "telegram", folder)
    shutil.copy(packed, folder / "whole.zip")
    (folder / "half.ZIP").write_bytes(packed.read_bytes()[:500])
    (folder / "page.zip").write_bytes(b"<html>no such file</html>")
    report = rehearsed(folder)
    assert report.formats.keys() == {"telegram", "slack"}
    assert f"half.ZIP, file: {DAMAGED}" in report.named
    assert report.unknown == ["page.zip"]


def test_an_archive_that_has_only_another_one_says_so(packed: Path, tmp_path: Path) -> None:
    outer = archive(tmp_path / "outer.zip", inner=packed.read_bytes())
    report = rehearsed(outer)
    assert report.named == [f"inner.zip, file: {NESTED}"]
    assert report.is_in_vain


def test_archives_among_the_files_of_an_archive_are_passed_over_by_that_name(packed: Path, tmp_path: Path) -> None:
    telegram = (FIXTURES / "telegram" / "result.json").read_bytes()
    outer = archive(tmp_path / "outer.zip", result=telegram, attached=packed.read_bytes(), 附件=packed.read_bytes())
    report = rehearsed(outer)
    assert report.inserted == 2
    assert report.passed["archives within archives"] == 2
    assert not report.unknown


def test_an_archive_on_stdin_says_what_to_do(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with io.TextIOWrapper(packed.open("rb")) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert rehearsed("-").named == [f"-, file: {STREAMED}"]
