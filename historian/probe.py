"""Looking at a folder of vectors from a process of its own: a truncated file of Chroma's crashes whoever reads it.

`python -m historian.probe FOLDER` prints what `probe` returns. Nobody else may have the folder open meanwhile.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from historian.chroma import ChromaFolder, ids_of, rows_of, translated
from historian.errors import StoreError

PROBE_SECONDS = 180.0
"""How long reading every vector may take; a damaged index can also make Chroma read for ever."""
_CANNOT_LOOK = 3
_ORPHANED = 4


@dataclass(frozen=True, slots=True)
class Probe:
    """What a folder of vectors holds, by collection: the ids, and which embedding model made it."""

    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    embedders: Mapping[str, str] = field(default_factory=dict[str, str])
    damaged: bool = False
    deadly: bool = False
    """Reading it ends the process, so that it must not be opened again."""


def probe(folder: Path) -> Probe:
    """Read every vector of a folder in a child process. An absent folder holds nothing.

    Raises:
        StoreError: it cannot be looked at here, whatever state it is in.
    """
    if not folder.exists():
        return Probe()
    command = [sys.executable, "-P", "-m", "historian.probe", str(folder)]
    life, ours = os.pipe()  # it ends when this process does, and the child with it
    try:
        done = subprocess.run(command, stdin=life, capture_output=True, timeout=PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Probe(damaged=True, deadly=True)
    except OSError as error:
        raise StoreError("The vectors cannot be examined: no process could be started.") from error
    finally:
        os.close(life)
        os.close(ours)
    if done.returncode == _CANNOT_LOOK:
        raise StoreError("The vectors cannot be examined: the vector store is not installed properly.")
    if done.returncode != 0:
        return Probe(damaged=True, deadly=True)
    said: Any = json.loads(done.stdout.splitlines()[-1])
    ids = {name: tuple(found) for name, found in said["ids"].items()}
    return Probe(ids, said["embedders"], damaged=said["damaged"])


def look(folder: Path) -> dict[str, Any]:
    """Read every vector, here and now, and return what there is as plain JSON."""
    chroma = ChromaFolder(folder, identity="", dimension=0)
    seen: dict[str, Any] = {"ids": {}, "embedders": {}, "damaged": False}
    try:
        chroma.open()
        for name in chroma.mismatched():
            _look_at(chroma, name, seen)
    except StoreError:
        seen["damaged"] = True
    return seen


def _look_at(chroma: ChromaFolder, name: str, seen: dict[str, Any]) -> None:
    collection = chroma.any_collection(name)
    assert collection is not None
    ids = ids_of(collection)
    seen["embedders"][name] = str((collection.metadata or {}).get("embedder"))
    seen["ids"][name] = ids
    read = 0
    for row in rows_of(collection, ids):
        if not read:
            with translated():
                collection.query(
                    query_embeddings=cast("list[Sequence[float]]", [row.vector]), n_results=1, include=["distances"]
                )
        read += 1
    if read != len(ids) or collection.count() != len(ids):
        raise StoreError("Vectors are missing from the index.")


def _end_with_parent() -> None:
    os.read(0, 1)  # not through sys.stdin, whose lock an ending interpreter waits for
    os._exit(_ORPHANED)


def main() -> int:
    """Print what lies in the folder that the command line names."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        seen = look(Path(sys.argv[1]))
    except ImportError:
        return _CANNOT_LOOK
    sys.stdout.write(json.dumps(seen) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
