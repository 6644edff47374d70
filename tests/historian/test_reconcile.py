from __future__ import annotations

import shutil
from pathlib import Path

from historian.vectors import VectorRecord
from server.household import Household
from tests.kit.patient import AT, embed_all, event, fill, household, make_deadly, marked, trial

ALL = 9  # three events, three profile lines and three messages


def reopened(opened: Household) -> None:
    """Open the vectors again, as a new process does."""
    opened.engine.close()
    opened.engine.start()
    assert opened.engine.wait(60)


def orphan(opened: Household, name: str) -> None:
    vector = opened.engine.embedder.embed(["nobody's"])[0]
    opened.engine.vectors.upsert("events", [VectorRecord(name, vector, "user:alice", None, AT.timestamp())])


def test_a_vector_whose_row_was_not_marked_before_the_kill_is_made_again_and_there_is_one_of_it(tmp_path: Path) -> None:
    """P1: killed between Chroma's write and SQLite's mark."""
    with household(tmp_path) as opened:
        with opened.database.write() as connection:
            connection.execute("UPDATE events SET embedded_by = NULL WHERE row = 2")
        reopened(opened)
        assert opened.indexer.reconcile() == 0
        assert opened.indexer.waiting() == 1
        embed_all(opened)
        assert sorted(opened.engine.vectors.ids("events")) == ["1", "2", "3"]
        assert marked(opened) == ALL


def test_a_row_whose_vector_was_lost_in_a_crash_gets_it_again(tmp_path: Path) -> None:
    """P1: SQLite kept the mark, Chroma lost its log."""
    with household(tmp_path) as opened:
        opened.engine.vectors.delete("events", ["1", "3"])
        reopened(opened)
        assert opened.indexer.reconcile() == 2
        assert opened.indexer.waiting() == 2
        embed_all(opened)
        assert opened.engine.vectors.count("events") == 3


def test_vectors_of_no_row_are_deleted(tmp_path: Path) -> None:
    with household(tmp_path) as opened:
        for name in ("99", "no number"):
            orphan(opened, name)
        reopened(opened)
        assert opened.indexer.reconcile() == 2
        assert sorted(opened.engine.vectors.ids("events")) == ["1", "2", "3"]
        assert opened.indexer.waiting() == 0


def test_pieces_of_a_long_text_belong_to_its_row(tmp_path: Path) -> None:
    with household(tmp_path) as opened:
        orphan(opened, "1:1")
        reopened(opened)
        assert opened.indexer.reconcile() == 0
        assert "1:1" in opened.engine.vectors.ids("events")


def test_it_compares_once_for_each_opening_and_only_where_numbers_differ(tmp_path: Path) -> None:
    with household(tmp_path) as opened:
        assert opened.indexer.reconcile() == 0
        orphan(opened, "99")
        assert opened.indexer.reconcile() == 0
        opened.engine.vectors.delete("events", ["1"])  # one too few and one too many: the numbers agree
        reopened(opened)
        assert opened.indexer.reconcile() == 0
        assert opened.indexer.reconcile(thorough=True) == 2


def test_repeats_of_an_earlier_event_are_not_missed(tmp_path: Path) -> None:
    with household(tmp_path) as opened:
        opened.historian.pipeline.events.add([event(9, "小明喜欢吃火锅。", same_as="e0")])
        assert opened.indexer.reconcile(thorough=True) == 0
        assert opened.indexer.waiting() == 0


def test_while_the_embedder_loads_nothing_is_done(tmp_path: Path) -> None:
    with household(tmp_path, start=False) as opened:
        assert opened.indexer.reconcile() == 0
        assert opened.engine.state == "cold"


def test_a_deleted_folder_of_vectors_is_filled_again(tmp_path: Path) -> None:
    """P1."""
    with household(tmp_path):
        pass
    shutil.rmtree(tmp_path / "chroma")
    with household(tmp_path) as opened:
        assert opened.indexer.reconcile() == ALL
        embed_all(opened)
        assert opened.indexer.reconcile(thorough=True) == 0


def test_after_a_first_use_that_ended_the_process_the_damaged_folder_is_set_aside(tmp_path: Path) -> None:
    """P1, P13: a truncated file of Chroma's is a segmentation fault, not an exception."""
    texts = [f"第 {number} 件事 of many" for number in range(120)]
    with household(tmp_path, texts):
        pass
    make_deadly(tmp_path / "chroma")
    trial(tmp_path).suspect()
    with household(tmp_path, texts) as opened:
        assert len(trial(tmp_path).damaged()) == 1
        opened.indexer.reconcile()
        embed_all(opened)
        assert opened.engine.vectors.count("events") == 120
        stored = [opened.engine.vectors.count(collection) for collection in ("events", "profiles", "messages")]
        assert marked(opened) == sum(stored)


def test_a_kill_during_the_first_use_of_a_sound_folder_costs_nothing(tmp_path: Path) -> None:
    with household(tmp_path):
        pass
    trial(tmp_path).suspect()
    with household(tmp_path) as opened:
        fill(opened, ())
        assert opened.engine.vectors.count("events") == 3
        assert trial(tmp_path).damaged() == []
        assert not (tmp_path / "chroma.trial").exists()
