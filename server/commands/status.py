"""`shiguan status`: what the data folder holds, for a person."""

from __future__ import annotations

import argparse
import json

from server.commands.common import bare_settings_from, say
from server.owner.ask import conversation


def show_status(arguments: argparse.Namespace) -> int:
    """Print counts of the whole folder, as its owner tells them."""
    settings = bare_settings_from(arguments)
    with conversation(settings) as talk:
        state = talk.ask({"op": "status"}) | {"data_dir": str(settings.data_dir)}
    if arguments.json:
        say(json.dumps(state))
    else:
        for name, value in state.items():
            shown = "; ".join(value) or "all in effect" if isinstance(value, list) else value
            say(f"{name.replace('_', ' '):20} {shown}")
    return 0
