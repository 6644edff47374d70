"""One run at a time, windows that are covered once, pages, strength, crashes and damage: over a real record."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from historian.errors import ConflictError, ModelError, RetryableModelError, StoreError
from historian.evolving import CHANGED_MEANWHILE, NOTHING_SINCE
from historian.group_strength import StrengthRule
from historian.messages import epoch_ms
from historian.model import Message, Owner
from historian.options import GroupOptions
from prompts import Prompt
from tests.kit.groups import CLUB, NOON, GroupHouse, act, create, saying
from tests.kit.merge_script import MergeScript
from tests.kit.scripted_chat import ScriptedChat

TWO = [create("They write Go", "m1"), create("群里禁止发广告", "m2")]


@pytest.fixture
def houses(tmp_path: Path) -> Generator[list[GroupHouse]]:
    made: list[GroupHouse] = []
    yield made
    for house in made:
        house.close()


def test_two_runs_of_one_group_exclude_each_other_whichever_thread_or_owner_asks(
    tmp_path: Path, houses: list[GroupHouse]
) -> None:
    """P25: the second caller is told since when; nothing is written twice; another group may run meanwhile."""
    inside, go_on = threading.Event(), threading.Event()

    def slowly(role: object, prompt: object) -> str:
        del role, prompt
        inside.set()
        assert go_on.wait(30)
        return json.dumps({"actions": TWO})

    house = GroupHouse(tmp_path, ScriptedChat(slowly))
    second = GroupHouse(tmp_path, ScriptedChat(saying(TWO)))
    houses += [house, second]
    house.say("we write Go", "群里不许发广告")
    house.say("hello there", "你好", group=Owner("group", "other"))
    first = threading.Thread(target=house.evolver.evolve, args=(CLUB, 1))
    first.start()
    assert inside.wait(30)
    for other in (house, second):
        with pytest.raises(ConflictError, match=r"already evolving, running since 2026-02-20T12:00:00\+00:00"):
            other.evolver.evolve(CLUB, 1)
    assert second.evolver.evolve(Owner("group", "other"), 1).stats.created == 2
    go_on.set()
    first.join(30)
    assert len(house.store.heads(CLUB)) == 2
    assert "no new messages" in second.evolver.evolve(CLUB, 1).notes[0]
    house.check()


def test_a_statement_that_somebody_changes_during_the_run_is_left_alone(
    tmp_path: Path, houses: list[GroupHouse]
) -> None:
    """P25: found, then written: the version is compared inside the transaction."""

    def meddling(role: object, prompt: object) -> str:
        del role
        shown = str(prompt)
        first, second = ("s1", "s2") if shown.index("They write Go") < shown.index("群里禁止发广告") else ("s2", "s1")
        one = house.statements()["They write Go"]
        with house.database.write() as connection:
            house.store.apply(connection, CLUB, house.evolver.moment().set_strength(one, 1.0, "by hand"))
        return json.dumps({"actions": [act("update", first, "They write Rust", "m1"), act("delete", second)]})

    answers = [saying(TWO), meddling]

    def say(role: object, prompt: Prompt) -> str:
        return answers[0](role, prompt)

    house = GroupHouse(tmp_path, ScriptedChat(say))
    houses.append(house)
    house.say("we write Go", "群里不许发广告")
    house.evolver.evolve(CLUB, 1)
    house.later(hours=1)
    house.say("we write Rust now")
    answers.pop(0)
    done = house.evolver.evolve(CLUB, 1)
    assert [one.reason for one in done.refused] == [CHANGED_MEANWHILE]
    assert house.statements().keys() == {"They write Go"}
    house.check()


def test_a_run_that_fails_changes_nothing_and_the_next_covers_the_same_messages_once(
    tmp_path: Path, houses: list[GroupHouse]
) -> None:
    """Of two pages the second fails; then the disk does; then the store between write and retire."""
    chat = MergeScript(
        {"actions": [create("They write Go", "m1")]},
        RetryableModelError("The chat model is busy."),
        otherwise={"actions": [create("They write Go", "m1")]},
        roles=("evolve",),
    )
    house = GroupHouse(tmp_path, chat, group=GroupOptions(max_messages=2))
    houses.append(house)
    house.say("one", "two", "three")
    with pytest.raises(ModelError):
        house.evolver.evolve(CLUB, 1)
    assert house.store.present(CLUB) == {}
    with house.database.write() as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE UPDATE OF is_head ON group_memories WHEN NEW.is_head = 1"
            " BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    with pytest.raises(sqlite3.IntegrityError):
        house.evolver.evolve(CLUB, 1)
    assert house.store.present(CLUB) == {}
    assert house.store.changes(CLUB) == []
    with house.database.write() as connection:
        connection.execute("DROP TRIGGER full")
    done = house.evolver.evolve(CLUB, 1)
    assert (done.messages, done.stats.created, done.stats.kept) == (3, 1, 0)
    with house.database.read() as connection:
        states = [state for (state,) in connection.execute("SELECT state FROM group_runs")]
    assert sorted(states) == ["done", "failed", "failed"]
    assert "no new messages" in house.evolver.evolve(CLUB, 1).notes[0]
    house.check()


CRASHING = """
import os, sys
from pathlib import Path
from tests.kit.groups import CLUB, GroupHouse, create
from tests.kit.scripted_chat import ScriptedChat
import json, sqlite3
step = int(sys.argv[2])
count = 0
def trace(sql):
    global count
    if sql.lstrip().startswith(("INSERT INTO group", "UPDATE group", "COMMIT", "INSERT OR IGNORE INTO group")):
        count += 1
        if count == step:
            os.kill(os.getpid(), 9)
