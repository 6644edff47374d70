"""`shiguan backup` and `shiguan restore`: the whole truth of a data folder in one file."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from historian.errors import InvalidInputError, StoreError
from server.commands.common import existing_folder_from, folder_from, say, wrong_settings
from server.owner.ask import conversation
from server.paths import whole_path


def back_up(arguments: argparse.Namespace) -> int:
    """Have the owner write a backup while it works; a file that is there is replaced only with --force."""
    file = whole_path(arguments.file)
    if file.is_file() and not arguments.force:
        raise InvalidInputError("There is such a file already; name another one, or add --force to replace it.")
    counts, size = _made(arguments, file)
    say(f"Backed up {_told(counts)}: {size} bytes.")
    return 0


def _made(arguments: argparse.Namespace, file: Path) -> tuple[Mapping[str, int], int]:
    """Have the owner make it, or, where wrong settings let none start, make it here; return what it holds."""
    settings = existing_folder_from(arguments)
    try:
        with conversation(settings) as talk:
            answer = talk.ask({"op": "backup", "file": str(file)})
        return answer["counts"], answer["bytes"]
    except StoreError:
        if wrong_settings(arguments) is None:
            raise
    from server.without_settings import back_up as back_up_alone

    made = back_up_alone(settings.data_dir, file)
    return made.counts, made.size


def restore(arguments: argparse.Namespace) -> int:
    """Make a data folder out of a backup."""
    from historian.restore import restore as restore_folder

    manifest = restore_folder(whole_path(arguments.file), folder_from(arguments).data_dir)
    say(f"Restored {_told(manifest.counts)}, as of {manifest.made_at}.")
    say("Search by words works at once; search by meaning returns while the next client is connected.")
    return 0


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
