"""`shiguan queue`: list jobs, retry or discard failed ones."""

from __future__ import annotations

import argparse
import json

from historian.clock import SystemClock
from historian.errors import InvalidInputError
from historian.job import STATES
from historian.queue import Queue
from server.commands.common import bare_settings_from, say
from server.folder import QUEUES_NAME, make_folder


def manage_queue(arguments: argparse.Namespace) -> int:
    """Do what was asked. Works while a server runs."""
    folder = bare_settings_from(arguments).data_dir
    make_folder(folder)
    queue = Queue(folder / QUEUES_NAME, clock=SystemClock())
    try:
        if arguments.action == "list":
            if arguments.job_id is not None:
                raise InvalidInputError("queue list takes no job id; it lists all jobs.")
            _list(queue, as_json=arguments.json)
            return 0
        act = queue.retry_failed if arguments.action == "retry" else queue.discard
        done = act(arguments.job_id)
    finally:
        queue.close()
    say(f"{len(done)} {'will run again' if arguments.action == 'retry' else 'discarded'}.")
    return 0


def _list(queue: Queue, *, as_json: bool) -> None:
    for state in STATES:
        for job in queue.jobs(state):
            error = job.reason or (job.errors[-1] if job.errors else "")
            if as_json:
                row = {"job_id": job.job_id, "state": state, "kind": job.kind, "created_at": job.created_at}
                say(json.dumps(row | {"attempts": job.attempts, "error": error}, ensure_ascii=False))
            else:
                say(
                    f"{job.job_id}  {state:10} {job.kind:8} {job.created_at}  attempts {job.attempts}  {error}".rstrip()
                )
