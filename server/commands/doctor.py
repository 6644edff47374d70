"""`shiguan doctor`: what is wrong with a data folder, and mending what is derived from the truth."""

from __future__ import annotations

import argparse
import json
from typing import Any

from historian.errors import InvalidInputError, StoreError
from server.commands.common import NO_MEMORY, folder_from, say, wrong_settings
from server.owner.ask import conversation


def doctor(arguments: argparse.Namespace) -> int:
    """Print one line a finding; return 0 when no error is left, else 1.

    Raises:
        InvalidInputError: there is no such folder; looking after it would make one.
    """
    if not folder_from(arguments).data_dir.is_dir():
        raise InvalidInputError(NO_MEMORY)
    report = _report(arguments)
    if arguments.json:
        say(json.dumps(report, ensure_ascii=False))
        return 0 if report["healthy"] else 1
    for finding in report["fixed"]:
        say(f"{'fixed':8} {finding['check']:12} {finding['message']}")
    for finding in report["findings"]:
        hint = " Run `shiguan doctor --fix`." if finding["fixable"] and not arguments.fix else ""
        say(f"{finding['severity']:8} {finding['check']:12} {finding['message']}{hint}")
    return 0 if report["healthy"] else 1


def _report(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the owner finds, or, where wrong settings let none start, what can be found without them."""
    settings = folder_from(arguments)
    try:
        with conversation(settings) as talk:
            return talk.ask({"op": "doctor", "fix": arguments.fix})
    except StoreError:
        wrong = wrong_settings(arguments)
        if wrong is None:
            raise
    from server.without_settings import examine

    return examine(settings.data_dir, wrong, fix=arguments.fix)
