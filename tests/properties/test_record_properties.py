"""Whatever is appended: nobody reads another's rows, nothing doubles, order holds, and words agree with an oracle."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from historian.database import Database
from historian.fold import bigrams, fold, has_cjk, terms
from historian.lexical_parsing import parse
from historian.model import Message, Owner, Reach, Role, Scope
from historian.record import Record
from tests.kit.record import count

START = datetime(2026, 2, 20, tzinfo=UTC)
PEOPLE, GROUPS = ("ann", "bob"), ("g1", "g2")
OWNERS = st.sampled_from([Owner("user", p) for p in PEOPLE] + [Owner("group", g) for g in GROUPS])
ROLES: st.SearchStrategy[Role] = st.sampled_from(("user", "assistant"))
CJK = "不吃辣過敏臺台がかカレ음식𠮷"
LETTERS = st.sampled_from([*CJK, *"，。 aBé！\n"])
TEXTS = st.lists(LETTERS, max_size=12).map("".join)
REACHES = st.one_of(
    st.sampled_from(PEOPLE).map(lambda p: Scope(p).reach()),
    st.tuples(st.sampled_from(PEOPLE), st.sampled_from(GROUPS)).map(lambda pg: Scope(pg[0], pg[1]).reach()),
    st.tuples(st.sampled_from(PEOPLE), st.sampled_from(GROUPS)).map(
        lambda pg: Scope(pg[0], groups=frozenset({"g1"})).reach(pg[1])
    ),
)


@st.composite
def appends(draw: st.DrawFn) -> tuple[Owner, Message]:
    message = Message(
        message_id=draw(st.sampled_from([str(n) for n in range(12)])),
        conversation_id=draw(st.sampled_from(("c1", "c2"))),
        role=draw(ROLES),
        content=draw(TEXTS),
        ts=START + timedelta(milliseconds=draw(st.integers(-5, 5))),
        sender_id=draw(st.sampled_from((None, *PEOPLE))),
        meta=draw(st.sampled_from(({}, {}, {"via": "end"}, {"via": "end", "conversation": "unknown"}))),
    )
    return draw(OWNERS), message


BATCH = st.lists(appends(), max_size=25)


@contextmanager
def record() -> Iterator[Record]:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "memory.sqlite3")
        try:
            yield Record(database)
        finally:
            database.close()


def fill(target: Record, batch: list[tuple[Owner, Message]]) -> None:
    for owner, message in batch:
        target.append(owner, [message])


def allowed(owner_key: str, sender_id: str | None, reach: Reach) -> bool:
    kind, _, name = owner_key.partition(":")
    return not reach.isdisjoint(Owner("user" if kind == "user" else "group", name).audiences(sender_id))


@pytest.fixture(scope="module")
def shared() -> Iterator[Record]:
    """Yield a record with two messages, for reading."""
    with record() as target:
        texts = ("我不吃辣，c++", "cats and dogs, not c")
        messages = [Message(text, "c", "user", text, START) for text in texts]
        target.append(Owner("user", "ann"), messages)
        yield target


@settings(max_examples=60, deadline=None)
@given(BATCH, REACHES, TEXTS)
def test_no_door_shows_a_row_outside_the_reach(batch: list[tuple[Owner, Message]], reach: Reach, query: str) -> None:
    """P45, P48: every result of every read belongs to an audience of the reach, and none in reach is missing."""
    with record() as target:
        fill(target, batch)
        readable = target.within(reach)
        listed = readable.list(limit=200)
        everything = [item.row for item in target.unembedded("none", 200)]
        shown = [
            *listed,
            *readable.get([str(n) for n in range(12)]),
            *readable.rows(everything).values(),
            *readable.recent("c1", limit=50),
            *readable.list(limit=50, conversation_id="c2"),
            *(item.stored for item in readable.lexical(query, limit=50).items),
            *(item.stored for item in readable.lexical(query, limit=50, ranked=True).items),
        ]
        for message_id in {stored.message.message_id for stored in listed}:
            shown.extend(neighbor.stored for neighbor in readable.neighbors(message_id, 9, 9))
        assert all(allowed(stored.owner_key, stored.message.sender_id, reach) for stored in shown)
        assert {stored.row for stored in listed} == set(readable.rows(everything))
        assert count(readable) == len(listed)


@settings(max_examples=40, deadline=None)
@given(BATCH)
def test_appending_everything_again_changes_nothing(batch: list[tuple[Owner, Message]]) -> None:
    """P83: a replay has the same rows."""
    with record() as target:
        fill(target, batch)
        before = {item.row for item in target.unembedded("none", 200)}
        for owner, message in batch:
            again = target.append(owner, [message])
            assert (again.inserted, again.ignored) == (0, 1)
        assert {item.row for item in target.unembedded("none", 200)} == before


@settings(max_examples=40, deadline=None)
@given(BATCH, REACHES, st.integers(-6, 6), st.integers(-6, 6))
def test_a_list_is_in_order_and_within_its_bounds(
    batch: list[tuple[Owner, Message]], reach: Reach, since: int, until: int
) -> None:
    with record() as target:
        fill(target, batch)
        base = int(START.timestamp() * 1000)
        found = target.within(reach).list(since_ms=base + since, until_ms=base + until, limit=200)
        rows = [stored.row for stored in found]
        assert rows == sorted(rows, reverse=True)
        times = [stored.message.ts for stored in found]
        assert times == sorted(times, reverse=True)
        offsets = {(ts - START) // timedelta(milliseconds=1) for ts in times}
        assert all(since <= offset < until for offset in offsets)
        everything = target.within(reach).list(limit=200)
        bounds = START + timedelta(milliseconds=since), START + timedelta(milliseconds=until)
        assert rows == [s.row for s in everything if bounds[0] <= s.message.ts < bounds[1]]


@settings(max_examples=120, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=15), st.text(alphabet=CJK, min_size=1, max_size=4))
def test_a_cjk_phrase_finds_exactly_the_texts_that_hold_it(texts: list[str], phrase: str) -> None:
    """P58, P61, P63: the index agrees with a search of every folded text."""
    with record() as target:
        messages = [Message(str(n), "c", "user", text, START) for n, text in enumerate(texts)]
        target.append(Owner("user", "ann"), messages)
        found = target.within(Scope("ann").reach()).lexical(f'"{phrase}"', limit=99)
        assert {item.stored.message.message_id for item in found.items} == {
            str(n) for n, text in enumerate(texts) if fold(phrase) in fold(text)
        }


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_folding_twice_changes_nothing_and_terms_are_plain(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded
    assert all(term.isalnum() or has_cjk(term) for term in terms(folded))
    assert all(len(pair) == 2 for pair in bigrams(folded))


@settings(max_examples=300, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from(["AND", "OR", "NOT", "(", ")", '"', "辣", "cat", "*", "，", " ", "c++"]), max_size=30
    )
)
def test_any_row_of_operators_words_and_quotes_can_be_searched(parts: list[str], shared: Record) -> None:
    """P56: no query is an error."""
    query = " ".join(parts)
    assert parse(query).mode in ("words", "query")
    shared.within(Scope("ann").reach()).lexical(query, limit=5)
    shared.within(Scope("ann").reach()).lexical("".join(parts), limit=5, ranked=True)
