from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from historian.check_folder import DiskCheck
from historian.check_permissions import PermissionsCheck
from historian.doctor import Doctor, Finding, Report
from historian.embed_fake import HashingEmbedder
from historian.errors import PermanentModelError
from historian.finding import Check
from server.household import Household
from tests.kit.patient import ALICE, TEXTS, event, household, make_deadly, trial

MANY = [f"第 {number} 件事 of many" for number in range(120)]


def wrong(report: Report) -> list[tuple[str, str]]:
    return [(one.check, one.severity) for one in report.left if one.severity != "ok"]


def mended(opened: Household, *expected: tuple[str, str]) -> Report:
    """Examine, expect these findings, mend, and expect that all is well."""
    doctor = only(opened, *(name for name, _ in expected))
    before = doctor.run()
    assert wrong(before) == [*expected]
    after = doctor.run(fix=True)
    assert wrong(after) == []
    assert {(one.check, one.severity) for one in after.fixed} == {*expected}
    return after


def execute(opened: Household, *statements: str) -> None:
    with opened.database.write() as connection:
        for statement in statements:
            connection.execute(statement)


def only(opened: Household, *names: str) -> Doctor:
    """Return a doctor for some parts: looking at the vectors takes a process and two seconds."""
    return Doctor([check for check in opened.doctor.checks if check.name in names])


def test_a_sound_memory_is_well_in_every_part(tmp_path: Path) -> None:
    with household(tmp_path / "data") as opened:
        report = opened.doctor.run()
        assert report.is_healthy
        assert {(one.check, one.severity) for one in report.left} == {
            (name, "ok")
            for name in (
                "settings",
                "database",
                "words",
                "groups",
                "profiles",
                "queue",
                "vectors",
                "disk",
                "permissions",
                "leftovers",
            )
        }


def test_examining_changes_nothing_and_mending_a_sound_memory_neither(tmp_path: Path) -> None:
    with household(tmp_path / "data") as opened:
        before = sorted(opened.engine.vectors.ids("events"))
        opened.doctor.run()
        assert opened.doctor.run(fix=True).fixed == ()
        assert sorted(opened.engine.vectors.ids("events")) == before
        assert trial(tmp_path / "data").damaged() == []


def test_repeats_of_an_event_need_neither_vector_nor_words(tmp_path: Path) -> None:
    with household(tmp_path / "data") as opened:
        opened.historian.pipeline.events.add([event(9, TEXTS[0], same_as="e0")])
        assert wrong(opened.doctor.run()) == []


def test_lost_vectors_and_vectors_of_nothing_are_told_apart_and_mended(tmp_path: Path) -> None:
    """P1."""
    with household(tmp_path / "data") as opened:
        opened.engine.vectors.delete("events", ["1", "2"])
        execute(opened, "DELETE FROM events WHERE row = 3")
        execute(opened, "INSERT INTO events_fts (events_fts) VALUES ('delete-all')", "DELETE FROM events_lexical")
        mended(opened, ("words", "error"), ("vectors", "error"), ("vectors", "warning"))
        assert sorted(opened.engine.vectors.ids("events")) == ["1", "2"]


