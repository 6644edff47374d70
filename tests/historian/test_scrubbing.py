"""No stray memory and no deleted vectors in the vector library's folder, and nothing lost by that."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from historian.chroma import ChromaFolder, VectorRecord
from historian.errors import StoreError
from historian.scrubbing import ELEMENTS, HEADER, LENGTHS, index_folders, remove_orphans, scrub, tidy
from tests.kit.scanning import traces

SECRET = "Zyxquork-紫苏鲤鱼-"


def chroma(folder: Path) -> ChromaFolder:
    made = ChromaFolder(folder, identity="test", dimension=32)
    made.open()
    return made


def records(count: int, start: int = 0) -> list[VectorRecord]:
    vectors = np.random.default_rng(7 + start).normal(size=(count, 32)).astype(np.float32)
    return [VectorRecord(str(start + at), one, "user:a", None, 1.0) for at, one in enumerate(vectors)]


def soil() -> None:
    """Leave much memory behind that holds a secret, for whoever takes it next without cleaning it."""
    blocks = [bytearray(SECRET.encode() * 1200) for _ in range(50)]
    del blocks


def put(folder: ChromaFolder, name: str, some: list[VectorRecord]) -> None:
    for start in range(0, len(some), 32):
        soil()
        folder.put(folder.made(name), some[start : start + 32])


def found(folder: ChromaFolder, name: str, some: list[VectorRecord]) -> bool:
    """Say whether each vector finds itself first."""
    collection = folder.made(name)
    answers = collection.query(query_embeddings=[one.vector for one in some], n_results=1)["ids"]  # type: ignore[arg-type]
    return [ids[0] for ids in answers] == [one.id for one in some]


def test_an_index_holds_no_stray_memory_from_its_first_row_on(tmp_path: Path) -> None:
    """P102: while the folder is open, after it was closed, and after more rows than a sync writes."""
    folder = chroma(tmp_path)
    for name in ("first", "second", "third", "fourth", "fifth", "sixth"):
        put(folder, name, records(3))
    assert scrub(index_folders(tmp_path)) == 0  # in one of so many there was something
    for name, count in (("messages", 90), ("profiles", 250)):
        put(folder, name, records(count))
    assert traces(tmp_path, SECRET) == []
    folder.close()
    assert scrub(index_folders(tmp_path)) == 0
    again = chroma(tmp_path)
    again.settle()
    assert scrub(index_folders(tmp_path)) == 0  # reading writes indexes of few rows anew
    for name, count in (("sixth", 3), ("messages", 90), ("profiles", 250)):
        assert found(again, name, records(count))
    put(again, "profiles", records(120, start=250))
    assert found(again, "profiles", records(120, start=250))
    again.close()
    assert traces(tmp_path, SECRET) == []


def test_what_stands_behind_the_last_element_goes_and_nothing_else(tmp_path: Path) -> None:
    folder = chroma(tmp_path)
    put(folder, "events", records(150))
    folder.close()
    (index,) = index_folders(tmp_path)
    whole = {name: (index / name).read_bytes() for name in (HEADER, ELEMENTS, LENGTHS)}
    for name in (ELEMENTS, LENGTHS):
        with (index / name).open("ab") as file:
            file.write(SECRET.encode() * 100_000)
    tidy(tmp_path)
    for name, data in whole.items():
        assert (index / name).read_bytes()[: len(data)] == data
    assert traces(tmp_path, SECRET) == []
    again = chroma(tmp_path)
    assert found(again, "events", records(150))
    again.close()


def test_a_deleted_collection_leaves_no_index_on_the_disk(tmp_path: Path) -> None:
    """P3, P102: the library forgets its files, with every vector in them."""
    folder = chroma(tmp_path)
    put(folder, "events", records(150))
    put(folder, "messages", records(20))
    for _ in range(3):
        assert folder.rewrite("events") == 150
    folder.drop("messages")
    folder.close()
    assert len(index_folders(tmp_path)) == 1
    again = chroma(tmp_path)
    assert found(again, "events", records(150))
    again.close()


def test_a_form_that_is_not_known_is_left_alone_and_said(tmp_path: Path) -> None:
    folder = chroma(tmp_path)
    put(folder, "events", records(5))
    folder.close()
    (index,) = index_folders(tmp_path)
    header = (index / HEADER).read_bytes()
    (index / ELEMENTS).write_bytes(b"x" * 1000)
    for strange in (b"", header[:20], struct.pack("<i", 2) + header[4:], header[:20] + b"\xff" * 8 + header[28:]):
        (index / HEADER).write_bytes(strange)
        with pytest.raises(StoreError, match="reindex"):
            tidy(tmp_path)
        assert (index / ELEMENTS).read_bytes() == b"x" * 1000


def test_where_the_list_of_collections_cannot_be_read_nothing_is_removed(tmp_path: Path) -> None:
    folder = chroma(tmp_path)
    put(folder, "events", records(5))
    folder.close()
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match="reindex"):
        remove_orphans(tmp_path)
    assert len(index_folders(tmp_path)) == 1
    assert remove_orphans(tmp_path / "nothing") == 0
