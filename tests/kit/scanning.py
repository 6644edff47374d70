"""Looking for a text in every byte of a folder, in each form in which a program may have written it."""

from __future__ import annotations

import json
from pathlib import Path

from historian.fold import fold


def forms(text: str) -> set[bytes]:
    """Return the bytes of a text as it is, folded, and escaped as JSON; of both letter cases."""
    found = {text, text.lower(), text.upper(), fold(text), json.dumps(text)[1:-1]}
    return {form.encode() for form in found} | {text.encode("utf-16-le")}


def traces(folder: Path, *texts: str) -> list[str]:
    """Return which files have any of the texts in their bytes or their names."""
    wanted = {form: text for text in texts for form in forms(text)}
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        try:
            data = path.read_bytes() if path.is_file() else b""
        except FileNotFoundError:  # a running server took it away between the two questions
            continue
        name = path.relative_to(folder).as_posix()
        found += [f"{name}: {text}" for form, text in wanted.items() if form in data or form in name.encode()]
    return found
