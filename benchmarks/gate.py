"""Scores the gate on a file of labelled texts: `python benchmarks/gate.py FILE`.

Lists what is wrong; the last line is `N of M right`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from historian.gate import inspect


def main(arguments: list[str]) -> int:
    """Score the file that is named; the exit code is 0 whatever the score, 2 without a file."""
    if len(arguments) != 1:
        print("Usage: python benchmarks/gate.py FILE", file=sys.stderr)
        return 2
    right = total = 0
    for line in Path(arguments[0]).read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        case = json.loads(line)
        findings = inspect(case["text"])
        expected, found = sorted(set(case["flags"])), sorted({finding.kind.value for finding in findings})
        total += 1
        if expected == found:
            right += 1
            continue
        words = ", ".join(finding.found for finding in findings) or "-"
        print(f"{case['id']}  {case['text']}\n    expected {expected}, found {found} ({words})")
    print(f"{right} of {total} right")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
