"""`shiguan queue`: list jobs, retry or discard failed ones."""

from __future__ import annotations

import argparse
import json

from historian.errors import InvalidInputError
from server.commands.common import bare_settings_from, say
from server.owner.ask import conversation


def manage_queue(arguments: argparse.Namespace) -> int:
    """Do what was asked, through the owner."""
    if arguments.action == "list" and arguments.job_id is not None:
        raise InvalidInputError("queue list takes no job id; it lists all jobs.")
    with conversation(bare_settings_from(arguments)) as talk:
        answer = talk.ask({"op": "queue", "action": arguments.action, "job_id": arguments.job_id})
    if arguments.action != "list":
        say(f"{len(answer['done'])} {'will run again' if arguments.action == 'retry' else 'discarded'}.")
        return 0
    for job in answer["jobs"]:
        again = f"next {job['next_retry']}  " if job["next_retry"] else ""
        text = (
            f"{job['job_id']}  {job['state']:10} {job['kind']:8} {job['created_at']}"
            f"  attempts {job['attempts']}  {again}{job['error']}"
        )
        say(json.dumps(job) if arguments.json else text.rstrip())
    return 0
