"""ChromaDB's embedded client, behind the few calls that are needed. Imported and opened by one process only.

Chroma holds ids, unit vectors and four scalars; never a document, because deleted text stays readable in its files.
`embedding_function=None` always, since its default downloads a model.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from historian.descriptors import wait_until_let_go
from historian.errors import EmbeddingMismatchError, StoreError
from historian.matrices import Row, Window
from historian.scrubbing import DATABASE, index_folders, scrub, tidy

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import Where
    from numpy.typing import NDArray

CLOSING_SECONDS = 5.0
"""How long a reader that is under way, and the library's own threads, may take to let go of a folder."""
_SYNC_THRESHOLD = 100
_COPY = "copy-being-made"
_COPIED = 64
_PAGE = 256  # vectors read a call: Chroma holds the interpreter lock meanwhile
_MISMATCH = (
    "The stored vectors were made by another embedding model; run `shiguan reindex` to embed everything again, "
    "or set the former model. Search by words works meanwhile."
)
_log = logging.getLogger(__name__)
_NOT_OPEN = "The vector store is not open yet; try again in a moment."


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """One vector and what it is filtered by.

    `owner` is an owner's key (`user:U`, `group:G`), `author` the audience key of who said it (`author:U`) or None.
    `epoch` is in seconds. The vector need not be of unit length.
    """

    id: str
    vector: NDArray[np.float32]
    owner: str
    author: str | None
    epoch: float


@contextmanager
def translated() -> Generator[None]:
    """Turn what Chroma raises into StoreError."""
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, OSError, RuntimeError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise StoreError(
            "The vector store cannot do its work now; check free space and permissions of the data folder."
        ) from error


class ChromaFolder:
    """One folder of collections, all made by one embedding model."""

    def __init__(self, path: Path, *, identity: str, dimension: int) -> None:
        self._path = path
        self._identity = identity
        self._dimension = dimension
        self._client: Client | None = None
        self._collections: dict[str, Collection] = {}

    def open(self) -> None:
        """Load chromadb and open the folder, making it if need be. Slow; not for the event loop. Raises StoreError."""
        import chromadb
        from chromadb.config import Settings

        try:
            with translated():
                self._path.mkdir(parents=True, exist_ok=True)
                settings = Settings(anonymized_telemetry=False)
                self._client = cast("Client", chromadb.PersistentClient(path=str(self._path), settings=settings))
                for known in self._client.list_collections():
                    self._collections[known.name] = self._client.get_collection(known.name, embedding_function=None)
        except StoreError:
            self.close()
            _forget_failed(str(self._path))
            raise

    def close(self) -> None:
        """Let go of the folder, and tidy up what the library leaves in it. Closing twice is no error."""
        client, self._client = self._client, None
        self._collections.clear()
        if client is not None:
            with translated():
                client.close()
            if not wait_until_let_go(self._path / DATABASE, CLOSING_SECONDS):
                _log.warning("the vector library still has its folder open; what it left there stays for now")
                return
            try:
                tidy(self._path)
            except StoreError as error:
                _log.warning("what the vector library left in its folder stays for now: %s", error)

    def reopen(self) -> None:
        """Open the folder anew after a failure, whatever became of the old handles. Raises StoreError."""
        try:
            self.close()
        except StoreError:
            _forget_failed(str(self._path))
        self.open()
        self.settle()

    def settle(self) -> None:
        """Read every index, which is what a damaged file does not survive, and scrub what reading wrote.

        The library writes an index of few rows anew, full of stray memory, when it reads it. Only before others use it.

        Raises:
            StoreError: an index cannot be read.
        """
        with translated():
            for collection in self._collections.values():
                collection.count()
        with suppress(StoreError):
            scrub(index_folders(self._path))

    def mismatched(self) -> list[str]:
        """Return the names of collections that another model made."""
        return sorted(name for name in self._collections if not self._matches(name))

    def collection(self, name: str) -> Collection | None:
        """Return a collection that this model made, None when there is none. Raises EmbeddingMismatchError."""
        if name in self._collections and not self._matches(name):
            raise EmbeddingMismatchError(_MISMATCH)
        return self.any_collection(name)

    def any_collection(self, name: str) -> Collection | None:
        """Return a collection whoever made it: for counting and deleting."""
        if self._client is None:
            raise StoreError(_NOT_OPEN)
        return self._collections.get(name)

    def made(self, name: str) -> Collection:
        """Return a collection of this model, making it if need be. Raises EmbeddingMismatchError."""
        found = self.collection(name)
        if found is None:
            assert self._client is not None
            with translated():
                found = self._client.create_collection(
                    name,
                    embedding_function=None,
                    metadata={"embedder": self._identity, "dimension": self._dimension},
                    configuration={"hnsw": {"space": "cosine", "sync_threshold": _SYNC_THRESHOLD}},
                )
            self._collections[name] = found
        return found

    def drop(self, name: str) -> None:
        """Delete a collection with all its vectors, whoever made it."""
        if self.any_collection(name) is not None:
            assert self._client is not None
            with translated():
                self._client.delete_collection(name)
            del self._collections[name]

    def rewrite(self, name: str) -> int:
        """Copy a collection into a new one, which takes its name; return the number of its rows."""
        found = self.collection(name)
        if found is None:
            return 0
        self.drop(_COPY)
        copy, ids = self.made(_COPY), ids_of(found)
        for start in range(0, len(ids), _COPIED):
            with translated(), self._scrubbed():
                chosen = ids[start : start + _COPIED]
                page = found.get(ids=chosen, include=["embeddings", "metadatas"])
                copy.upsert(ids=page["ids"], embeddings=page["embeddings"], metadatas=page["metadatas"])
        self.drop(name)
        with translated():
            copy.modify(name=name)
        del self._collections[_COPY]
        self._collections[name] = copy
        return len(ids)

    def put(self, collection: Collection, records: Sequence[VectorRecord]) -> None:
        """Write records; at most 5 461, with distinct ids. Every key is always written, since `upsert` merges."""
        with translated(), self._scrubbed():
            collection.upsert(
                ids=[record.id for record in records],
                embeddings=cast("list[Sequence[float]]", [record.vector for record in records]),
                metadatas=[
                    {
                        "owner": record.owner,
                        "author": record.author or "",
                        "epoch": float(record.epoch),
                        "model": self._identity,
                    }
                    for record in records
                ],
            )

    @contextmanager
    def _scrubbed(self) -> Generator[None]:
        """Scrub indexes that the block makes: the library writes them with the first row, full of stray memory.

        Nothing else is written to them before row number `_SYNC_THRESHOLD`, so that this cannot meet a write.
        """
        before = index_folders(self._path)
        yield
        with suppress(StoreError):  # forgetting says so, if it cannot be done then either
            scrub(index_folders(self._path) - before)

    def _matches(self, name: str) -> bool:
        metadata = self._collections[name].metadata or {}
        return metadata.get("embedder") == self._identity and metadata.get("dimension") == self._dimension


