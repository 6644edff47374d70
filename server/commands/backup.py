"""`shiguan backup` and `shiguan restore`: the whole truth of a data folder in one file."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from historian.errors import InvalidInputError
from server.commands.common import bare_settings_from, existing_settings_from, say
from server.owner.ask import conversation
from server.paths import whole_path


def back_up(arguments: argparse.Namespace) -> int:
    """Have the owner write a backup while it works; a file that is there is replaced only with --force."""
    file = whole_path(arguments.file)
    if file.is_file() and not arguments.force:
        raise InvalidInputError("There is such a file already; name another one, or add --force to replace it.")
    with conversation(existing_settings_from(arguments)) as talk:
        made = talk.ask({"op": "backup", "file": str(file)})
    say(f"Backed up {_told(made['counts'])}: {made['bytes']} bytes.")
    return 0


def restore(arguments: argparse.Namespace) -> int:
    """Make a data folder out of a backup."""
    from historian.restore import restore as restore_folder

    manifest = restore_folder(whole_path(arguments.file), bare_settings_from(arguments).data_dir)
    say(f"Restored {_told(manifest.counts)}, as of {manifest.made_at}.")
    say("Search by words works at once; search by meaning returns while the next client is connected.")
    return 0


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
