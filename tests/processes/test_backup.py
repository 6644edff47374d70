"""`shiguan backup` while others write, and `shiguan restore` elsewhere: the same memory answers."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import sys
import tarfile
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import pytest

from historian.errors import FolderInUseError, InvalidInputError
from historian.hold import FolderHold
from historian.restore import restore
from tests.kit.clients import House, together
from tests.kit.patient import household
from tests.kit.stdio import environment, run

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]
SAID = ["小明不吃辣。", "Bob moved to Berlin in May 2026.", "Alice 的猫叫 Mochi。"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a backup of a small memory."""
    root = tmp_path_factory.mktemp("kept")
    with House(root / "data") as house:
        client = house.ready("--user", "alice")
        client.settled(client.call("end", observations=SAID)["job_id"])
        house.command("backup", str(root / "kept.tar.gz"))
    return root / "kept.tar.gz"


@pytest.fixture
def other(tmp_path: Path) -> Generator[House]:
    with House(tmp_path / "other") as made:
        yield made


def test_a_backup_made_while_others_write_restores_to_the_same_answers(tmp_path: Path, other: House) -> None:
    """P1, P15: consistent, though neither the owner nor its clients pause."""
    with House(tmp_path / "data") as house:
        client, busy = house.ready("--user", "alice"), house.ready("--user", "bob")
        client.settled(client.call("end", observations=SAID)["job_id"])
        stop = threading.Event()

        def write() -> None:
            number = 0
            while not stop.is_set() and number < 20:
                number += 1
                busy.call("end", observations=[f"Bob has met person number {number}."])

        with together(write):
            try:
                for name in ("first", "second"):
                    house.command("backup", str(tmp_path / f"{name}.tar.gz"))
            finally:
                stop.set()
        answers = {query: client.texts(query) for query in ("小明", "Berlin", "Mochi")}
        profile = client.call("get_profile")
    file = tmp_path / "second.tar.gz"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob(".~*")] == []
    other.command("restore", str(file))
    again = other.ready("--user", "alice")
    assert {query: again.texts(query) for query in answers} == answers
    assert again.call("get_profile") == profile
    met = other.ready("--user", "bob")
    other.embedded(met)
    other.embedded(again)
    report = json.loads(other.command("doctor", "--json").stdout)
    assert [one for one in report["findings"] if one["severity"] != "ok"] == []


def test_a_backup_holds_the_truth_and_no_secret_of_the_machine(kept: Path) -> None:
    with tarfile.open(kept) as tar:
        names = tar.getnames()
    assert names[0] == "manifest.json"
    assert {"memory.sqlite3", "profiles/users/alice.md"} <= {*names}
    assert not any(word in name for name in names for word in ("chroma", "token", "sock", "lock", "log"))


def test_a_folder_that_holds_a_memory_is_refused_and_untouched(kept: Path, other: House) -> None:
    other.command("restore", str(kept))
    before = (other.folder / "memory.sqlite3").read_bytes()
    assert b"memory in this data folder already" in other.command("restore", str(kept), code=1).stderr
    assert (other.folder / "memory.sqlite3").read_bytes() == before


def test_settings_that_stand_in_the_folder_outlast_the_restoring(kept: Path, other: House) -> None:
    other.folder.mkdir(mode=0o700)
    (other.folder / "shiguan.toml").write_text('timezone = "Europe/Berlin"\n')
    other.command("restore", str(kept))
    assert (other.folder / "shiguan.toml").read_text() == 'timezone = "Europe/Berlin"\n'
    assert sorted(path.name for path in other.folder.parent.iterdir() if path.name.startswith(".~")) == []
    assert stat.S_IMODE(other.folder.stat().st_mode) == 0o700