def _forget_failed(path: str) -> None:
    """Let Chroma open a folder anew: it keeps what failed to start, and would hand that out at every later try."""
    from chromadb.api.shared_system_client import SharedSystemClient as Shared

    if not Shared._identifier_to_refcount.get(path):  # pyright: ignore[reportPrivateUsage]
        Shared._identifier_to_system.pop(path, None)  # pyright: ignore[reportPrivateUsage]


def ids_of(collection: Collection, audience: str | None = None) -> list[str]:
    """Return the ids of all rows, or of those that one audience may read."""
    with translated():
        if audience is None:
            return list(collection.get(include=[])["ids"])
        return list(collection.get(where={_field(audience): audience}, include=[])["ids"])


def rows_of(collection: Collection, ids: Sequence[str]) -> Iterator[Row]:
    """Read rows by id, page by page. Ids that are gone are left out."""
    import numpy as np

    for start in range(0, len(ids), _PAGE):
        with translated():
            page = collection.get(ids=list(ids[start : start + _PAGE]), include=["embeddings", "metadatas"])
            vectors = np.asarray(page["embeddings"], dtype=np.float32)
            metadatas = page["metadatas"] or []
            epochs = [float(cast(float, metadata["epoch"])) for metadata in metadatas]
        for one, vector, epoch in zip(page["ids"], vectors, epochs, strict=True):
            yield Row(one, vector, epoch)


def nearest(
    collection: Collection, audiences: Sequence[str], vector: NDArray[np.float32], k: int, window: Window
) -> list[tuple[str, float]]:
    """Ask Chroma's index for the k nearest rows that any of the audiences may read, as (id, cosine)."""
    where = _where(audiences, window)
    with translated():
        found = collection.query(
            query_embeddings=cast("list[Sequence[float]]", [vector]), n_results=k, where=where, include=["distances"]
        )
        distances = found["distances"] or [[]]
        return [(one, 1.0 - float(distance)) for one, distance in zip(found["ids"][0], distances[0], strict=True)]


def _where(audiences: Sequence[str], window: Window) -> Where:
    clauses: list[dict[str, object]] = [{_field(one): one} for one in audiences]
    where: dict[str, object] = clauses[0] if len(clauses) == 1 else {"$or": clauses}
    bounds: list[dict[str, object]] = []
    if math.isfinite(window.since):
        bounds.append({"epoch": {"$gte": float(window.since)}})
    if math.isfinite(window.until):
        bounds.append({"epoch": {"$lt": float(window.until)}})
    return cast("Where", {"$and": [where, *bounds]} if bounds else where)


def _field(audience: str) -> str:
    return "author" if audience.startswith("author:") else "owner"
