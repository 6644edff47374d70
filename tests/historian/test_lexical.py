"""Finding texts by words: Chinese, English, Japanese, Korean and mixed, within a reach, and never an error."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from historian.database import Database
from historian.lexical import LexicalIndex, Within
from historian.model import Message, Owner, Scope
from historian.readable import FoundMessages, MessageFilter, ReadableRecord
from historian.record import Record

START = datetime(2026, 2, 20, 9, 0, tzinfo=UTC)
TEXTS = {
    "diet": "我不吃辣，最近在减肥",
    "allergy": "小王对花生过敏。吃了会起疹子",
    "bounds": "今天天气很好。吃饭了吗",
    "mixed": "docker 容器里的外币换算服务挂了",
    "pangu": "我用docker部署了服务",
    "english": "The deployment failed because the Docker daemon was not running.",
    "peanut": "She is allergic to peanuts and has two allergies.",
    "york": "We moved to New York. City life is loud",
    "renew": "renew the lease in yorkshire, the new york office is closed",
    "code": "Use node.js 18 or C++ and call user_id at 10:30, see 2026-02-20",
    "trad": "臺灣的牛肉麵在後面那條街",
    "japanese": "昨日はカレーを食べました。とても辛かったです",
    "halfwidth": "ｶﾞﾗｽのコップが割れた",
    "voiced": "かきくけこ",
    "korean": "저는 매운 음식을 좋아해요",
    "hangul_decomposed": "\u1112\u1161\u11ab\u1100\u116e\u11a8에 갑니다",
    "accent": "The Café in Málaga serves crème brûlée",
    "wide": "ＤＯＣＫＥＲ　ｃｏｍｐｏｓｅ　で起動",
    "astral": "周末去了𠮷野家吃饭",
    "emoji": "🎉🎉 party 🎉",
    "thai": "ฉันชอบกินข้าวผัด",
    "russian": "Ёлка стоит у окна",
    "cats": "cats and dogs",
    "concatenate": "concatenate the files",
    "number": "订单 AB-1234 金额 1,234.50 元，包裹17",
    "parcel": "订单 AB-1235 包裹18",
    "gap": "不要吃 辣椒",
    "negation": "他从来不喝咖啡",
    "coffee": "他每天喝咖啡",
    "question": "数据库迁移的项目上周完成了，用时三天",
    "weather": "上周的天气真不错，我们去爬山了",
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    database = Database(Path(tmp_path_factory.mktemp("lexical")) / "memory.sqlite3")
    record = Record(database)
    messages = [
        Message(name, "c", "assistant" if name == "coffee" else "user", text, START + timedelta(minutes=number))
        for number, (name, text) in enumerate(TEXTS.items())
    ]
    record.append(Owner("user", "ann"), messages)
    others = [Message(name, "c", "user", text, START) for name, text in TEXTS.items()]
    record.append(Owner("user", "bob"), others)
    yield record
    database.close()


@pytest.fixture
def readable(record: Record) -> ReadableRecord:
    return record.within(Scope("ann").reach())


def ids(found: FoundMessages) -> list[str]:
    return [item.stored.message.message_id for item in found.items]


EXACT = [
    ("不吃辣", {"diet"}),
    ("辣", {"diet", "gap"}),
    ("吃辣", {"diet"}),
    ("过敏", {"allergy"}),
    ("減肥", {"diet"}),
    ("最近在减肥", {"diet"}),
    ("花生过敏", {"allergy"}),
    ("docker 外币换算", {"mixed"}),
    ("外币", {"mixed"}),
    ("换算", {"mixed"}),
    ("docker", {"mixed", "pangu", "english", "wide"}),
    ("DOCKER", {"mixed", "pangu", "english", "wide"}),
    ("ｄｏｃｋｅｒ", {"mixed", "pangu", "english", "wide"}),
    ("用docker部署", {"pangu"}),
    ('"用 docker 部署"', {"pangu"}),
    ("容器里的外币", {"mixed"}),
    ("运行 docker", set()),
    ("牛肉面", {"trad"}),
    ("台湾", {"trad"}),
    ("臺灣", {"trad"}),
    ("后面", {"trad"}),
    ("カレー", {"japanese"}),
    ("レー", {"japanese"}),
    ("食べました", {"japanese"}),
    ("ガラス", {"halfwidth"}),
    ("ガラ", {"halfwidth"}),
    ("カラス", set()),
    ("がき", set()),
    ("かき", {"voiced"}),
    ("음식", {"korean"}),
    ("매운 음식", {"korean"}),
    ("좋아", {"korean"}),
    ("한국", {"hangul_decomposed"}),
    ("cafe", {"accent"}),
    ("malaga", {"accent"}),
    ("CRÈME", {"accent"}),
    ("compose", {"wide"}),
    ("𠮷野家", {"astral"}),
    ("𠮷", {"astral"}),
    ("野家", {"astral"}),
    ("party", {"emoji"}),
    ("ข้าวผัด", {"thai"}),
    ("ёлка", {"russian"}),
    ("елка", {"russian"}),
    ("cat", {"cats"}),
    ("dogs", {"cats"}),
    ("concat", set()),
    ("allergies", {"peanut"}),
    ("peanut", {"peanut"}),
    ('"peanut"', set()),
    ('"new york"', {"york", "renew"}),
    ('"york city"', set()),
    ('"new york city"', set()),
    ('"lease in yorkshire"', {"renew"}),
    ('"ew york"', set()),
    ("node.js", {"code"}),
    ("C++", {"code"}),
    ("c#", set()),
    ("user_id", {"code"}),
    ("10:30", {"code"}),
    ("10:3", set()),
    ("2026-02-20", {"code"}),
    ("AB-1234", {"number"}),
    ("1,234.50", {"number"}),
    ("包裹17", {"number"}),
    ("包裹 18", {"parcel"}),
    ("好吃", set()),
    ("过敏吃", set()),
    ("辣最近", set()),
    ("要吃辣", set()),
    ("“不吃辣”", {"diet"}),
    ("「食べました」", {"japanese"}),
    ("不吃辣？", {"diet"}),
    ("不吃辣，减肥！", {"diet"}),
    ("docker AND 外币", {"mixed"}),
    ("docker NOT 外币", {"pangu", "english", "wide"}),
    ("docker NOT (外币 OR 部署)", {"english", "wide"}),
    ("咖啡 NOT 不喝", {"coffee"}),
    ("不喝 OR 过敏", {"negation", "allergy"}),
    ('docker AND NOT "docker daemon was"', {"mixed", "pangu", "wide"}),
    ("(外币 OR 部署) AND docker", {"mixed", "pangu"}),
    ("cats and dogs", {"cats"}),
    ("cats AND dogs", {"cats"}),
    ("NOT NOT 外币", {"mixed"}),
    ("外币 OR NOT docker", {"mixed"}),
    ("AND 外币 OR", {"mixed"}),
    ("外币)) AND ((", {"mixed"}),
    ('外币 "', {"mixed"}),
    ('"外币', {"mixed"}),
    ("外币*", {"mixed"}),
    ("^外币 -docker:", {"mixed"}),
]


@pytest.mark.parametrize(("query", "expected"), EXACT)
def test_a_query_finds_exactly_the_texts_that_say_it(readable: ReadableRecord, query: str, expected: set[str]) -> None:
    """P58, P59, P61, P63: inner words of any length in any script, folded; never across punctuation or a boundary."""
    found = readable.lexical(query, limit=200)
    assert set(ids(found) if found.mode != "any" else []) == expected


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "\u200b\u200b",
        "\u3000",
        "？！，。",
        "()",
        '""',
        '"""',
        "🎉",
        "🎉🎉 😀",
        "*",
        "---",
        "NOT 外币",
        "\x00",
        "_",
    ],
)
def test_a_query_without_anything_to_look_for_finds_nothing(readable: ReadableRecord, query: str) -> None:
    """P56: blank, punctuation, emoji, zero-width and purely negative queries are empty, not everything."""
    assert readable.lexical(query, limit=200).items == ()
    assert readable.lexical(query, limit=200, ranked=True).items == ()


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize(
    "query",
    [
        "不吃辣" * 3_500,
        "word " * 2_000,
        " ".join(f"w{n}" for n in range(2_500)),
        "x" * 10_000,
        "(" * 10_000,
        "NOT " * 2_500,
        "a OR (" * 1_500 + "b",
        '"a b" AND ' * 1_000,
        "e\u0301" * 5_000,
        "\ue0001 \ue001user",
        "ROW messages_fts : NEAR(a b) {terms}",
        "' OR 1=1 --",
        "\ud800 外币",
        "a\x00b",
    ],
)
def test_no_query_is_an_error_or_finds_everything(readable: ReadableRecord, query: str, ranked: bool) -> None:
    """P56: 10 kB, deep nesting, FTS5 syntax and forged tokens."""
    assert len(readable.lexical(query, limit=200, ranked=ranked).items) < len(TEXTS) / 2


