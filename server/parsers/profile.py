"""The arguments of `shiguan profile`. Standard library only, as all of the parser."""

from __future__ import annotations

import argparse

from server.parsers.parser import add_data_dir

TEXT = "Read profiles and their history, go back in it, and decide on merges that are held for review."


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `shiguan profile` to its parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _shared(actions.add_parser("list", help="whose profiles there are"))
    for name, text in (
        ("show", "a profile, each line with its receipts"),
        ("history", "the kept versions, what changed after each, and why lines are gone"),
        ("diff", "what changed from a version to the present profile"),
        ("rollback", "make a version the present one; what is there now becomes a version too"),
    ):
        action = actions.add_parser(name, help=text, description=text)
        action.add_argument("entity", nargs="?", help="user:ID or group:ID (default: the user of this system)")
        if name != "history":
            action.add_argument("--revision", help="from `profile history` (default: the newest; show: the present)")
        _shared(action)
    _add_review(actions.add_parser("review", help="merges that are held until a person decides"))


def _add_review(parser: argparse.ArgumentParser) -> None:
    add_data_dir(parser, below=True)
    decisions = parser.add_subparsers(dest="decision", required=True, metavar="DECISION")
    _shared(decisions.add_parser("list", help="what is held, and why"))
    for name, text in (
        ("show", "the new statements, and the profile as it would be"),
        ("accept", "carry the merge out on the profile as it is now"),
        ("reject", "leave the profile, and keep the statements out of it"),
    ):
        decision = decisions.add_parser(name, help=text, description=text)
        decision.add_argument("review", help="the number that `review list` shows")
        if name == "reject":
            decision.add_argument("--reason", help="is kept with the statements")
        _shared(decision)


def _shared(parser: argparse.ArgumentParser) -> None:
    add_data_dir(parser, below=True)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
