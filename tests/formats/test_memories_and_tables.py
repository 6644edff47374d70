"""Memories of other programs, tables and plain messages."""

from __future__ import annotations

from historian.formats.registry import NAMES, all_formats
from tests.kit.exports import FIXTURES, seen


def test_memories_of_mem0_and_openmemory_are_statements_with_their_times() -> None:
    found = seen("mem0")
    assert found.facts == ["Mira is allergic to walnuts", "米拉住在隆德", "Mira sings alto"]
    assert found.column("ts")[1] == "2024-08-01T10:00:00-07:00"
    assert set(found.column("role")) == {"assistant"}
    assert found.passed["notices of the program"] == 1


def test_a_note_of_basic_memory_is_one_message_with_its_observations_and_relations() -> None:
    found = seen("basic-memory")
    assert found.facts == ["Lin Xia: Plays the erhu", "Lin Xia drinks oolong", "Lin Xia lives in Suzhou."]
    assert found.column("message_id") == ["basic-memory:people/lin-xia"]
    assert found.column("ts") == ["2025-02-03T10:00:00+08:00"]
    assert found.unknown == ["notes/no-front.md"]


def test_the_graph_of_server_memory_becomes_a_statement_for_each_observation_and_relation() -> None:
    found = seen("server-memory")
    assert found.facts == ["Lin_Xia: Plays the erhu", "Lin_Xia speaks Swedish", "Lin_Xia lives in Suzhou."]
    assert found.column("content") == found.facts
    assert len(found.refused) == 2


def test_a_table_may_have_semicolons_cells_of_several_lines_and_a_chinese_encoding() -> None:
    found = seen("csv")
    assert found.column("content") == ["Two lines,\r\nreally", "好的", "梨树开花了"]
    assert found.column("sender_name") == ["Mira", "小夏", "小夏"]
    assert found.column("sender_id") == ["mira", "csv:小夏", "csv:小夏"]  # nobody else's words become the user's own
    assert found.column("ts")[2] == "2022-02-02T09:05"
    assert found.column("conversation_id") == ["garden", "garden", "csv:gbk.csv"]


def test_plain_messages_come_as_lines_or_as_a_list() -> None:
    assert seen("jsonl").column("content") == ["plain line"]
    listed = seen("json")
    assert listed.messages[0]["content"] == "plain list"
    assert listed.messages[1] == 7


def test_every_format_has_a_name_for_the_flag_and_recognises_only_its_own_fixtures() -> None:
    assert {form.name for form in all_formats()} == {*NAMES} - {"auto"}
    for folder in FIXTURES.iterdir():
        name = folder.name.removesuffix("-all").removesuffix("-history")
        assert set(seen(folder).formats) == ({name} if name != "unknown" else set())
