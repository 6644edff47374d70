"""`shiguan status`: what the data folder holds, for a person."""

from __future__ import annotations

import argparse
import json

from historian.clock import SystemClock
from historian.database import Database
from historian.queue import Queue
from server.commands.common import bare_settings_from, say
from server.folder import DATABASE_NAME, QUEUES_NAME, make_folder

_COUNTS = {
    "messages": "SELECT count(*) FROM messages",
    "events": "SELECT count(*) FROM events WHERE same_as IS NULL",
    "profile_lines": "SELECT count(*) FROM profile_lines",
    "unembedded": "SELECT (SELECT count(*) FROM events WHERE same_as IS NULL AND embedded_by IS NULL)"
    " + (SELECT count(*) FROM profile_lines WHERE embedded_by IS NULL)",
}


def show_status(arguments: argparse.Namespace) -> int:
    """Print counts of the whole folder. Works while a server runs."""
    folder = bare_settings_from(arguments).data_dir
    make_folder(folder)
    database = Database(folder / DATABASE_NAME)
    queue = Queue(folder / QUEUES_NAME, clock=SystemClock())
    try:
        with database.read() as connection:
            counts = {name: connection.execute(sql).fetchone()[0] for name, sql in _COUNTS.items()}
        stats = queue.stats()
    finally:
        queue.close()
        database.close()
    state = {
        **counts,
        "pending": stats.pending,
        "processing": stats.processing,
        "failed": stats.failed,
        "oldest_age_seconds": round(stats.oldest_pending_age, 1),
        "data_dir": str(folder),
    }
    if arguments.json:
        say(json.dumps(state))
    else:
        for name, value in state.items():
            say(f"{name.replace('_', ' '):20} {value}")
    return 0
