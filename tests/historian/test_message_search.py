from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from threading import Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from historian.clock import FixedClock
from historian.database import Database
from historian.embed import Embedder
from historian.embed_fake import HashingEmbedder
from historian.errors import InvalidInputError, RetryableModelError
from historian.message_search import MessageQuery, MessageSearch, RankedMessages
from historian.model import Message, Owner, Reach, Scope
from historian.pieces import MOST, piece_ids, pieces
from historian.readable import MessageFilter
from historian.record import Record
from historian.retrieval import Retrieval
from historian.schema import MIGRATIONS
from historian.surroundings import participants
from server.composition import open_household
from server.household import Household
from server.settings import load_settings
from tests.kit.questions import CHINESE, CROSSED, ENGLISH, builtin

START = datetime(2026, 2, 20, 9, tzinfo=UTC)
ANN, BOB, CLUB = Owner("user", "ann"), Owner("user", "bob"), Owner("group", "club")
MINE: Reach = Scope("ann").reach()


@contextmanager
def searched(folder: Path, embedder: Embedder | None = None, *, ready: bool = True) -> Generator[Searched]:
    """Open a memory whose embedder is loaded."""
    settings = load_settings({"data_dir": folder, "user": "ann", "timezone": "UTC"}, {})
    opened = open_household(settings, embedder=embedder or HashingEmbedder(), clock=FixedClock(START))
    try:
        opened.engine.start()
        if ready:
            assert opened.engine.wait(60)
        yield Searched(opened)
    finally:
        opened.close()


class Searched:
    """A record, and short-hands for filling and asking it."""

    def __init__(self, opened: Household) -> None:
        self.opened = opened
        self.record = Record(opened.database)
        retrieval = Retrieval(opened.database, opened.engine, opened.indexer, {})
        self.search = MessageSearch(opened.database, opened.engine, retrieval)

    def say(self, *texts: str, owner: Owner = ANN, minutes: int = 0, **more: object) -> list[str]:
        """Append messages a minute apart and return their ids."""
        messages = [
            Message(
                f"{more.get('conversation_id', 'c')}-{minutes + i}",
                str(more.get("conversation_id", "c")),
                "user",
                text,
                START + timedelta(minutes=minutes + i),
            )
            for i, text in enumerate(texts)
        ]
        messages = [replace(message, **more) for message in messages]  # type: ignore[arg-type]
        self.record.append(owner, messages)
        return [message.message_id for message in messages]

    def embed(self) -> None:
        """Give every message its vectors."""
        while self.opened.indexer.run_batch():
            pass

    def ask(self, text: str, reach: Reach = MINE, top_k: int = 10, **more: object) -> RankedMessages:
        """Search."""
        return self.search.search(MessageQuery(text, reach, top_k, **more))  # type: ignore[arg-type]

    def found(self, text: str, **more: object) -> list[str]:
        """Return the ids that a search finds."""
        return [one.stored.message.message_id for one in self.ask(text, **more).items]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("不吃辣", "我不吃辣，最近在减肥"),
        ("过敏", "我对花生过敏"),
        ("allergy", "She has many allergies."),
        ("docker 外币换算", "docker 里跑外币换算"),
    ],
)
def test_chinese_english_and_mixed_questions_find_their_sentence(tmp_path: Path, query: str, wanted: str) -> None:
    with searched(tmp_path) as one:
        one.say(
            "我不吃辣，最近在减肥", "今天天气不错", "我对花生过敏", "She has many allergies.", "docker 里跑外币换算"
        )
        first = one.ask(query).items[0]
        assert first.stored.message.content == wanted
        assert {"semantic", "lexical"} <= {*first.how}


@pytest.mark.parametrize(
    ("pairs", "least"), [(CHINESE, 17), (ENGLISH, 17), (CROSSED, 7)], ids=["Chinese", "English", "crossed"]
)
def test_the_builtin_embedder_finds_the_answer_among_the_first_three(
    tmp_path: Path, pairs: Sequence[tuple[str, str]], least: int
) -> None:
    """P65: offline, each message a session of its own, so that no neighbour helps."""
    everything = [*CHINESE, *ENGLISH, *CROSSED]
    with searched(tmp_path, builtin()) as one:
        for number, (_, answer) in enumerate(everything):
            one.say(answer, minutes=number * 600)
        one.embed()
        hits = sum(
            answer in [item.stored.message.content for item in one.ask(question, top_k=3).items]
            for question, answer in pairs
        )
        assert hits >= least


