"""The record: every message once, in order of time, readable within a reach only."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from historian.database import Database
from historian.errors import InvalidInputError, NotFoundError
from historian.messages import StoredMessage
from historian.model import Message, Owner, Role, Scope
from historian.readable import MessageFilter
from historian.record import Record
from tests.kit.record import count

NOON = datetime(2026, 2, 20, 12, 0, tzinfo=timezone(timedelta(hours=8)))
ANN, BOB, TEAM = Owner("user", "ann"), Owner("user", "bob"), Owner("group", "team")
ANNS, BOBS = Scope("ann").reach(), Scope("bob").reach()
TEAMS = Scope("ann", "team").reach()
END: Mapping[str, object] = {"via": "end"}
UNKNOWN: Mapping[str, object] = {"via": "end", "conversation": "unknown"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "memory.sqlite3")
    yield opened
    opened.close()


@pytest.fixture
def record(database: Database) -> Record:
    return Record(database)


def said(
    message_id: str,
    content: str = "我对花生过敏",
    *,
    minutes: float = 0,
    role: Role = "user",
    conversation: str = "c1",
    sender: str | None = None,
    meta: Mapping[str, object] | None = None,
) -> Message:
    ts = NOON + timedelta(minutes=minutes)
    return Message(message_id, conversation, role, content, ts, sender_id=sender, meta=meta or {})


def ids(messages: tuple[StoredMessage, ...] | list[StoredMessage]) -> list[str]:
    return [stored.message.message_id for stored in messages]


def test_what_is_stored_together_with_a_message_comes_with_it_or_not_at_all(record: Record, database: Database) -> None:
    def note(key: str) -> None:
        with database.join() as connection:
            connection.execute("INSERT INTO settings (key, value) VALUES (?, 'x')", (key,))

    record.append(ANN, [said("m1")], also=lambda: note("a"))
    with pytest.raises(sqlite3.IntegrityError):
        record.append(ANN, [said("m2")], also=lambda: note("a"))
    assert ids(record.within(ANNS).get(["m1", "m2"])) == ["m1"]


def test_a_message_comes_back_as_it_was_said(record: Record) -> None:
    message = Message(
        message_id="m:1/2",
        conversation_id="会话 一",
        role="assistant",
        content="  你好 👋\n「第二行」\t",
        ts=datetime(2026, 2, 20, 12, 0, 0, 123456, tzinfo=timezone(timedelta(hours=5, minutes=45))),
        sender_id="小王",
        sender_name="王小明",
        reply_to="m0",
        meta={"a": [1, {"b": None}], "表": "值"},
        zone_known=False,
    )
    appended = record.append(ANN, [message])
    (stored,) = record.within(ANNS).get(["m:1/2"])
    assert stored.message == message
    assert stored.message.ts.utcoffset() == timedelta(hours=5, minutes=45)
    assert (stored.row, stored.owner_key) == (appended.rows[0], "user:ann")


def test_short_texts_are_kept_and_each_one_is_its_own(record: Record) -> None:
    """P68, P69: two unrelated short Chinese facts, and even one character, are all there."""
    record.append(ANN, [said("a", "我对花生过敏"), said("b", "我住在上海"), said("c", "好"), said("d", "")])
    assert ids(record.within(ANNS).list(limit=9)) == ["d", "c", "b", "a"]


def test_appending_again_changes_nothing(record: Record) -> None:
    """P33, P83: a repeated append has the same row count and says so."""
    batch = [said("a"), said("b", "别的")]
    first = record.append(ANN, batch)
    again = record.append(ANN, [*batch, said("a", "changed"), said("c", "新的"), said("c", "新的")])
    assert (first.inserted, first.ignored) == (2, 0)
    assert (again.inserted, again.ignored) == (1, 4)
    assert again.rows[:2] == first.rows
    assert again.rows[3] == again.rows[4]
    readable = record.within(ANNS)
    assert count(readable) == 3
    assert readable.get(["a"])[0].message.content == "我对花生过敏"


def test_the_same_id_elsewhere_is_another_message(record: Record) -> None:
    """P45: `ignored` never tells what another scope holds."""
    record.append(ANN, [said("1", "秘密")])
    assert record.append(BOB, [said("1", "别的")]).ignored == 0
    assert record.append(TEAM, [said("1", "群里", sender="ann")]).ignored == 0
    assert [s.message.content for s in record.within(BOBS).get(["1"])] == ["别的"]
    assert [s.message.content for s in record.within(ANNS).get(["1"])] == ["秘密", "群里"]
    assert [s.message.content for s in record.within(TEAMS).get(["1"])] == ["群里"]


def test_nothing_of_another_user_is_readable_by_any_door(record: Record) -> None:
    """P45, P48: get, rows, list, recent, neighbours, words and counts, for a stranger and for an empty reach."""
    (row,) = record.append(ANN, [said("a")]).rows
    record.append(TEAM, [said("t", sender="ann")])
    for reach in (BOBS, Scope("bob", "other").reach(), frozenset[str]()):
        readable = record.within(reach)
        assert readable.get(["a", "t"]) == []
        assert readable.rows_of(["a", "t"]) == {}
        assert readable.rows([row]) == {}
        assert readable.list(limit=9) == ()
        assert readable.list(limit=9, conversation_id="c1") == ()
        assert readable.recent("c1", limit=9) == ()
        assert readable.lexical("过敏", limit=9).items == ()
        assert count(readable) == 0
        with pytest.raises(NotFoundError):
            readable.neighbors("a", 1, 1)


def test_foreign_and_unknown_ids_give_the_same_error(record: Record) -> None:
    record.append(ANN, [said("a")])
    sentences = set()
    for message_id in ("a", "never"):
        with pytest.raises(NotFoundError) as caught:
            record.within(BOBS).neighbors(message_id, 1, 1)
        sentences.add(str(caught.value))
    assert len(sentences) == 1


def test_own_words_in_a_group_are_readable_in_private_and_the_others_are_not(record: Record) -> None:
    record.append(
        TEAM, [said("mine", sender="ann"), said("theirs", sender="bob", minutes=1), said("nobodys", minutes=2)]
    )
    assert ids(record.within(ANNS).list(limit=9)) == ["mine"]
    assert ids(record.within(ANNS).list(limit=9, conversation_id="c1")) == ["mine"]
    assert ids(record.within(TEAMS).list(limit=9)) == ["nobodys", "theirs", "mine"]
    around = record.within(ANNS).neighbors("mine", 5, 5)
    assert [n.stored.message.message_id for n in around] == ["mine"]


def test_the_list_is_newest_first_by_time_then_by_order_of_arrival(record: Record) -> None:
    record.append(ANN, [said("b", minutes=1), said("a", minutes=0), said("d", minutes=2), said("c", minutes=1)])
    assert ids(record.within(ANNS).list(limit=9)) == ["d", "c", "b", "a"]
    assert ids(record.within(ANNS).list(limit=2)) == ["d", "c"]
    assert record.within(ANNS).list(limit=0) == ()


def test_pages_neither_repeat_nor_skip(record: Record) -> None:
    record.append(ANN, [said(str(n), minutes=n // 3) for n in range(20)])
    record.append(TEAM, [said(f"t{n}", minutes=n, sender="ann") for n in range(5)])
    readable = record.within(ANNS)
    seen: list[StoredMessage] = []
    for _ in range(8):
        seen.extend(readable.list(limit=4, before_row=seen[-1].row if seen else None))
    assert ids(seen) == ids(readable.list(limit=99))
    assert len(seen) == 25


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-5))])
def test_since_is_inclusive_and_until_exclusive_in_any_zone(record: Record, zone: timezone) -> None:
    """P75: the same instant written with any offset is the same instant."""
    record.append(ANN, [replace(said("x"), ts=NOON.astimezone(zone))])
    at = int(NOON.timestamp() * 1000)
    readable = record.within(ANNS)
    assert ids(readable.list(limit=9, since_ms=at)) == ["x"]
    assert ids(readable.list(limit=9, since_ms=at + 1)) == []
    assert ids(readable.list(limit=9, until_ms=at)) == []
    assert ids(readable.list(limit=9, until_ms=at + 1)) == ["x"]
    assert ids(readable.list(limit=9, since_ms=-(10**18), until_ms=10**18)) == ["x"]


def test_filters_combine(record: Record) -> None:
    record.append(ANN, [said("a"), said("b", role="assistant"), said("c", conversation="c2"), said("d", sender="s")])
    readable = record.within(ANNS)
    assert ids(readable.list(limit=9, role="assistant")) == ["b"]
    assert ids(readable.list(limit=9, conversation_id="c2")) == ["c"]
    assert ids(readable.list(limit=9, sender_id="s")) == ["d"]
    assert ids(readable.list(limit=9, role="assistant", conversation_id="c2")) == []
    assert count(readable, MessageFilter(role="user")) == 3
    assert count(readable, MessageFilter(conversation_id="c1", role="user")) == 2


def test_ids_keep_their_order_and_unknown_ones_are_absent(record: Record) -> None:
    record.append(ANN, [said("a"), said("b", minutes=-5), said("c", minutes=5)])
    assert ids(record.within(ANNS).get(["c", "nope", "a", "c", "b"])) == ["c", "a", "b"]
    assert record.within(ANNS).get([]) == []


def test_neighbours_are_of_one_conversation_with_the_anchor_marked(record: Record) -> None:
    record.append(ANN, [said(f"m{n}", minutes=n // 2) for n in range(7)])
    record.append(ANN, [said("elsewhere", conversation="c2", minutes=1)])
    record.append(BOB, [said("foreign", minutes=1)])
    readable = record.within(ANNS)
    around = readable.neighbors("m3", 2, 1)
    assert [(n.stored.message.message_id, n.anchor) for n in around] == [
        ("m1", False),
        ("m2", False),
        ("m3", True),
        ("m4", False),
    ]
    assert [n.stored.message.message_id for n in readable.neighbors("m3", 0, 0)] == ["m3"]
    assert [n.stored.message.message_id for n in readable.neighbors("m3", -1, 99)] == ["m3", "m4", "m5", "m6"]


def test_recent_messages_come_oldest_first_and_end_before_an_instant(record: Record) -> None:
    record.append(ANN, [said(f"m{n}", minutes=n) for n in range(5)])
    record.append(ANN, [said("other", conversation="c2", minutes=2)])
    readable = record.within(ANNS)
    assert ids(readable.recent("c1", limit=2, before=NOON + timedelta(minutes=3))) == ["m1", "m2"]
    assert ids(readable.recent(limit=2, before=NOON + timedelta(minutes=3))) == ["m2", "other"]
    assert ids(readable.recent("c1", limit=2)) == ["m3", "m4"]


def test_times_before_1970_and_far_away_are_in_order(record: Record) -> None:
    years = [1700, 1912, 1969, 1970, 2026, 2200]
    messages = [replace(said(str(year)), ts=datetime(year, 6, 1, tzinfo=UTC)) for year in years]
    record.append(ANN, messages)
    readable = record.within(ANNS)
    assert ids(readable.list(limit=9)) == [str(year) for year in reversed(years)]
    assert [s.message.ts for s in readable.list(limit=9)] == [m.ts for m in reversed(messages)]
    assert ids(readable.list(limit=9, until_ms=0)) == ["1969", "1912", "1700"]
    assert len(readable.lexical("花生", limit=9).items) == 6


@pytest.mark.parametrize(
    "bad",
    [
        replace(said("x"), ts=datetime(2026, 1, 1)),
        replace(said("x"), ts=datetime(1, 1, 1, tzinfo=UTC)),
        replace(said("x"), ts=datetime(9999, 12, 31, tzinfo=timezone(timedelta(hours=-12)))),
        said(""),
        said("x", conversation=""),
        said("x", "half \ud83d"),
        said("x", meta={"a": {1, 2}}),
        said("x", meta={"a": "\udc00"}),
    ],
)
def test_what_cannot_be_stored_is_refused_before_anything_is_written(record: Record, bad: Message) -> None:
    with pytest.raises(InvalidInputError) as caught:
        record.append(ANN, [said("good"), bad])
    assert str(caught.value).endswith(".")
    assert count(record.within(ANNS)) == 0


def test_threads_that_append_the_same_messages_store_each_once(record: Record) -> None:
    results = []

    def run() -> None:
        results.append(record.append(ANN, [said(str(n), minutes=n % 3) for n in range(40)]))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(result.inserted for result in results) == 40
    assert len({result.rows for result in results}) == 1
    assert count(record.within(ANNS)) == 40


def link(database: Database, message_row: int) -> None:
    fields = "owner_key, event_id, request_id, text, original, timestamp, timezone, user_id, request_type, message_ids"
    with database.write() as connection:
        cursor = connection.execute(
            f"INSERT INTO events ({fields}, flags, origin, schema_version, mark, end_seq, position, epoch_ms,"
            f" has_new_info, is_absolute) VALUES ({', '.join('?' * 10)}, '[]', 'offline', 'v', 'm', 0, 0, 0, 1, 1)",
            ("user:ann", "e", "r", "t", "o", "2026", "UTC", "ann", "private", "[]"),
        )
        connection.execute("INSERT INTO event_messages VALUES (?, ?)", (cursor.lastrowid, message_row))


def linked(database: Database) -> list[int]:
    with database.read() as connection:
        return [row for (row,) in connection.execute("SELECT message_row FROM event_messages")]


@pytest.mark.parametrize("minutes", [0, -3, 60 * 23])
def test_the_real_message_takes_the_place_of_its_stand_in(record: Record, database: Database, minutes: float) -> None:
    """P83: one turn is one row; the evidence link and the old id lead to the message as it was really said."""
    (old,) = record.append(ANN, [said("end:1", " 我对花生\n过敏 ", meta=END)]).rows
    link(database, old)
    real = said("real", "我对花生 过敏", minutes=minutes, sender="ann")
    appended = record.append(ANN, [real])
    assert (appended.inserted, appended.ignored) == (1, 0)
    assert appended.replaced == ((old, appended.rows[0]),)
    readable = record.within(ANNS)
    assert count(readable) == 1
    assert readable.get(["end:1"]) == readable.get(["real"]) == readable.get(["end:1", "real"])
    assert readable.get(["end:1"])[0].message == real
    assert linked(database) == list(appended.rows)
    assert ids(readable.list(limit=9, since_ms=int(real.ts.timestamp() * 1000))) == ["real"]
    assert [n.anchor for n in readable.neighbors("end:1", 1, 1)] == [True]
    assert [item.stored.row for item in readable.lexical("花生", limit=9).items] == list(appended.rows)
    assert record.append(ANN, [said("end:1", "我对花生过敏", meta=END), real]).ignored == 2


@pytest.mark.parametrize(
    "real",
    [
        said("real", "我对花生不过敏"),
        said("real", role="assistant"),
        said("real", conversation="c2"),
        said("real", minutes=60 * 24 + 1),
        said("real", minutes=-60 * 24 - 1),
    ],
)
def test_another_turn_leaves_the_stand_in_alone(record: Record, real: Message) -> None:
    record.append(ANN, [said("end:1", meta=END)])
    assert record.append(ANN, [real]).replaced == ()
    assert record.append(BOB, [said("real")]).replaced == ()
    assert count(record.within(ANNS)) == 2


def test_a_stand_in_of_an_unknown_conversation_gives_way_in_any(record: Record) -> None:
    record.append(ANN, [said("end:1", conversation="end", meta=UNKNOWN)])
    assert len(record.append(ANN, [said("real", conversation="c9")]).replaced) == 1
    assert record.within(ANNS).get(["end:1"])[0].message.conversation_id == "c9"


def test_a_clipped_stand_in_equals_the_message_that_it_begins(record: Record) -> None:
    text = "我对花生过敏，还有虾。" * 100
    record.append(ANN, [said("end:1", text[:800], meta=END), said("end:2", text[:700], minutes=1, meta=END)])
    assert len(record.append(ANN, [said("real", text)]).replaced) == 1
    assert sorted(ids(record.within(ANNS).list(limit=9))) == ["end:2", "real"]
    assert record.find_same(ANN, text[:800], "user", "c1", NOON) == "real"
    assert record.find_same(ANN, text[:600], "user", "c1", NOON) is None


def test_one_real_message_replaces_the_nearest_stand_in_only(record: Record) -> None:
    record.append(ANN, [said("end:1", "好", meta=END), said("end:2", "好", minutes=30, meta=END)])
    record.append(ANN, [said("real2", "好", minutes=29)])
    assert ids(record.within(ANNS).get(["end:2"])) == ["real2"]
    record.append(ANN, [said("real1", "好", minutes=40)])
    assert ids(record.within(ANNS).get(["end:1"])) == ["real1"]
    assert record.append(ANN, [said("real3", "好", minutes=50)]).replaced == ()


def test_a_turn_of_the_record_is_found_instead_of_recorded_again(record: Record) -> None:
    record.append(ANN, [said("far", "好的", minutes=-300), said("near", " 好的 ", minutes=-5), said("no", "好的吗")])
    assert record.find_same(ANN, "好的", "user", "c1", NOON) == "near"
    assert record.find_same(ANN, "好的", "user", None, NOON) == "near"
    assert record.find_same(ANN, "cafe\u0301", "user", None, NOON) is None
    assert record.find_same(ANN, "好的", "assistant", "c1", NOON) is None
    assert record.find_same(ANN, "好的", "user", "c2", NOON) is None
    assert record.find_same(BOB, "好的", "user", None, NOON) is None
    assert record.find_same(ANN, "好的", "user", None, NOON + timedelta(days=2)) is None
    record.append(ANN, [said("nfc", "caf\u00e9")])
    assert record.find_same(ANN, "cafe\u0301", "user", None, NOON) == "nfc"


def test_a_stand_in_of_a_known_turn_becomes_an_alias(record: Record) -> None:
    record.append(ANN, [said("real")])
    appended = record.append(ANN, [said("end:1", minutes=1, conversation="end", meta=UNKNOWN)])
    assert (appended.inserted, appended.ignored) == (0, 1)
    assert ids(record.within(ANNS).get(["end:1"])) == ["real"]
    assert count(record.within(ANNS)) == 1


def test_a_group_stand_in_moves_to_its_speaker(record: Record) -> None:
    record.append(TEAM, [said("end:1", meta=END)])
    assert count(record.within(ANNS)) == 0
    record.append(TEAM, [said("real", minutes=1, sender="ann")])
    assert ids(record.within(ANNS).get(["end:1"])) == ["real"]
    record.append(TEAM, [said("end:2", "你好", sender="ann", meta=END)])
    record.append(TEAM, [said("real2", "你好", minutes=1, sender="bob")])
    assert ids(record.within(ANNS).list(limit=9)) == ["real"]
    assert ids(record.within(BOBS).list(limit=9)) == ["real2"]
    assert record.within(ANNS).lexical("你好", limit=9).items == ()


def test_messages_wait_for_their_vector_until_it_is_noted(record: Record) -> None:
    a, b = record.append(ANN, [said("a"), said("b", minutes=1)]).rows
    (c,) = record.append(TEAM, [said("c", sender="bob", minutes=2)]).rows
    waiting = record.unembedded("use", 9)
    assert [(item.row, item.owner_key, item.author_key) for item in waiting] == [
        (c, "group:team", "author:bob"),
        (b, "user:ann", None),
        (a, "user:ann", None),
    ]
    assert waiting[2].epoch_ms == int(NOON.timestamp() * 1000)
    assert len(record.unembedded("use", 2)) == 2
    record.mark_embedded([a, b, 123], "use")
    assert [item.row for item in record.unembedded("use", 9)] == [c]
    assert (record.count_unembedded("use"), record.count_unembedded("other"), record.count_unembedded("zzz")) == (
        1,
        3,
        3,
    )
    assert {item.row for item in record.unembedded("aaa", 9)} == {a, b, c}
    record.append(ANN, [said("end:1", "嗨", meta=END)])
    record.mark_embedded([item.row for item in record.unembedded("use", 9)], "use")
    record.append(ANN, [said("real", "嗨", minutes=1)])
    assert record.count_unembedded("use") == 1
