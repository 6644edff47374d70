"""Scores the offline rewriter on a file of time cases: `python benchmarks/times.py FILE`.

Lists what is wrong, then `N of M right`.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from historian.rewrite import RewriteContext, rewrite_offline


def is_right(text: str, expected: list[str], got: str) -> bool:
    """Tell whether a result holds all that it must; where nothing is listed, it must be the text itself."""
    return all(words in got for words in expected) if expected else got == text


def main(arguments: list[str]) -> int:
    """Score the file that is named; the exit code is 0 whatever the score, 2 without a file."""
    if len(arguments) != 1:
        print("Usage: python benchmarks/times.py FILE", file=sys.stderr)
        return 2
    right = total = 0
    for line in Path(arguments[0]).read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        case = json.loads(line)
        total += 1
        got = rewrite_offline(case["text"], RewriteContext(datetime.fromisoformat(case["said_at"]))).text
        if is_right(case["text"], case["contains"], got):
            right += 1
            continue
        print(f"{case['id']}  {case['text']}\n    expected {case['contains'] or 'no change'}, got {got}")
    print(f"{right} of {total} right")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
