"""All benchmarks one after the other with short settings: `python -m benchmarks`, which is `make bench`.

Left out are `recall` and `recall_agent`, which need labelled data that is not part of this repository.

Arguments name the ones to run, for example `python -m benchmarks end size`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SETTINGS: dict[str, list[str]] = {
    "end": ["40"],
    "startup": ["9"],
    "search": ["1000", "20000"],
    "context": ["10000"],
    "size": ["10000"],
    "queue": ["2000"],
    "owner": ["3"],
    "historian": ["0.2"],
    "evolve": ["200", "20"],
    "importing": ["10000"],
    "http": ["3", "10000"],
    "web": ["10000", "20"],
    "evidence": ["--size", "10000", "--rounds", "20"],
    "erring": ["20"],
    "gate": ["tests/cases/gate.jsonl"],
    "times": ["tests/cases/times.jsonl"],
}
HERE = Path(__file__).resolve().parent


def main(arguments: list[str]) -> int:
    """Run what is named, or everything; the exit code is 1 when one of them broke."""
    unknown = sorted({*arguments}.difference(SETTINGS))
    if unknown:
        print(f"There is no benchmark {unknown[0]}; there are {', '.join(SETTINGS)}.", file=sys.stderr)
        return 2
    broken: list[str] = []
    for name, settings in SETTINGS.items():
        if (arguments and name not in arguments) or not (HERE / f"{name}.py").exists():
            continue
        print(f"\n## python -m benchmarks.{name} {' '.join(settings)}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *settings], cwd=HERE.parent, check=False)
        if done.returncode:
            broken.append(name)
    if broken:
        print(f"\nBroke: {', '.join(broken)}.", file=sys.stderr)
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