said = json.dumps({"actions": [create("They write Go", "m1")]})
house = GroupHouse(Path(sys.argv[1]), ScriptedChat(lambda role, prompt: said))
house.say("we write Go")
with house.database.write() as connection:
    connection.set_trace_callback(trace)
house.evolver.evolve(CLUB, 1)
"""


@pytest.mark.parametrize("step", [1, 4, 7, 10])
def test_a_run_that_is_killed_anywhere_leaves_all_or_nothing_and_no_lock(
    tmp_path: Path, houses: list[GroupHouse], step: int
) -> None:
    """kill -9 between two statements of SQL: the next run starts at once and covers the window once."""
    done = subprocess.run(
        [sys.executable, "-c", CRASHING, str(tmp_path), str(step)],
        cwd=Path(__file__).parents[2],
        check=False,
        timeout=60,
    )
    house = GroupHouse(tmp_path, ScriptedChat(saying([create("They write Go", "m1")])))
    houses.append(house)
    house.check()
    before = len(house.store.heads(CLUB))
    again = house.evolver.evolve(CLUB, 1)
    assert (before, again.stats.created) in ((0, 1), (1, 0))
    assert done.returncode == -9
    assert [one.statement for one in house.store.heads(CLUB)] == ["They write Go"]
    house.check()


def test_pages_go_from_old_to_new_and_of_too_many_messages_the_newest_are_read(
    tmp_path: Path, houses: list[GroupHouse]
) -> None:
    chat = ScriptedChat(saying([]))
    house = GroupHouse(tmp_path, chat, group=GroupOptions(max_messages=3, max_pages=2))
    houses.append(house)
    house.say(*[f"message {number}" for number in range(8)])
    done = house.evolver.evolve(CLUB, 1)
    pages = [prompt.turns[1].content for prompt in chat.asked]
    assert [[n for n in range(8) if f"message {n}" in page] for page in pages] == [[2, 3, 4], [5, 6, 7]]
    assert done.messages == 6
    assert "newest 6" in done.notes[0]


def test_a_first_run_looks_back_so_many_days_and_a_larger_number_reads_again(
    tmp_path: Path, houses: list[GroupHouse]
) -> None:
    house = GroupHouse(tmp_path, ScriptedChat(saying([])))
    houses.append(house)
    house.say("long ago")
    house.later(days=3)
    assert "last 1 days" in house.evolver.evolve(CLUB, 1).notes[0]
    house.say("today")
    assert house.evolver.evolve(CLUB, 1).messages == 1
    assert house.evolver.evolve(CLUB, 1).by == "nobody"
    assert house.evolver.evolve(CLUB, 5).messages == 2
    house.later(days=9)
    house.say("later")
    assert house.evolver.evolve(CLUB, 1).messages == 1


def test_what_is_dated_in_the_future_waits_and_hides_nothing(tmp_path: Path, houses: list[GroupHouse]) -> None:
    house = GroupHouse(tmp_path, ScriptedChat(saying([])))
    houses.append(house)
    house.say("now")
    year = NOON.replace(year=2030)
    house.record.append(CLUB, [Message("future", "chat", "user", "from 2030", year, "u1", None)])
    assert house.evolver.evolve(CLUB, 1).messages == 1
    house.later(minutes=1)
    house.say("a minute later")
    assert house.evolver.evolve(CLUB, 1).messages == 1


def test_without_a_model_identical_statements_are_merged_and_it_says_so(
    tmp_path: Path, houses: list[GroupHouse]
) -> None:
    house = GroupHouse(tmp_path, MergeScript(roles=()))
    houses.append(house)
    ids = house.say("we write Go", "really, Go")
    moment = house.evolver.moment()
    with house.database.write() as connection:
        for text, one in (("They write Go.", ids[0]), ("they write  Go", ids[1]), ("They climb", ids[1])):
            house.store.apply(connection, CLUB, moment.create(text, [], "said so", [one]))
    done = house.evolver.evolve(CLUB, 1)
    assert (done.by, done.stats.deleted, done.active) == ("rules", 1, 2)
    assert "No chat model is set" in done.notes[0]
    assert len({*house.statements()}) == 2
    merged = next(one for text, one in house.statements().items() if "Go" in text)
    assert {*merged.message_ids} == {*ids}
    house.check()


def test_strength_grows_with_new_evidence_only_fades_by_half_and_stays_within_bounds(
    tmp_path: Path, houses: list[GroupHouse]
) -> None:
    house = GroupHouse(tmp_path, ScriptedChat(saying(TWO, [act("keep", "s1", "", "m1"), act("keep", "s2")])))
    houses.append(house)
    house.say("we write Go", "群里不许发广告")
    house.evolver.evolve(CLUB, 1)
    house.later(days=14)
    assert {round(house.evolver.moment().strength(one), 3) for one in house.store.heads(CLUB)} == {0.25}
    house.say("still Go")
    assert house.evolver.evolve(CLUB, 1).stats.confirmed == 1
    strengths = sorted(round(house.evolver.moment().strength(one), 3) for one in house.store.heads(CLUB))
    assert strengths == [0.25, 0.475]
    house.later(seconds=1)
    assert house.evolver.evolve(CLUB, 30).stats.confirmed <= 1
    rule = StrengthRule()
    value = 0.5
    for _ in range(200):
        value = rule.strengthened(value)
    assert 0.99 < value <= 1
    assert rule.faded(1, 0, 86_400_000 * 36_500) >= 0
    assert rule.faded(0.5, 10, 5) == 0.5
    house.check()


def test_a_row_that_a_hand_spoilt_breaks_nothing(tmp_path: Path, houses: list[GroupHouse]) -> None:
    house = GroupHouse(tmp_path, ScriptedChat(saying(TWO, [act("update", "s1", "They write Go and Rust", "m1")])))
    houses.append(house)
    house.say("we write Go", "群里不许发广告")
    house.evolver.evolve(CLUB, 1)
    with house.database.write() as connection:
        connection.execute("UPDATE group_memories SET tags = 'x', message_ids = '{', flags = '7'")
        connection.execute("UPDATE group_changes SET after = '[]' WHERE row = 1")
    assert len(house.store.heads(CLUB)) == 2
    assert len(house.store.changes(CLUB)) == 1
    house.later(hours=1)
    house.say("and Rust")
    assert house.evolver.evolve(CLUB, 1).stats.updated == 1
    with pytest.raises(sqlite3.IntegrityError), house.database.write() as connection:
        connection.execute("UPDATE group_memories SET is_head = 1, version = version + 0 WHERE is_head = 0")


def test_a_closed_store_is_said_in_one_sentence(tmp_path: Path) -> None:
    house = GroupHouse(tmp_path, ScriptedChat(saying(TWO)))
    house.say("we write Go")
    house.close()
    with pytest.raises(StoreError, match="closed"):
        house.evolver.evolve(CLUB, 1)


@pytest.mark.parametrize("hours", [5, 20, 24 * 365 * 20])
def test_what_was_said_from_an_instant_on_is_read_again_however_near_or_far_it_is(
    tmp_path: Path, houses: list[GroupHouse], hours: float
) -> None:
    house = GroupHouse(tmp_path, ScriptedChat(saying(TWO, [])))
    houses.append(house)
    house.say("an hour-old thing")
    house.later(hours=1)
    assert house.evolver.evolve(CLUB, 1).messages == 1
    house.later(hours=1)
    house.say("a new thing")
    since_ms = epoch_ms(house.clock.now()) - int(hours * 3_600_000)
    assert house.evolver.evolve(CLUB, 1, since_ms=since_ms).messages == 2
    assert house.evolver.evolve(CLUB, 1, since_ms=since_ms).messages == 2
    house.later(minutes=1)
    house.say("the newest thing")
    later = house.evolver.evolve(CLUB, 1, since_ms=epoch_ms(house.clock.now()) + 1)
    assert later.messages == 1  # nothing that no run has covered is passed over


def test_a_first_run_from_an_instant_reads_from_there(tmp_path: Path, houses: list[GroupHouse]) -> None:
    house = GroupHouse(tmp_path, ScriptedChat(saying(TWO)))
    houses.append(house)
    house.say("long ago")
    house.later(days=30)
    now_ms = epoch_ms(house.clock.now())
    assert house.evolver.evolve(CLUB, 1, since_ms=now_ms - 1).notes == (NOTHING_SINCE,)
    assert house.evolver.evolve(CLUB, 1, since_ms=now_ms - 31 * 86_400_000).messages == 1


@pytest.mark.parametrize(("floor", "proposed"), [(0.2, False), (0.6, True), (0.0, False)])
def test_below_the_floor_of_the_settings_a_deletion_is_proposed(
    tmp_path: Path, houses: list[GroupHouse], floor: float, proposed: bool
) -> None:
    chat = ScriptedChat(saying(TWO, []))
    house = GroupHouse(tmp_path, chat, group=GroupOptions(strength_floor=floor))
    houses.append(house)
    house.say("we write Go")
    house.evolver.evolve(CLUB, 1)
    house.later(hours=1)
    house.say("hello again")
    house.evolver.evolve(CLUB, 1)
    assert ("too weak: deletion proposed" in str(chat.asked[-1])) == proposed
