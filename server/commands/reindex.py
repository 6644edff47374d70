"""`shiguan reindex`: every vector anew from the truth."""

from __future__ import annotations

import argparse

from server.commands.common import existing_settings_from, say
from server.owner.ask import conversation


def reindex(arguments: argparse.Namespace) -> int:
    """Rebuild the collections with the configured embedder, in the owner. Nothing else is deleted."""
    with conversation(existing_settings_from(arguments)) as talk:
        answer = talk.ask({"op": "reindex"})
    say(f"{answer['embedded']} texts have a new vector of {answer['embedder']}.")
    return 0