def test_a_short_answer_is_found_by_the_question_before_it(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        ids = one.say("Which colour shall we paint the kitchen?", "Sage green, I think.")
        for number in range(9):
            one.say(f"Nothing of interest happened on round {number}.", minutes=600 * (number + 1))
        found = one.ask("colour of the kitchen paint")
        assert {item.stored.message.message_id for item in found.items[:2]} == {*ids}
        answer = next(item for item in found.items if item.stored.message.message_id == ids[1])
        assert "neighbors" in answer.how
        assert answer.lexical_score is None


def test_a_message_that_becomes_a_neighbour_later_counts_at_once(tmp_path: Path) -> None:
    """Nothing stored has to be refreshed: surroundings are read when they are asked for."""
    with searched(tmp_path) as one:
        (answer,) = one.say("Sage green, I think.", minutes=1)
        one.say("Some words about painting a fence.", minutes=900)
        one.embed()
        before = next(i for i in one.ask("kitchen paint").items if i.stored.message.message_id == answer)
        one.say("Which colour for the kitchen paint?", minutes=0)
        after = next(i for i in one.ask("kitchen paint").items if i.stored.message.message_id == answer)
        assert "neighbors" not in before.how
        assert "neighbors" in after.how


def test_a_long_text_is_found_by_each_of_its_parts_and_stands_there_once(tmp_path: Path) -> None:
    parts = [f"Paragraph {word}: " + f"{word} " * 60 for word in ("alpha", "bravo", "charlie", "delta")]
    with searched(tmp_path) as one:
        (long,) = one.say("".join(parts))
        others = one.say(*(f"{word} is short" for word in ("echo", "foxtrot")), minutes=600)
        one.embed()
        names = one.opened.engine.vectors.ids("messages")
        row = one.record.within(MINE).rows_of([long])[long][0]
        count = len(pieces("".join(parts), 300))
        assert {*names} >= {*piece_ids(row, count)}
        assert len(names) == count + len(others)
        assert one.opened.indexer.reconcile() == 0
        for word in ("alpha", "delta"):
            answer = one.ask(f"{word} {word} {word}", mode="semantic").items
            assert answer[0].stored.message.message_id == long
            assert [i.stored.message.message_id for i in answer].count(long) == 1


@given(st.text(max_size=2_000), st.integers(50, 400))
def test_pieces_lose_nothing_and_are_never_longer_than_asked(text: str, size: int) -> None:
    cut = pieces(text, size)
    assert 0 < len(cut) <= MOST
    assert all(len(piece) <= size for piece in cut)
    assert "".join("".join(cut).split()) == "".join(text.split())


def test_pieces_end_with_a_sentence_where_there_is_one() -> None:
    assert pieces("一二三四五。六七八九十。甲乙", 8) == ("一二三四五。", "六七八九十。甲乙")
    assert pieces("one two three four five", 10) == ("one two ", "three ", "four five")


def test_the_newest_messages_get_their_vectors_first_and_what_waits_is_counted(tmp_path: Path) -> None:
    gate = Event()
    with searched(tmp_path, HashingEmbedder(gate=gate), ready=False) as one:
        ids = one.say(*(f"message number {i}" for i in range(100)))
        assert one.opened.indexer.waiting() == 100
        gate.set()
        assert one.opened.engine.wait(60)
        one.opened.indexer.run_batch()
        assert one.opened.indexer.waiting() == 36
        rows = one.record.within(MINE).rows_of(ids)
        done = {int(name) for name in one.opened.engine.vectors.ids("messages")}
        assert done == {rows[one_id][0] for one_id in ids[36:]}


def test_the_vectors_of_a_stand_in_go_when_its_real_message_comes(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        text = "I moved to Lisbon last week. " * 20
        one.say(text, message_id="stand-in", meta={"via": "end"})
        one.embed()
        before = {*one.opened.engine.vectors.ids("messages")}
        appended = one.record.append(ANN, [Message("real", "c", "user", text, START + timedelta(minutes=3))])
        assert len(appended.replaced) == 1
        one.opened.indexer.discard("messages", appended.left_rows)
        one.embed()
        after = {*one.opened.engine.vectors.ids("messages")}
        assert len(after) == len(before) == len(pieces(text, 300)) > 1
        assert before.isdisjoint(after)
        assert one.found("Lisbon") == ["real"]


def test_while_the_embedder_is_down_words_answer_and_the_answer_says_so(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        (wanted, _) = one.say("The cat is called Mochi.", "A dog sleeps.")
        broken = HashingEmbedder(failures=[RetryableModelError("The endpoint is away.")] * 50)
        one.opened.engine.embedder.embed = broken.embed  # type: ignore[method-assign]
        for mode in ("hybrid", "semantic"):
            found = one.ask("What is the cat called?", mode=mode)
            assert [item.stored.message.message_id for item in found.items] == [wanted]
            assert found.items[0].semantic_score is None
            assert any("words were searched" in sentence for sentence in found.degraded)


def test_while_the_embedder_is_warming_up_words_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("historian.message_search.WARM_UP_SECONDS", 0.01)
    gate = Event()
    with searched(tmp_path, HashingEmbedder(gate=gate), ready=False) as one:
        (wanted,) = one.say("猫叫 Mochi。")
        found = one.ask("猫叫什么？")
        assert [item.stored.message.message_id for item in found.items] == [wanted]
        assert found.degraded == ("search by meaning is warming up; words are searched",)
        gate.set()


def test_a_failing_vector_store_degrades_too(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        (wanted,) = one.say("The cat is called Mochi.")
        one.embed()
        one.opened.engine.vectors.close()
        found = one.ask("What is the cat called?")
        assert [item.stored.message.message_id for item in found.items] == [wanted]
        assert found.degraded


def test_a_vector_finds_without_words_and_must_be_of_the_model_in_use(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        (wanted, _) = one.say("The cat is called Mochi.", "Stock prices fell.", minutes=0)
        one.embed()
        embedder = one.opened.engine.embedder
        vector = embedder.embed(["The cat is called Mochi."])[0]
        found = one.ask("", vector=vector, embedding_model=embedder.identity)
        assert found.items[0].stored.message.message_id == wanted
        assert found.items[0].semantic_score == pytest.approx(1.0, abs=1e-3)
        for model in (None, "", "another-model"):
            with pytest.raises(InvalidInputError, match="must be made by"):
                one.ask("", vector=vector, embedding_model=model)
        with pytest.raises(InvalidInputError, match="3 numbers"):
            one.ask("", vector=np.ones(3, dtype=np.float32), embedding_model=embedder.identity)


def test_min_score_is_applied_to_the_similarity_before_the_cut(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        one.say("The cat is called Mochi.", *(f"Zzz {n} qqq" for n in range(30)))
        one.embed()
        for mode in ("hybrid", "semantic"):
            everything = one.ask("The cat is called Mochi.", top_k=200, mode=mode).items
            scores = [item.semantic_score for item in everything if item.semantic_score is not None]
            least = sorted(scores)[-2]
            strict = one.ask("The cat is called Mochi.", top_k=200, mode=mode, min_score=least).items
            assert len(strict) == 2
            assert all((item.semantic_score or 0) >= least for item in strict)
            assert one.ask("The cat is called Mochi.", mode=mode, min_score=1.0 + 1e-9).items == ()


def test_semantic_mode_is_ordered_by_similarity_alone(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        one.say("tea with milk", "tea with lemon", "coffee", "milk tea", "a bicycle")
        found = one.ask("milk tea", mode="semantic").items
        assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
        assert all(item.lexical_score is None and item.how == ("semantic",) for item in found)


def test_lexical_mode_needs_no_embedder(tmp_path: Path) -> None:
    with searched(tmp_path, HashingEmbedder(gate=Event()), ready=False) as one:
        (wanted,) = one.say("milk tea")
        assert one.found("tea", mode="lexical") == [wanted]
        one.opened.engine.embedder._gate.set()  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (MessageFilter(role="assistant"), {"d-1"}),
        (MessageFilter(sender_id="zoe"), {"d-1"}),
        (MessageFilter(conversation_id="d"), {"d-0", "d-1"}),
        (MessageFilter(since_ms=int(START.timestamp() * 1000) + 60_000), {"c-1", "d-1"}),
        (MessageFilter(until_ms=int(START.timestamp() * 1000) + 60_000), {"c-0", "d-0"}),
    ],
    ids=["role", "sender", "conversation", "since", "until"],
)
def test_filters_hold_in_every_mode_also_for_what_stands_around_the_hits(
    tmp_path: Path, mode: str, wanted: MessageFilter, expected: set[str]
) -> None:
    with searched(tmp_path) as one:
        one.say("green tea", "green tea again")
        one.say("green tea", conversation_id="d")
        one.say("green tea again", conversation_id="d", minutes=1, role="assistant", sender_id="zoe")
        one.embed()
        assert {*one.found("green tea", filter=wanted, mode=mode)} == expected


def test_nobody_elses_message_is_found_counted_or_named(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        one.say("green tea", owner=BOB, sender_name="Ann", sender_id="ann")
        one.say("green tea in the club", owner=CLUB, sender_id="bob", conversation_id="g")
        one.say("green tea, said Ann in the club", owner=CLUB, sender_id="ann", conversation_id="g", minutes=1)
        one.embed()
        assert one.found("green tea") == ["g-1"]
        (mine,) = one.ask("green tea in").items
        alone = one.ask("green tea in", reach=frozenset({"author:ann"})).items
        assert [mine] == [*alone]
        assert {*one.found("green tea", reach=Scope("bob").reach())} == {"c-0", "g-0"}
        assert one.found("green tea", reach=frozenset()) == []


def test_a_neighbour_out_of_reach_has_no_influence(tmp_path: Path) -> None:
    with searched(tmp_path / "with") as one, searched(tmp_path / "without") as other:
        for record, neighbours in ((one, True), (other, False)):
            if neighbours:
                record.say("Which tea do you like?", owner=CLUB, sender_id="bob", conversation_id="g")
            record.say("The green one.", owner=CLUB, sender_id="ann", conversation_id="g", minutes=1)
            record.embed()
        assert one.ask("Which tea do you like?").items == other.ask("Which tea do you like?").items


def test_the_author_whom_the_question_names_comes_first(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        one.say("I baked bread.", sender_name="Mia", conversation_id="a")
        one.say("I baked bread.", sender_name="Leo", conversation_id="b")
        for name, expected in (("Mia", "a-0"), ("Leo", "b-0")):
            first = one.ask(f"What did {name} bake?").items[0]
            assert first.stored.message.message_id == expected
            assert "author" in first.how


def test_the_day_that_the_question_names_comes_first(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        for day in range(5):
            one.say("我在公园跑步", minutes=day * 24 * 60, conversation_id=f"day{day}")
        for question in ("2月22日我在哪里跑步？", "我前天在哪里跑步？", "Where did I run on February 22nd?"):
            found = one.ask(question, asked_at=START + timedelta(days=4)).items
            assert found[0].stored.message.ts.date().isoformat() == "2026-02-22"
            assert "date" in found[0].how


@pytest.mark.parametrize(
    "query", ["", " ", "？！", "👍👍", "a" * 10_000, "辣" * 10_000, 'AND "', "NOT x", "(((", "*", "\ud800", "I"]
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_no_query_is_an_error(tmp_path: Path, query: str, mode: str) -> None:
    with searched(tmp_path) as one:
        assert one.ask(query, mode=mode).items == ()
        one.say("Green tea. 绿茶！", sender_name="I")
        found = one.ask(query, mode=mode)
        assert len(found.items) <= 1
        assert found.items == () or query.strip()
        assert one.ask(query, mode=mode, top_k=0).items == ()


def test_the_whole_record_can_be_ranked(tmp_path: Path) -> None:
    with searched(tmp_path) as one:
        ids = one.say(*(f"tea number {n}" for n in range(150)))
        one.embed()
        found = one.found("tea", top_k=200)
        assert sorted(found) == sorted(ids)


def test_who_takes_part_is_known_of_messages_from_before_that_was_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.sqlite3"
    with monkeypatch.context() as patched:
        patched.setattr("historian.database.MIGRATIONS", MIGRATIONS[:1])
        old = Database(path)
        with old.write() as connection:
            connection.execute("INSERT INTO audiences (id, key) VALUES (1, 'user:ann')")
            for row, name in ((1, "Mia"), (2, None), (3, "Mia")):
                connection.execute("INSERT INTO message_audiences VALUES (1, ?)", (row,))
                connection.execute(
                    "INSERT INTO messages (row, owner_key, message_id, conversation_id, role, sender_name, ts,"
                    " zone_known, stand_in, content) VALUES (?, 'user:ann', ?, 'c', 'user', ?, ?, 1, 0, 'x')",
                    (row, f"m{row}", name, START.isoformat()),
                )
        old.close()
    database = Database(path)
    with database.read() as connection:
        assert participants(connection, MINE) == [("", "Mia")]
        assert participants(connection, Scope("bob").reach()) == []
    database.close()


@pytest.mark.parametrize("seed", [2, 5])
def test_which_of_many_equals_is_found_does_not_depend_on_what_others_said(tmp_path: Path, seed: int) -> None:
    """More fit equally well than are looked at; row numbers, and where vectors stand, do depend on the others."""
    chance, answers = Random(seed), list[list[str]]()
    for others in (0, 3):
        with searched(tmp_path / f"{others}") as one:
            for number in range(240):
                said = {"conversation_id": f"c{number // 7}", "message_id": f"m{number}", "ts": START}
                one.say(f"tent 帐篷 {number % 2}", **said)
                for other in range(chance.randrange(4) if others else 0):
                    one.say("tent 帐篷 0", owner=BOB, **said | {"message_id": f"b{number}-{other}"})
                if chance.random() < 0.1:
                    one.embed()
            one.embed()
            asked = itertools.product(("tent 帐篷", "帐篷 0"), ("hybrid", "semantic"), (10, 60))
            answers.append([found for text, mode, top_k in asked for found in one.found(text, mode=mode, top_k=top_k)])
    assert answers[0] == answers[1]
    assert not [found for found in answers[1] if found.startswith("b")]
