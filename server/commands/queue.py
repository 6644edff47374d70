"""`shiguan queue`: list jobs, retry or discard failed ones."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from historian.errors import InvalidInputError
from server.commands.common import complain, existing_settings_from, say
from server.commands.status import profile_line
from server.owner.ask import conversation


def manage_queue(arguments: argparse.Namespace) -> int:
    """Do what was asked, through the owner."""
    if arguments.action == "list" and arguments.job_id is not None:
        raise InvalidInputError("queue list takes no job id; it lists all jobs.")
    with conversation(existing_settings_from(arguments)) as talk:
        answer = talk.ask({"op": "queue", "action": arguments.action, "job_id": arguments.job_id})
    if arguments.action != "list":
        say(f"{len(answer['done'])} {'will run again' if arguments.action == 'retry' else 'discarded'}.")
        return 0
    for job in answer["jobs"]:
        say(json.dumps(job) if arguments.json else job_line(job))
    if not arguments.json:
        for merge in answer["merges"]:
            say(profile_line(merge))
        if not answer["jobs"]:
            complain("The queue is empty.")
    return 0


def job_line(job: Mapping[str, Any]) -> str:
    """Return a job as a person reads it: what it is and whose, where it stands and since when, and what went wrong."""
    again = [f"next {job['next_retry']}"] if job["next_retry"] else []
    step = [f"step {job['step']}"] if job["step"] else []
    about = [job["whose"], job["created_at"], f"age {job['age_seconds']:.0f} s", *step, f"attempts {job['attempts']}"]
    return "  ".join([job["job_id"], f"{job['state']:10} {job['kind']:8}", *about, *again, job["error"]]).rstrip()
