"""Whatever lies in a file or an archive: no traceback, no partial record, and always a report."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from historian.errors import InvalidInputError
from historian.formats.piece import Reading
from historian.formats.registry import AUTO, NAMES, chosen
from historian.intake import message_from
from historian.takeout import kept_from
from server.imports.importer import Importer, Plan
from server.imports.reports import Report
from server.imports.sources import opened
from tests.kit.exports import FIXTURES

ZONE = ZoneInfo("Asia/Shanghai")
FILES = sorted(path for path in FIXTURES.rglob("*") if path.is_file())
QUIET = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "mapping",
                    "message",
                    "messages",
                    "chat_messages",
                    "uuid",
                    "id",
                    "type",
                    "text",
                    "content",
                    "ts",
                    "role",
                    "sender",
                    "author",
                    "parent",
                    "children",
                    "sessionId",
                    "payload",
                    "timestamp",
                    "entity",
                    "name",
                    "observations",
                    "memory",
                    "hash",
                    "channel",
                    "guild",
                    "date",
                    "from_id",
                    "self_id",
                    "post_type",
                    "message_type",
                    "user_id",
                    "conversation_id",
                    "create_time",
                    "chats",
                    "list",
                    "user",
                    "subtype",
                ]
            )
            | st.text(max_size=5),
            inner,
            max_size=8,
        )
    ),
    max_leaves=30,
)


def imported(path: Path, format_name: str = AUTO) -> tuple[Report, list[Any]]:
    """Import without a memory; every message that would be stored must be a whole one."""
    stored: list[Any] = []
    report = Report()

    def store(messages: list[Any]) -> dict[str, Any]:
        json.dumps(messages)
        failed: list[tuple[int, str]] = []
        for index, raw in enumerate(messages):
            try:
                stored.append(message_from(raw, ZONE))
            except InvalidInputError as error:
                failed.append((index, str(error)))
        return {"inserted": len(messages) - len(failed), "ignored": 0, "failed": failed}

    def take_in(lines: list[Any]) -> dict[str, Any]:
        json.dumps(lines)
        failed: list[tuple[int, str]] = []
        held = 0
        for index, line in enumerate(lines):
            try:
                kept = kept_from(line)
            except InvalidInputError as error:
                failed.append((index, str(error)))
                continue
            held += kept is not None
            stored.extend([kept] if kept is not None else [])
        return {"inserted": held, "ignored": 0, "failed": failed}

    plan = Plan(chosen(format_name), format_name, Reading("mira", ZONE))
    with opened([str(path)]) as bundles:
        Importer(plan, report, store, lambda _done, _messages: None, take_in).run(bundles)
    assert report.inserted == len(stored)
    assert report.summary(dry=False)[0].endswith("refused.")
    assert all("Traceback" not in line and len(line) < 1_000 for line in report.complaints())
    return report, stored


@QUIET
@given(st.sampled_from(FILES), st.randoms(use_true_random=False))
def test_a_damaged_export_is_read_as_far_as_it_goes(tmp_path: Path, file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(rng.randint(1, 12)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(4):
            case 0:
                del data[at : at + rng.randint(1, 60)]
            case 1:
                data[at:at] = rng.randbytes(rng.randint(1, 8))
            case 2:
                data[at:at] = data[: rng.randint(0, 300)]
            case _:
                del data[at:]
    target = tmp_path / file.name
    target.write_bytes(data)
    for name in (AUTO, rng.choice(NAMES)):
        imported(target, name)


@QUIET
@given(st.lists(json_values, max_size=5), st.sampled_from(["a.json", "a.jsonl", "2020-01-01.json"]), st.randoms())
def test_json_of_any_shape_is_read_or_refused(tmp_path: Path, values: list[Any], name: str, rng: random.Random) -> None:
    lines = name.endswith(".jsonl")
    target = tmp_path / name
    target.write_text("\n".join(map(json.dumps, values)) if lines else json.dumps(values), encoding="utf-8")
    for form in (AUTO, *rng.sample(NAMES, 4)):
        imported(target, form)


@QUIET
@given(st.text(max_size=400), st.sampled_from([*NAMES]), st.sampled_from(["a.txt", "a.csv", "a.md", "a.bin"]))
def test_text_of_any_kind_is_read_or_refused(tmp_path: Path, text: str, form: str, name: str) -> None:
    target = tmp_path / name
    target.write_bytes(text.encode("utf-8", "surrogatepass"))
    imported(target, form)


@QUIET
@given(st.randoms(use_true_random=False))
def test_a_damaged_archive_is_read_as_far_as_it_goes(tmp_path: Path, rng: random.Random) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in rng.sample(FILES, 4):
            archive.write(file, f"export/{file.parent.name}/{file.name}")
    data = bytearray(packed.getvalue())
    for _ in range(rng.randint(1, 6)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.3:
        del data[rng.randrange(len(data)) :]
    target = tmp_path / "export.zip"
    target.write_bytes(data)
    try:
        imported(target)
    except InvalidInputError as error:
        assert "damaged" in str(error)


def test_an_archive_cannot_lead_out_of_itself_nor_fill_the_memory(tmp_path: Path) -> None:
    """No member is ever written to the disk, whatever its name; a bomb is refused."""
    target = tmp_path / "export.zip"
    bomb = b'{"type": "user"}\n' * (6 * 2**20)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("../../escaped.jsonl", (FIXTURES / "jsonl/plain.jsonl").read_bytes())
        archive.writestr("/etc/\x1b[2Jplain.jsonl", (FIXTURES / "jsonl/plain.jsonl").read_bytes())
        archive.writestr("bomb.jsonl", bomb)
    report, stored = imported(target)
    assert len(stored) == 2
    assert report.named == ["bomb.jsonl, file: It would become suspiciously large when unpacked, so it is left out."]
    assert sorted(path.name for path in tmp_path.parent.rglob("*escaped*")) == []


def test_an_encrypted_archive_says_so(tmp_path: Path) -> None:
    target = tmp_path / "export.zip"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("plain.jsonl", (FIXTURES / "jsonl/plain.jsonl").read_bytes())
    data = bytearray(target.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    target.write_bytes(data)
    report, stored = imported(target)
    assert stored == []
    assert "encrypted" in report.named[0]


@pytest.mark.parametrize("name", ["whatsapp", "qq", "csv", "jsonl", "claude-code"])
def test_a_line_of_ten_megabytes_costs_one_refusal(tmp_path: Path, name: str) -> None:
    target = tmp_path / "long.txt"
    head = {
        "whatsapp": "12/30/20, 9:42 PM - A: ",
        "qq": "2019-03-02 9:05:01 A(12345)\n",
        "csv": "time,content\n2020-01-01,",
    }
    target.write_text(head.get(name, '{"content": "') + "长x" * 5_000_000 + "\n", encoding="utf-8")
    report, stored = imported(target, name)
    assert stored == []
    assert report.refused >= 1


@pytest.mark.parametrize("levels", [220, 2_000, 60_000])
@pytest.mark.parametrize("name", ["list.json", "lines.jsonl"])
def test_a_record_that_is_nested_deep_is_refused_alone(tmp_path: Path, name: str, levels: int) -> None:
    said = '{"conversation_id": "c", "role": "user", "content": "%s", "ts": "2026-01-01T00:00:00Z"%s}'
    deep = f', "meta": {{"x": {"[" * levels}{"]" * levels}}}'
    records = [said % ("one", ""), said % ("two", deep), said % ("three", "")]
    target = tmp_path / name
    target.write_text("\n".join(records) if name.endswith(".jsonl") else f"[{', '.join(records)}]", encoding="utf-8")
    report, stored = imported(target)
    assert [message.content for message in stored] == ["one", "three"]
    assert report.refused == 1
    assert "2" in report.named[0]


@pytest.mark.parametrize("form", [AUTO, "json", "telegram", "claude-ai"])
def test_nothing_but_opening_brackets_costs_no_more_than_its_length(tmp_path: Path, form: str) -> None:
    target = tmp_path / "brackets.json"
    target.write_bytes(b"[" * 400_000)
    report, stored = imported(target, form)
    assert stored == []
    assert report.refused == 1
