"""`shiguan skill`: whether a skill's folder is as hosts expect it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from prompts.skills import check_skill
from server.commands.common import say


def check(arguments: argparse.Namespace) -> int:
    """Print what is wrong with the skill, and return 1 where something is."""
    folder = Path(arguments.folder)
    problems = check_skill(folder)
    if arguments.json:
        say(json.dumps({"valid": not problems, "problems": problems}, ensure_ascii=False))
    else:
        for problem in problems:
            say(problem)
        if not problems:
            say(f"{folder.resolve().name} is a valid skill.")
    return 1 if problems else 0
