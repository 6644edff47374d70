"""Chats between people: who said what to whom, and at which time of which zone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.exports import seen


def test_telegram_knows_the_zone_from_the_two_times_of_a_message() -> None:
    found = seen("telegram")
    assert found.column("content") == ["明天去苏州吗？", "Yes, the 9:40 train."]
    assert found.column("ts") == ["2023-05-01T16:00:05+08:00", "2023-05-01T16:01:05+08:00"]
    assert found.column("sender_id") == ["telegram:user222", "mira"]
    assert found.messages[1]["reply_to"] == "telegram:987654:2"
    assert found.refused == ["message 5: It has no time."]


def test_an_export_of_all_telegram_chats_says_itself_who_the_user_is() -> None:
    found = seen("telegram-all")
    assert found.column("conversation_id") == ["telegram:222", "telegram:222", "telegram:333"]
    assert found.column("sender_id") == ["telegram:user222", "mira", "telegram:user333"]
    assert found.column("role") == ["user", "user", "assistant"]


def test_discord_messages_have_their_channel_their_authors_and_their_offsets() -> None:
    found = seen("discord")
    assert found.column("content") == ["The pear tree is in bloom.", "梨花开了！", "Reminder set."]
    assert found.column("role") == ["user", "user", "assistant"]
    assert found.column("sender_id") == ["mira", "discord:42", "discord:43"]
    assert found.messages[1]["reply_to"] == "discord:9011"
    assert found.messages[1]["ts"] == "2021-07-20T14:00:12.132+02:00"


def test_slack_names_people_and_has_them_speak_in_their_own_zones() -> None:
    found = seen("slack")
    assert found.formats == {"slack": 5}
    assert not found.unknown  # its tables are no strangers
    by_text = {message["content"]: message for message in found.messages}
    written = by_text["@林夏 see the frost table (https://example.org/frost) & tell @here"]
    assert written["ts"] == "2020-03-01T01:00:01.000200+01:00"
    assert written["sender_id"] == "mira"
    answer = by_text["收到，周三之前看完。"]
    assert answer["ts"] == "2020-03-01T08:00:02.000300+08:00"
    assert answer["reply_to"] == written["message_id"] == "slack:C01:1583020801.000200"
    assert by_text["Deployed"]["role"] == "assistant"
    assert by_text["In private"]["conversation_id"] == "slack:D01"
    assert found.refused == ["message 5: Its ts is no time."]


def test_whatsapp_is_read_in_the_dates_of_four_countries() -> None:
    found = seen("whatsapp")
    assert {(m["content"].split("\n")[0], m["ts"]) for m in found.messages} == {
        ("Shall we meet?", "2020-12-30T21:41:00"),
        ("ok", "2020-12-30T21:42:00"),
        ("Happy new year", "2020-12-31T00:05:00"),
        ("Guten Rutsch", "2020-12-31T21:41:06"),
        ("Danke, gleichfalls!", "2021-01-01T00:00:02"),
        ("到家了", "2021-01-02T21:41:00"),
        ("好", "2021-01-03T00:10:00"),
        ("one", "2019-06-05T10:00:00"),
        ("two", "2019-06-06T10:00:00"),
        ("three", "2019-07-01T10:00:00"),
    }
    assert {m["conversation_id"] for m in found.messages} == {
        f"whatsapp:{n}" for n in ("Marlene", "小夏", "ios", "ambiguous")
    }
    assert "Shall we meet?\nAt the station: 10 am" in found.column("content")
    assert found.refused == ["line 5: There is no such day."]
    assert found.passed["attachments"] == 4


def test_two_equal_messages_of_one_minute_are_two_and_have_the_same_ids_in_every_export(tmp_path: Path) -> None:
    chat = tmp_path / "WhatsApp Chat with Marlene.txt"
    first = "12/30/20, 9:42 PM - Mira: ok\n12/30/20, 9:42 PM - Mira: ok\n"
    chat.write_text(first, encoding="utf-8")
    ids = seen(chat).column("message_id")
    assert len(set(ids)) == 2
    chat.write_text(
        "12/13/20, 8:00 AM - Marlene: earlier\n" + first + "12/31/20, 9:42 PM - Mira: ok\n", encoding="utf-8"
    )
    assert seen(chat).column("message_id")[1:3] == ids


@pytest.mark.parametrize(
    ("line", "ts"),
    [
        ("13/01/2020, 21:05 - A: x", "2020-01-13T21:05:00"),
        ("1/13/20, 9:05\u202fAM - A: x", "2020-01-13T09:05:00"),
        ("[13.01.20, 12:05:09] A: x", "2020-01-13T12:05:09"),
        ("[2020/1/13 上午12:05:09] A: x", "2020-01-13T00:05:09"),
        ("2020. 1. 13. 오후 9:05, A : x", "2020-01-13T21:05:00"),
        ("13-01-20 21:05 - A: x", "2020-01-13T21:05:00"),
        ("13/1/20 9:05 p. m. - A: x", "2020-01-13T21:05:00"),
        ("2020-01-13 21:05 - A: x", "2020-01-13T21:05:00"),
        ("2020/01/13 中午12:05 - A: x", "2020-01-13T12:05:00"),
    ],
)
def test_the_times_of_many_countries_are_understood(tmp_path: Path, line: str, ts: str) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text(line + "\n", encoding="utf-8")
    found = seen(chat)
    assert [(m["content"], m["sender_name"], m["ts"]) for m in found.messages] == [("x", "A", ts)]


def test_onebot_events_come_as_segments_and_as_codes() -> None:
    found = seen("onebot")
    assert found.column("content") == ["@史官 今天种了梨树", "记下了。", "@2002  5 & 6 [号]", "晚安"]
    assert found.column("role") == ["user", "assistant", "user", "assistant"]
    assert found.column("conversation_id") == ["qq:group:700"] * 3 + ["qq:private:2001"]
    assert found.column("reply_to") == [None, "qq:group:700:1", "qq:group:700:2", None]
    assert found.column("sender_name")[0] == "小夏"
    assert found.refused == ["line 7: It says neither group nor person."]


def test_the_answer_of_a_history_call_is_onebot_too() -> None:
    assert seen("onebot-history").column("content") == ["历史消息"]


def test_qq_records_of_several_chats_in_one_file_are_told_apart() -> None:
    found = seen("qq")
    assert found.column("content") == ["你好\n第二行", "开花了", "Really?"]
    assert found.column("conversation_id") == ["qq:小夏", "qq:果园", "qq:果园"]
    assert found.column("sender_id") == ["qq:小夏", "20012002", "qq:ann@example.org"]
    assert found.column("ts")[0] == "2019-03-02T09:05:01"
    assert found.passed == {"attachments": 1, "notices of the program": 1}
