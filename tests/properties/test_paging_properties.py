"""Paging any list with any sizes gives every item exactly once, in order, whatever is appended meanwhile."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from historian.cursors import Cursors
from historian.database import Database
from historian.embed_fake import HashingEmbedder
from historian.errors import InvalidInputError
from historian.evidence_reading import ScopedEvidence
from historian.evidence_views import EvidencePage
from historian.model import Message, Owner, Role, Scope
from historian.record import Record
from historian.session import Session
from server.composition import open_household
from server.household import Household
from server.settings import load_settings

START = datetime(2026, 2, 20, tzinfo=UTC)
ROLES: st.SearchStrategy[Role] = st.sampled_from(("user", "assistant"))
TEXTS = st.sampled_from(("火锅", "火锅 火锅 真好吃", "吃 hot pot", "hot pot hot pot", "今天下雨"))
MOMENTS = st.integers(0, 3)
"""Few instants, so that ties are the rule."""
APPENDED = st.lists(st.tuples(TEXTS, MOMENTS, ROLES), max_size=14)
SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=6)
Page = Callable[[int, str], EvidencePage]


@contextmanager
def memory() -> Iterator[Household]:
    with tempfile.TemporaryDirectory() as folder:
        given_settings = load_settings({"data_dir": Path(folder), "user": "ann", "timezone": "Asia/Shanghai"}, {})
        opened = open_household(given_settings, embedder=HashingEmbedder())
        try:
            yield opened
        finally:
            opened.close()


def evidence_of(household: Household) -> ScopedEvidence:
    return household.memory.of(Scope("ann"), Session(timezone="Asia/Shanghai")).evidence


def fill(household: Household, texts: Sequence[tuple[str, int, Role]], prefix: str) -> None:
    messages = [
        Message(f"{prefix}{n}", "c", role, text, START + timedelta(milliseconds=moment))
        for n, (text, moment, role) in enumerate(texts)
    ]
    Record(household.database).append(Owner("user", "ann"), messages)


def walk(page: Page, sizes: Sequence[int], between: Callable[[], None] = lambda: None) -> list[str]:
    """Read all pages, taking the sizes in turn, and do something after the first one."""
    found: list[str] = []
    cursor = ""
    for number in range(200):
        size = sizes[number % len(sizes)]
        answer = page(size, cursor)
        assert len(answer.items) <= size
        assert answer.truncated == (answer.next_cursor is not None)
        found += [item.message.message_id for item in answer.items]
        if answer.next_cursor is None:
            return found
        cursor = answer.next_cursor
        if number == 0:
            between()
    raise AssertionError("the list never ends")


@settings(max_examples=25, deadline=None)
@given(APPENDED, APPENDED, SIZES, st.sampled_from(["", "user"]))
@example([], [], [1], "")
@example([("火锅", 0, "user")], [("火锅", 0, "user")], [1], "")
@example([("火锅", 0, "user")] * 12, [("火锅", 0, "user")] * 3, [1, 5], "user")
def test_a_list_by_time_is_complete_in_order_and_without_repeats(
    texts: list[tuple[str, int, Role]], later: list[tuple[str, int, Role]], sizes: list[int], role: str
) -> None:
    with memory() as household:
        fill(household, texts, "m")
        evidence = evidence_of(household)
        filters = {"role": role}

        def page(size: int, cursor: str) -> EvidencePage:
            return evidence.list(filters, page_size=size, cursor=cursor)

        whole = [item.message.message_id for item in page(200, "").items]
        fitting = [(moment, n) for n, (_, moment, said_by) in enumerate(texts) if role in ("", said_by)]
        assert whole == [f"m{n}" for _, n in sorted(fitting, reverse=True)]
        assert walk(page, sizes) == whole
        # Those said later than the page that was read stay outside; older ones may come, each once.
        moved = [(text, moment + 10, said_by) for text, moment, said_by in later]
        assert walk(page, sizes, lambda: fill(household, moved, "new")) == whole
        read = walk(page, sizes, lambda: fill(household, later, "old"))
        assert len(read) == len(set(read))
        assert [one for one in read if one.startswith("m")] == whole


@settings(max_examples=25, deadline=None)
@given(
    APPENDED, APPENDED, SIZES, st.sampled_from(["火锅", "hot pot", "火锅 OR pot", "我什么时候吃过火锅呢", '"真好吃"'])
)
@example([], [], [1], "火锅")
@example([("火锅", 0, "user")], [("火锅", 0, "user")], [1], "火锅")
@example([("火锅", 0, "user")] * 12, [("火锅 火锅", 0, "user")] * 9, [1, 5], "火锅")
def test_a_ranked_list_stands_on_the_ids_of_its_first_page(
    texts: list[tuple[str, int, Role]], later: list[tuple[str, int, Role]], sizes: list[int], query: str
) -> None:
    with memory() as household:
        fill(household, texts, "m")
        evidence = evidence_of(household)

        def page(size: int, cursor: str) -> EvidencePage:
            return evidence.by_words(query, {}, page_size=size, cursor=cursor)

        first = page(200, "")
        whole = [item.message.message_id for item in first.items]
        scores = [item.score or 0.0 for item in first.items]
        assert first.total == len(whole) == len(set(whole))
        assert scores == sorted(scores, reverse=True)
        ranks = [(-(item.score or 0.0), -int(item.message.ts.timestamp() * 1000)) for item in first.items]
        assert ranks == sorted(ranks)
        assert walk(page, sizes) == whole
        assert walk(page, sizes, lambda: fill(household, later, "new")) == whole


@settings(max_examples=25, deadline=None)
@given(APPENDED.filter(bool), st.integers(0, 20), st.integers(0, 20), st.data())
def test_neighbours_are_the_messages_beside_the_anchor_whatever_the_ties(
    texts: list[tuple[str, int, Role]], before: int, after: int, data: st.DataObject
) -> None:
    with memory() as household:
        fill(household, texts, "m")
        order = [f"m{n}" for _, n in sorted((moment, n) for n, (_, moment, _) in enumerate(texts))]
        at = data.draw(st.integers(0, len(order) - 1))
        page = evidence_of(household).neighbors(order[at], before=before, after=after)
        expected = order[max(0, at - before) : at + after + 1]
        assert [item.message.message_id for item in page.items] == expected
        assert [item.message.message_id for item in page.items if item.anchor] == [order[at]]
        assert page.truncated == (len(expected) < len(order) and (at - before > 0 or at + after + 1 < len(order)))


@pytest.fixture(scope="module")
def cursors() -> Iterator[Cursors]:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "memory.sqlite3")
        yield Cursors(database)
        database.close()


@settings(max_examples=200, deadline=None)
@given(place=st.binary(min_size=8, max_size=40), cut=st.integers(0, 80), forged=st.text(max_size=60))
def test_only_a_sealed_cursor_opens(cursors: Cursors, place: bytes, cut: int, forged: str) -> None:
    sealed = cursors.seal(place, ["tool"])
    assert cursors.open(sealed, ["tool"]) == place
    for wrong in {sealed[:cut], forged} - {sealed}:
        with pytest.raises(InvalidInputError):
            cursors.open(wrong, ["tool"])