@pytest.mark.parametrize("query", ["AND", "OR", "NOT", "AND OR NOT"])
def test_a_lone_operator_is_a_word(readable: ReadableRecord, query: str) -> None:
    found = readable.lexical(query, limit=200)
    assert found.mode in ("words", "any")
    assert set(ids(found)) <= {"cats", "renew", "code", "peanut", "english"}


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("我对什么过敏？", "allergy"),
        ("数据库迁移的项目后来怎么样了", "question"),
        ("What is she allergic to, is it a peanut?", "peanut"),
        ("why did my deployment fail", "english"),
        ("那家𠮷野家好吃吗", "astral"),
        ("昨日何を食べましたか", "japanese"),
        ("무슨 음식을 좋아하세요", "korean"),
        ("外币换算是用docker跑的吗", "mixed"),
        ("臺灣的牛肉麵好吃嗎", "trad"),
        ("上周爬山的天气如何", "weather"),
    ],
)
def test_a_question_ranks_the_text_that_answers_it_first(readable: ReadableRecord, question: str, best: str) -> None:
    """P61: any term counts, pairs and words before lone characters; stop words do not."""
    found = readable.lexical(question, limit=10)
    assert found.mode == "any"
    assert ids(found)[0] == best
    assert ids(readable.lexical(question, limit=10, ranked=True))[0] == best


