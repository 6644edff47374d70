"""`shiguan reindex`: every vector anew from the truth."""

from __future__ import annotations

import argparse

from historian.clock import SystemClock
from historian.hold import FolderHold
from historian.rebuilding import rebuild_vectors
from server.commands.common import say, settings_from
from server.composition import open_household, vector_store


def reindex(arguments: argparse.Namespace) -> int:
    """Rebuild the collections with the configured embedder. Nothing else is deleted.

    Raises:
        FolderInUseError: a server runs on the folder.
    """
    settings = settings_from(arguments)
    hold = FolderHold(settings.data_dir)
    hold.take("reindex")
    try:
        household = open_household(settings)
        try:
            total = rebuild_vectors(
                household.engine,
                household.indexer,
                lambda embedder: vector_store(settings, embedder, SystemClock()),
            )
        finally:
            household.close()
    finally:
        hold.release()
    say(f"{total} texts have a new vector of {household.engine.embedder.identity}.")
    return 0