def test_what_else_stands_in_the_folder_is_kept_by_the_restoring(kept: Path, other: House) -> None:
    (other.folder / "photos").mkdir(mode=0o700, parents=True)
    (other.folder / "photos" / "cat.jpg").write_bytes(b"miaow")
    (other.folder / "tokens.json").write_text("{}")
    (other.folder / "owner.log").write_text("left by a process")
    shutil.copy(kept, other.folder / "kept.tar.gz")
    other.command("restore", str(other.folder / "kept.tar.gz"))
    there = {path.name for path in other.folder.iterdir()}
    assert {"photos", "tokens.json", "kept.tar.gz", "memory.sqlite3", "profiles"} <= there
    assert (other.folder / "photos" / "cat.jpg").read_bytes() == b"miaow"
    assert "owner.log" not in there
    assert [path.name for path in other.folder.parent.iterdir() if path.name.startswith(".~")] == []


def test_a_backup_goes_where_a_link_leads_and_never_in_the_place_of_a_device(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near.tar.gz").symlink_to(tmp_path / "far" / "kept.tar.gz")
    os.mkfifo(tmp_path / "pipe")
    with household(tmp_path / "data", start=False) as opened:
        opened.back_up(tmp_path / "near.tar.gz")
        with pytest.raises(InvalidInputError, match="name of a file"):
            opened.back_up(tmp_path / "pipe")
    assert (tmp_path / "near.tar.gz").is_symlink()
    assert tarfile.is_tarfile(tmp_path / "far" / "kept.tar.gz")
    assert (tmp_path / "pipe").is_fifo()


def test_a_held_folder_is_refused_and_left_as_it_was(kept: Path, tmp_path: Path) -> None:
    hold = FolderHold(tmp_path / "held")
    hold.take("test")
    with pytest.raises(FolderInUseError):
        restore(kept, tmp_path / "held")
    hold.release()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held"]
    restore(kept, tmp_path / "held")
    assert (tmp_path / "held" / "memory.sqlite3").exists()


def test_a_job_under_way_waits_again_after_restoring_and_what_was_no_job_is_kept(tmp_path: Path) -> None:
    """P13."""
    with household(tmp_path / "data", start=False) as opened:
        under_way = opened.queue.enqueue("k", "one", {})
        assert opened.queue.claim() is not None
        waiting = opened.queue.enqueue("k", "two", {})
        (tmp_path / "data" / "queues" / "pending" / "bad.json").write_text("half a j")
        opened.queue.jobs("pending")
        opened.back_up(tmp_path / "b.tar.gz")
    restore(tmp_path / "b.tar.gz", tmp_path / "new")
    with household(tmp_path / "new", (), start=False) as opened:
        assert {job.job_id for job in opened.queue.jobs("pending")} == {under_way.job_id, waiting.job_id}
        assert opened.queue.jobs("processing") == []
        assert (tmp_path / "new" / "queues" / "failed" / "bad.poison").read_text() == "half a j"
        assert opened.indexer.waiting() == 9  # of each of events, profile lines and messages three


def rewritten(source: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Write a tar with other contents under the manifest of a true one."""
    with tarfile.open(source) as tar:
        contents = {one.name: (tar.extractfile(one) or io.BytesIO()).read() for one in tar.getmembers()}
    change(contents)
    with tarfile.open(target, "w:gz") as tar:
        for name, data in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return target


def _manifest(contents: dict[str, bytes], **changes: object) -> None:
    contents["manifest.json"] = json.dumps(json.loads(contents["manifest.json"]) | changes).encode()


def _escape(contents: dict[str, bytes]) -> None:
    files = json.loads(contents["manifest.json"])["files"]
    contents["../escaped.md"] = contents["profiles/users/alice.md"]
    _manifest(contents, files=files | {"../escaped.md": files["profiles/users/alice.md"]})


def _flip(contents: dict[str, bytes]) -> None:
    contents["profiles/users/alice.md"] = contents["profiles/users/alice.md"].replace(b"Berlin", b"Munich")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_flip, b"damaged"),
        (_escape, b"damaged"),
        (lambda contents: contents.pop("memory.sqlite3"), b"damaged"),
        (lambda contents: contents.update({"owner.token": b"x"}), b"damaged"),
        (lambda contents: _manifest(contents, version=99), b"newer version"),
        (lambda contents: _manifest(contents, schema=99), b"newer version"),
        (lambda contents: _manifest(contents, format="other"), b"not a backup"),
        (lambda contents: contents.pop("manifest.json"), b"not a backup"),
    ],
    ids=["changed", "escaping", "incomplete", "too much", "newer", "newer tables", "other format", "no manifest"],
)
def test_what_is_no_sound_backup_is_refused_in_one_sentence_and_leaves_nothing(
    kept: Path, other: House, tmp_path: Path, change: Callable[[dict[str, bytes]], object], sentence: bytes
) -> None:
    bad = rewritten(kept, tmp_path / "bad.tar.gz", change)  # type: ignore[arg-type]
    said = other.command("restore", str(bad), code=1).stderr
    assert sentence in said
    assert said.count(b"\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.tar.gz"]


@pytest.mark.parametrize(("cut", "sentence"), [(0.5, b"damaged"), (0.001, b"not a backup")])
def test_half_a_backup_is_refused(kept: Path, other: House, tmp_path: Path, cut: float, sentence: bytes) -> None:
    half = tmp_path / "half.tar.gz"
    half.write_bytes(kept.read_bytes()[: int(kept.stat().st_size * cut)])
    assert sentence in other.command("restore", str(half), code=1).stderr
    assert not other.folder.exists()
    half.write_text("some text")
    assert b"not a backup" in other.command("restore", str(half), code=1).stderr


def test_a_backup_into_nowhere_is_refused_and_one_that_stands_there_is_replaced_only_by_force(
    kept: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    with House(tmp_path / "data") as house:
        assert b"folder that exists" in house.command("backup", str(tmp_path / "no" / "b.tar.gz"), code=1).stderr
        target = tmp_path / "b.tar.gz"
        shutil.copy(kept, target)
        assert b"--force to replace it" in house.command("backup", str(target), code=1).stderr
        assert target.read_bytes() == kept.read_bytes()
        house.command("backup", "--force", str(target))
        with tarfile.open(target) as tar:
            assert "profiles/users/alice.md" not in tar.getnames()


LOOKING = (
    ("doctor",),
    ("status",),
    ("status", "--json"),
    ("search", "pears"),
    ("context", "pears"),
    ("queue", "list"),
    ("audit",),
    ("profile", "list"),
    ("group", "list", "--group", "choir"),
    ("evolve", "--group", "choir"),
    ("export", "out"),
    ("forget", "--search", "pears", "--dry-run"),
    ("reindex",),
    ("backup", "out.tar.gz"),
    ("ui",),
)


@pytest.mark.parametrize("words", LOOKING, ids=lambda words: " ".join(words[:2]))
def test_what_is_no_folder_has_no_memory_to_look_at_and_is_not_made_one(tmp_path: Path, words: Sequence[str]) -> None:
    """A mistyped name is told, rather than answered with the nothing that a new folder holds."""
    folder = tmp_path / "nowhere"
    done = run(*words, "--data-dir", str(folder), env=environment("fast"), code=1)
    assert b"no memory in this folder; name the folder" in done.stderr
    assert not folder.exists()


def test_a_hook_that_looks_in_a_folder_that_is_not_there_makes_none_and_holds_up_nobody(tmp_path: Path) -> None:
    house = House(tmp_path / "nowhere")
    assert house.command("context", "--hook", "pears").stdout == b""
    assert not house.folder.exists()


def test_before_the_first_use_the_status_of_the_usual_folder_is_that_nothing_is_there(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    said = run("status", env=environment("fast", **home)).stdout
    assert said.startswith(b"Nothing is remembered yet")
    assert list(tmp_path.iterdir()) == []