def test_texts_that_wait_are_a_warning_and_embedded_when_it_mends(tmp_path: Path) -> None:
    with household(tmp_path / "data", start=False) as opened:
        assert opened.doctor.run().is_healthy
        opened.historian.pipeline.events.add([event(9, "还没有向量的一件事。")])
        mended(opened, ("vectors", "warning"))
        assert opened.indexer.waiting() == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda chroma: (chroma / "chroma.sqlite3").write_bytes(b"no database at all" * 999),
        lambda chroma: os.truncate(chroma / "chroma.sqlite3", 50_000),
        make_deadly,
        lambda chroma: os.truncate(next(chroma.glob("*/data_level0.bin")), 1_000),
        lambda chroma: os.truncate(next(chroma.glob("*/index_metadata.pickle")), 99),
        lambda chroma: next(chroma.glob("*/data_level0.bin")).unlink(),
    ],
    ids=["garbage", "half a database", "deadly links", "few vectors", "half its ids", "no vectors"],
)
def test_damaged_vectors_are_set_aside_made_again_and_only_then_removed(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    """P1, P13: however Chroma's files are damaged, also where reading them ends the process that reads them."""
    folder = tmp_path / "data"
    with household(folder, MANY):
        pass
    damage(folder / "chroma")
    with household(folder, MANY, start=False) as opened:
        report = opened.doctor.run(fix=True)
        assert [one for one in report.fixed if one.check == "vectors" and one.severity == "error"], report
        assert wrong(report) == []
        assert opened.engine.vectors.count("events") == len(MANY)
        assert trial(folder).damaged() == []


def test_damaged_vectors_stay_until_all_are_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with household(folder):
        pass
    (folder / "chroma" / "chroma.sqlite3").write_bytes(b"no database at all" * 999)
    flaky = HashingEmbedder()
    with household(folder, start=False, embedder=flaky) as opened:
        opened.doctor.run()
        flaky.embed = _refuse  # type: ignore[method-assign]
        report = opened.doctor.run(fix=True)
        assert not report.is_healthy
        assert len(trial(folder).damaged()) == 1
        del flaky.embed
        assert wrong(opened.doctor.run(fix=True)) == []
        assert trial(folder).damaged() == []


def _refuse(texts: object) -> object:
    raise PermanentModelError("The key is wrong.")


def test_vectors_of_another_model_are_named_with_the_command_and_left_alone(tmp_path: Path) -> None:
    """P86, P87."""
    folder = tmp_path / "data"
    with household(folder):
        pass
    with household(folder, start=False, embedder=HashingEmbedder(name="other")) as opened:
        report = opened.doctor.run(fix=True)
        assert wrong(report) == [("vectors", "error")]
        assert "shiguan reindex" in next(one.message for one in report.left if one.severity == "error")
    with household(folder) as opened:
        assert opened.engine.vectors.count("events") == 3


def test_an_embedder_that_cannot_be_used_is_said_and_the_rest_is_examined(tmp_path: Path) -> None:
    failing = HashingEmbedder(failures=[PermanentModelError("The key is wrong.")] * 9)
    with household(tmp_path / "data", start=False, embedder=failing) as opened:
        report = opened.doctor.run()
        assert wrong(report) == [("vectors", "error")]
        assert "The key is wrong." in str(report)


@pytest.mark.parametrize("table", ["messages", "events", "profile_lines"])
@pytest.mark.parametrize("half", ["_lexical", "_fts"])
def test_texts_that_words_do_not_find_are_indexed_again(tmp_path: Path, table: str, half: str) -> None:
    with household(tmp_path / "data") as opened:
        name = table + half
        if half == "_lexical":
            execute(opened, f"DELETE FROM {name} WHERE row IN (SELECT row FROM {name} LIMIT 2)")
        else:
            execute(opened, f"INSERT INTO {name} ({name}) VALUES ('delete-all')")
        mended(opened, ("words", "error"))
        with opened.database.read() as connection:
            hits = connection.execute(f"SELECT rowid FROM {table}_fts WHERE {table}_fts MATCH 'berlin'").fetchall()
        assert len(hits) == 1


def test_word_entries_of_texts_that_are_gone_are_taken_out(tmp_path: Path) -> None:
    with household(tmp_path / "data") as opened:
        execute(opened, "PRAGMA foreign_keys = OFF", "DELETE FROM profile_lines WHERE row = 1")
        report = only(opened, "words").run()
        assert ("words", "warning") in wrong(report)
        assert wrong(only(opened, "words").run(fix=True)) == []


def test_a_profile_that_was_edited_behind_its_back_is_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with household(folder) as opened:
        path = folder / "profiles" / "users" / "alice.md"
        path.write_text(path.read_text("utf-8").replace("Berlin", "Hamburg"), "utf-8")
        mended(opened, ("profiles", "warning"))
        with opened.database.read() as connection:
            lines = [text for (text,) in connection.execute("SELECT text FROM profile_lines")]
        assert "Bob moved to Hamburg in May." in lines


def test_profile_rows_that_were_lost_are_made_again_though_the_file_is_unchanged(tmp_path: Path) -> None:
    with household(tmp_path / "data") as opened:
        execute(opened, "DELETE FROM profile_lines WHERE row = 2")
        assert ("profiles", "warning") in wrong(only(opened, "profiles").run())
        assert wrong(only(opened, "profiles").run(fix=True)) == []


def test_a_broken_profile_is_reported_and_kept_as_it_is(tmp_path: Path) -> None:
    """P13."""
    folder = tmp_path / "data"
    with household(folder) as opened:
        path = folder / "profiles" / "users" / "alice.md"
        path.write_text("---\nentity_id: [broken\n---\n- 还在\n", "utf-8")
        report = only(opened, "profiles").run(fix=True)
        assert ("profiles", "error") in wrong(report)
        assert ALICE.key in str(report)
        assert "还在" in path.read_text("utf-8")


def test_files_that_are_no_jobs_are_set_aside_and_reported(tmp_path: Path) -> None:
    """P13."""
    folder = tmp_path / "data"
    with household(folder) as opened:
        (folder / "queues" / "pending" / "abc.json").write_text('{"half a job')
        report = only(opened, "queue").run(fix=True)
        assert wrong(report) == [("queue", "warning")]
        assert report.is_healthy
        assert (folder / "queues" / "failed" / "abc.poison").read_text() == '{"half a job'


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_what_others_may_read_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with household(folder) as opened:
        folder.chmod(0o755)
        for name in ("owner.token", "shiguan.toml"):
            (folder / name).write_text("")
            (folder / name).chmod(0o644)
        mended(opened, ("permissions", "error"), ("permissions", "error"), ("permissions", "error"))
        modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()}
        assert modes == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "owner.token").chmod(0o644)
        assert [one.severity for one in PermissionsCheck(folder).find(fix=False)] == ["warning"]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_profiles_and_jobs_that_others_may_read_are_closed_and_counted_without_a_name(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with household(folder) as opened:
        mine, job = folder / "profiles" / "users" / "alice.md", folder / "queues" / "pending" / "x.json"
        assert mine.is_file()
        job.write_text("{}")
        for path in (mine, job, job.parent):
            path.chmod(0o755 if path.is_dir() else 0o644)
        report = mended(opened, ("permissions", "warning"), ("permissions", "warning"))
        assert sorted(one.message for one in report.fixed) == [
            "Other users may read 1 file or folder of profiles.",
            "Other users may read 2 files or folders of queues.",
        ]
        assert [stat.S_IMODE(path.stat().st_mode) for path in (mine, job, job.parent)] == [0o600, 0o600, 0o700]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [("HS256", ["server.token_file", "server.jwt_key_file"]), ("RS256", ["server.token_file"])],
)
def test_what_opens_the_memory_is_looked_at_wherever_it_lies(
    tmp_path: Path, algorithm: str, expected: list[str]
) -> None:
    """A key that only verifies may be read by all."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    server = f'[server]\njwt_algorithms = ["{algorithm}"]\n'
    for setting in ("token_file", "jwt_key_file"):
        path = tmp_path / setting
        path.write_text("secret")
        path.chmod(0o644)
        server += f"{setting} = '{path}'\n"
    (folder / "shiguan.toml").write_text(server)
    (folder / "shiguan.toml").chmod(0o600)
    with household(folder, [], start=False) as opened:
        left = only(opened, "permissions").run(fix=True).left
        assert [one.message for one in left] == [
            f"Other users may read the file of {name}; take that from them." for name in expected
        ]
        for setting in ("token_file", "jwt_key_file"):
            (tmp_path / setting).chmod(0o640)
        assert wrong(only(opened, "permissions").run()) == []


@pytest.mark.skipif(os.name == "nt", reason="sockets of POSIX")
def test_what_crashes_left_is_removed_and_what_lives_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with household(folder) as opened:
        old, new = folder / f".~{'0' * 16}.tmp", folder / f".~{'1' * 16}.tmp"
        with socket.socket(socket.AF_UNIX) as live, socket.socket(socket.AF_UNIX) as dead:
            live.bind(str(folder / "live.sock"))
            live.listen()
            dead.bind(str(folder / "dead.sock"))
            for path in (old, new):
                path.write_text("")
            for path in (old, folder / "live.sock", folder / "dead.sock"):
                os.utime(path, (1, 1))
            for path in folder.glob("*.*"):
                if path.is_file():
                    path.chmod(0o600)
            mended(opened, ("leftovers", "warning"), ("leftovers", "warning"))
        assert new.exists() and not old.exists()
        assert (folder / "live.sock").exists() and not (folder / "dead.sock").exists()


def test_little_room_is_a_warning(tmp_path: Path) -> None:
    assert DiskCheck(tmp_path, lambda _: 10 * 2**20).find(fix=False)[0].severity == "warning"
    assert DiskCheck(tmp_path, lambda _: 10 * 2**30).find(fix=False) == []


def test_a_damaged_index_of_the_database_is_made_again(tmp_path: Path) -> None:
    with household(tmp_path / "data") as opened:
        execute(
            opened,
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_schema SET sql = replace(sql, 'epoch_ms', 'end_seq') WHERE name = 'events_by_time'",
        )
    with household(tmp_path / "data") as opened:
        before = opened.doctor.run()
        assert ("database", "error") in wrong(before), before
        assert wrong(opened.doctor.run(fix=True)) == []


def test_a_check_that_fails_is_a_finding_and_does_not_hide_the_others(tmp_path: Path) -> None:
    class Failing:
        name = "failing"

        def find(self, *, fix: bool) -> list[Finding]:
            raise PermanentModelError("It cannot be looked at.")

        def mend(self) -> None:
            raise PermanentModelError("It cannot be done.")

    checks: list[Check] = [Failing(), DiskCheck(tmp_path)]
    report = Doctor(checks).run(fix=True)
    assert [one.check for one in report.left] == ["failing", "disk", "failing"]
    assert not report.is_healthy
