"""Text files without a mark of their encoding: Western ones are not taken for Chinese, Chinese ones stay Chinese."""

from __future__ import annotations

from pathlib import Path

import pytest

from historian.formats.encodings import encoding_of
from historian.formats.piece import HEAD_BYTES
from tests.kit.exports import seen

HEADING = "time,content,sender\n"

WESTERN = [
    ("Grüße aus Köln", "Jörg"),
    ("café", "Renée"),
    ("élève", "blåbær"),
    ("él", "Ana"),
    ("informação", "Inês"),
    ("ça", "Zoë"),
    ("Übung\nÄrger, Öl", "Jürgen"),
    ("d’été à l’école, où ça naïve créée", "André"),
    ("¿Qué tal? ¡Muy bien! — “sí”", "Íñigo"),
    ("Não há informação sobre as eleições. INFORMAÇÃO", "João"),
    ("it’s fine – ok… 5 €, £5, 20°C, ½", "Mira"),
    ("på väg, är öl å", "Åsa"),
    ("Smørrebrød", "Ærø"),
]
CHINESE = [
    ("你好，世界", "张三"),
    ("ok", "婷婷"),
    ("hi婷婷", "Mira"),
    ("see you", "陶喆"),
    ("A和B", "Mira"),
    ("用vue撸代码，GPT写的，OK", "李喆and王"),
    ("“好”", "Jorg"),
    ("我們說話，會為個頭髮長了", "龍"),
    ("明天😀去苏州吗？", "米拉"),
    ("Grüße 和你好", "小夏"),
]


def table(said: str, name: str, encoding: str) -> bytes:
    return (HEADING + f'2024-01-01 10:00,"{said}",{name}\n').encode(encoding)


@pytest.mark.parametrize(("said", "name"), WESTERN)
def test_a_western_table_is_read_as_what_was_written(tmp_path: Path, said: str, name: str) -> None:
    (tmp_path / "excel.csv").write_bytes(table(said, name, "cp1252"))
    found = seen(tmp_path / "excel.csv")
    assert found.column("content") == [said]
    assert found.column("sender_name") == [name]


@pytest.mark.parametrize(("said", "name"), CHINESE)
@pytest.mark.parametrize("encoding", ["gb18030", "utf-8", "utf-16"])
def test_a_chinese_table_is_read_as_what_was_written(tmp_path: Path, said: str, name: str, encoding: str) -> None:
    (tmp_path / "excel.csv").write_bytes(table(said, name, encoding))
    found = seen(tmp_path / "excel.csv")
    assert found.column("content") == [said]
    assert found.column("sender_name") == [name]


def test_chats_as_text_are_read_in_either_encoding(tmp_path: Path) -> None:
    western = tmp_path / "WhatsApp Chat mit Jörg.txt"
    western.write_bytes("31.12.20, 21:41 - Jörg: Schöne Grüße\n31.12.20, 21:42 - Mira: für dich?\n".encode("cp1252"))
    chinese = tmp_path / "qq.txt"
    chinese.write_bytes(
        "消息记录\n消息对象:小夏\n\n2021-02-03 9:05:00 小夏(123456)\n梨树开花了\nAnna 说 OK\n".encode("gbk")
    )
    assert seen(western).column("content") == ["Schöne Grüße", "für dich?"]
    assert seen(western).column("sender_name") == ["Jörg", "Mira"]
    assert seen(chinese).column("content") == ["梨树开花了\nAnna 说 OK"]
    assert seen(chinese).column("conversation_id") == ["qq:小夏"]


def test_a_folder_may_mix_encodings_since_each_file_is_told_alone(tmp_path: Path) -> None:
    for at, (said, encoding) in enumerate([("Grüße", "cp1252"), ("你好", "gbk"), ("Grüße 你好", "utf-8")]):
        (tmp_path / f"{at}.csv").write_bytes(table(said, "Jo", encoding))
    assert seen(tmp_path).column("content") == ["Grüße", "你好", "Grüße 你好"]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("梨树开花了，明天去苏州。", "utf-8"), ("梨树开花了，明天去苏州。", "gb18030"), ("Grüße ", "cp1252")],
)
def test_a_damaged_byte_costs_its_message_and_not_the_file(tmp_path: Path, text: str, encoding: str) -> None:
    row = f"2024-01-01 10:00,{text},Jo\n".encode(encoding)
    damaged = b"2024-01-01 10:01,\x81,Jo\n"
    (tmp_path / "damaged.csv").write_bytes(HEADING.encode() + row + damaged + row)
    first, broken, last = seen(tmp_path / "damaged.csv").column("content")
    assert first == last == text.strip()
    assert broken == "\udc81"  # which the memory refuses by name


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
@pytest.mark.parametrize("shift", range(4))
def test_a_head_that_ends_within_a_character_is_told_all_the_same(encoding: str, shift: int) -> None:
    head = (b"x" * shift + "我們說話，你好Python".encode(encoding) * 20_000)[:HEAD_BYTES]
    assert encoding_of(head, whole=False) == encoding


@pytest.mark.parametrize("head", [b"", b"plain", b"\xff\xff\xff", b"\x80", b"\x81", b"caf\xe9", bytes(range(256))])
def test_whatever_the_bytes_are_there_is_an_answer(head: bytes) -> None:
    for whole in (True, False):
        head.decode(encoding_of(head, whole=whole), "surrogateescape")
