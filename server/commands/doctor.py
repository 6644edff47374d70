"""`shiguan doctor`: what is wrong with a data folder, and mending what is derived from the truth."""

from __future__ import annotations

import argparse
import json

from historian.errors import InvalidInputError
from server.commands.common import NO_MEMORY, bare_settings_from, say
from server.owner.ask import conversation


def doctor(arguments: argparse.Namespace) -> int:
    """Print one line a finding; return 0 when no error is left, else 1.

    Raises:
        InvalidInputError: there is no such folder; looking after it would make one.
    """
    settings = bare_settings_from(arguments)
    if not settings.data_dir.is_dir():
        raise InvalidInputError(NO_MEMORY)
    with conversation(settings) as talk:
        report = talk.ask({"op": "doctor", "fix": arguments.fix})
    if arguments.json:
        say(json.dumps(report, ensure_ascii=False))
        return 0 if report["healthy"] else 1
    for finding in report["fixed"]:
        say(f"{'fixed':8} {finding['check']:12} {finding['message']}")
    for finding in report["findings"]:
        hint = " Run `shiguan doctor --fix`." if finding["fixable"] and not arguments.fix else ""
        say(f"{finding['severity']:8} {finding['check']:12} {finding['message']}{hint}")
    return 0 if report["healthy"] else 1
