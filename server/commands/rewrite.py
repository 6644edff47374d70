"""`shiguan rewrite`: has the chat model phrase again what rules wrote."""

from __future__ import annotations

import argparse

from historian.errors import StoreError
from server.commands.common import existing_settings_from, say
from server.owner.ask import conversation


def rewrite_events(arguments: argparse.Namespace) -> int:
    """Go through the events turn by turn, through the owner; stopping it loses nothing.

    Raises:
        InvalidInputError: no chat model is set.
        StoreError: the model does not answer.
    """
    looked_at = better = 0
    after: int | None = 0
    with conversation(existing_settings_from(arguments)) as talk:
        while after is not None:
            done = talk.ask({"op": "rewrite", "after": after, "all": arguments.all})
            if done["away"]:
                raise StoreError(
                    f"The chat model does not answer now; {better} events are phrased anew, try again later."
                )
            looked_at, better, after = looked_at + done["looked_at"], better + done["better"], done["after"]
    say(f"{better} of {looked_at} events are phrased anew.")
    return 0