def test_sharing_only_common_characters_is_no_hit(readable: ReadableRecord) -> None:
    """P61: one-character noise does not match half the log."""
    assert len(ids(readable.lexical("他的小狗今天不在这里的公园里了吗", limit=200))) < 8
    assert ids(readable.lexical("你是谁的什么", limit=200)) == []
    assert ids(readable.lexical("what is it that you are", limit=200)) == []


def test_scores_lie_between_0_and_1_and_order_the_hits(readable: ReadableRecord) -> None:
    for query in ("docker", "辣", "docker 服务 daemon 吃饭", "the new york office"):
        for ranked in (False, True):
            scores = [item.score for item in readable.lexical(query, limit=50, ranked=ranked).items]
            assert scores == sorted(scores, reverse=True)
            assert all(0 < score <= 1 for score in scores)


def test_more_of_the_query_scores_higher(readable: ReadableRecord) -> None:
    found = readable.lexical("docker 外币换算 部署", limit=50, ranked=True)
    assert ids(found)[0] == "mixed"
    assert found.items[0].score > found.items[1].score


def test_ties_are_ordered_newest_first(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.sqlite3")
    record = Record(database)
    same = [Message(f"m{n}", "c", "user", "外币换算", START + timedelta(seconds=n // 2)) for n in range(10)]
    record.append(Owner("user", "ann"), same)
    found = record.within(Scope("ann").reach()).lexical("外币", limit=7)
    assert ids(found) == [f"m{n}" for n in range(9, 2, -1)]
    database.close()


def test_filters_narrow_before_the_limit(readable: ReadableRecord) -> None:
    assert ids(readable.lexical("咖啡", MessageFilter(role="assistant"), limit=1)) == ["coffee"]
    assert ids(readable.lexical("咖啡", MessageFilter(role="user"), limit=1)) == ["negation"]
    assert ids(readable.lexical("咖啡", MessageFilter(role="tool"), limit=1)) == []
    assert ids(readable.lexical("咖啡", MessageFilter(conversation_id="other"), limit=1)) == []
    assert ids(readable.lexical("咖啡", MessageFilter(sender_id="x"), limit=1)) == []


@pytest.mark.parametrize("ranked", [False, True])
def test_since_is_inclusive_and_until_exclusive(readable: ReadableRecord, ranked: bool) -> None:
    at = int(readable.get(["coffee"])[0].message.ts.timestamp() * 1000)
    for since, until, expected in ((at, at + 1, ["coffee"]), (at + 1, None, []), (None, at, ["negation"])):
        wanted = MessageFilter(since_ms=since, until_ms=until)
        assert ids(readable.lexical("咖啡", wanted, limit=9, ranked=ranked)) == expected


def test_another_users_equal_texts_are_out_of_reach(record: Record) -> None:
    """P45: the same words stored by another user, and by nobody in reach."""
    for query in ("不吃辣", "docker", "我对什么过敏？", "外币 OR docker"):
        found = record.within(Scope("bob").reach()).lexical(query, limit=99)
        assert {item.stored.owner_key for item in found.items} == {"user:bob"}
        assert record.within(Scope("eve").reach()).lexical(query, limit=99).items == ()
        assert record.within(frozenset()).lexical(query, limit=99).items == ()


def test_more_matches_than_are_ranked_are_reported(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.sqlite3")
    record = Record(database)
    many = [Message(f"m{n}", "c", "user", f"外币{n}", START + timedelta(seconds=n)) for n in range(600)]
    record.append(Owner("user", "ann"), many)
    readable = record.within(Scope("ann").reach())
    assert readable.lexical("外币", limit=5).capped
    assert not readable.lexical("外币7", limit=5).capped
    assert len(readable.lexical("外币", limit=600).items) == 600
    database.close()


def add(database: Database, index: LexicalIndex, row: int, text: str, epoch_ms: int, key: str = "user:a") -> None:
    with database.write() as connection:
        connection.execute(
            "INSERT INTO profile_lines (row, entity_type, entity_id, shown_in, text, epoch_ms)"
            " VALUES (?, 'user', 'a', 'private', ?, ?)",
            (row, text, epoch_ms),
        )
        index.add(connection, row, text, [key])


def test_an_index_whose_rows_are_not_in_order_of_time_filters_and_orders_by_its_base_table(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.sqlite3")
    index = LexicalIndex("profile_lines", table="profile_lines", time="t.epoch_ms")
    for row, ms in ((1, 300), (2, 100), (3, 200)):
        add(database, index, row, f"喜欢喝茶{row}", ms)
    add(database, index, 4, "喜欢喝茶4", 400, "user:b")
    reach = frozenset({"user:a"})
    between = Within(condition="t.epoch_ms >= ? AND t.epoch_ms < ?", parameters=(100, 300))
    with database.read() as connection:
        for ranked in (False, True):
            found = index.search(connection, reach, "喝茶", limit=9, ranked=ranked)
            assert [hit.row for hit in found.hits] == [1, 3, 2]
            found = index.search(connection, reach, "喝茶", limit=9, within=between, ranked=ranked)
            assert [hit.row for hit in found.hits] == [3, 2]
    database.close()


def test_removed_rows_are_not_found_and_scrubbing_takes_their_terms_off_the_disk(tmp_path: Path) -> None:
    """P102: the word index forgets, too."""
    database = Database(tmp_path / "memory.sqlite3")
    index = LexicalIndex("profile_lines", table="profile_lines", time="t.epoch_ms")
    add(database, index, 1, "secretword 喝茶", 1)
    add(database, index, 2, "喝茶", 2)
    with database.write() as connection:
        index.remove(connection, 1)
        index.remove(connection, 99)
        connection.execute("DELETE FROM profile_lines WHERE row = 1")
    with database.write() as connection:
        index.scrub(connection)
    database.checkpoint()
    with database.read() as connection:
        assert [h.row for h in index.search(connection, frozenset({"user:a"}), "喝茶", limit=9).hits] == [2]
        assert index.search(connection, frozenset({"user:a"}), "secretword", limit=9).hits == ()
    for file in tmp_path.iterdir():
        assert b"secretword" not in file.read_bytes()
    database.close()


def test_a_rebuilt_index_finds_the_same(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.sqlite3")
    index = LexicalIndex("profile_lines", table="profile_lines", time="t.epoch_ms")
    add(database, index, 1, "喜欢喝茶", 1)
    with database.write() as connection:
        index.rebuild(connection)
        index.rebuild(connection)
    with database.read() as connection:
        assert [h.row for h in index.search(connection, frozenset({"user:a"}), "喝茶", limit=9).hits] == [1]
        assert index.search(connection, frozenset({"user:b"}), "喝茶", limit=9).hits == ()
    database.close()
