"""`shiguan ui`: look at what is remembered, in a browser."""

from __future__ import annotations

import argparse

from server.commands.common import complain, existing_settings_from, say
from server.owner.ask import conversation

ONCE = "The link works once, within two minutes. The pages stay open until half an hour after you last used them."
NO_BROWSER = "No browser could be started here; open the link yourself."


def open_pages(arguments: argparse.Namespace) -> int:
    """Print a link of the owner, which is started where none runs; alone on stdout."""
    with conversation(existing_settings_from(arguments)) as talk:
        link = str(talk.ask({"op": "ui"})["link"])
    say(link)
    complain(ONCE)
    if arguments.open:
        import webbrowser

        if not webbrowser.open(link):
            complain(NO_BROWSER)
    return 0
