"""Looking after the vectors: that they can be read, fit the embedding model, and are those of the rows."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from historian.engine import Engine
from historian.errors import ModelError
from historian.finding import Finding, number
from historian.indexer import Indexer
from historian.probe import Probe, probe
from historian.reconciling import difference
from historian.trial import Trial

LOADING_SECONDS = 60.0


class VectorsCheck:
    """The vectors and the embedding model. Search by words goes on while they are examined."""

    name = "vectors"

    def __init__(self, engine: Engine, indexer: Indexer, trial: Trial) -> None:
        self._engine = engine
        self._indexer = indexer
        self._trial = trial

    def find(self, *, fix: bool) -> list[Finding]:
        """Return how the vectors are. With `fix`, a damaged folder is set aside already, since nobody has it open."""
        failure = self._load()
        if failure is not None:
            return [self._error(f"The embedding model cannot be used: {failure}"), *self._leftovers()]
        with _at_rest(self._engine):
            seen = probe(self._trial.folder)
            found = self._compare(seen)
            if seen.damaged and fix:
                self._trial.set_aside()
            elif seen.deadly:
                self._trial.suspect()
        if not found and self._engine.failure is not None:
            found.append(self._error(f"The search by meaning does not start: {self._engine.failure}"))
        return [*found, *self._leftovers()]

    def mend(self) -> None:
        """Delete vectors of no row, make those that are missing, and remove what was damaged once all are there.

        Raises:
            ModelError, StoreError: they cannot be made now; nothing is lost.
        """
        if not self._engine.wait(None):
            return
        self._indexer.reconcile(thorough=True)
        while self._indexer.run_batch():
            pass
        if not self._indexer.waiting():
            self._trial.clear()

    def _load(self) -> str | None:
        try:
            self._engine.embedder.load()
        except ModelError as error:
            return str(error)
        return None

    def _compare(self, seen: Probe) -> list[Finding]:
        if seen.damaged:
            return [self._error("The vectors are damaged; they can be made again from the texts.", fixable=True)]
        identity = self._engine.embedder.identity
        if any(made_by != identity for made_by in seen.embedders.values()):
            sentence = "The vectors were made by another embedding model; run `shiguan reindex`."
            return [self._error(sentence)]
        missing = orphans = 0
        for backlog in self._indexer.backlogs:
            found = difference(backlog, seen.ids.get(backlog.collection, ()), identity)
            missing, orphans = missing + len(found.missing), orphans + len(found.orphans)
        return self._differing(missing, orphans, self._indexer.waiting())

    def _differing(self, missing: int, orphans: int, waiting: int) -> list[Finding]:
        found: list[Finding] = []
        if missing:
            verb = "has" if missing == 1 else "have"
            found.append(self._error(f"{number(missing, 'text')} {verb} lost the vector.", fixable=True))
        if orphans:
            verb = "belongs" if orphans == 1 else "belong"
            found.append(Finding(self.name, "warning", f"{number(orphans, 'vector')} {verb} to no text.", True))
        if waiting:
            verb = "waits" if waiting == 1 else "wait"
            found.append(Finding(self.name, "warning", f"{number(waiting, 'text')} still {verb} for a vector.", True))
        return found

    def _leftovers(self) -> list[Finding]:
        if not self._trial.damaged():
            return []
        return [Finding(self.name, "warning", "Damaged vectors that were set aside take up space.", True)]

    def _error(self, sentence: str, *, fixable: bool = False) -> Finding:
        return Finding(self.name, "error", sentence, fixable)


@contextmanager
def _at_rest(engine: Engine) -> Generator[None]:
    """Run a block while nobody uses the vectors, then load them again and wait until they are ready or failed."""
    engine.wait(LOADING_SECONDS if engine.state == "loading" else 0)
    engine.pause()
    try:
        yield
    finally:
        engine.resume()
    engine.wait(None)
