"""Checks a folder against the rules of Agent Skills, and against what a recall skill has to keep."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prompts.skills.shipped import MAIN

MOST_LINES = 500
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_KNOWN = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_LENGTHS = {"name": 64, "description": 1024, "compatibility": 500}
_RESERVED = ("anthropic", "claude")
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")
_FRONT = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)


def check_skill(folder: Path) -> list[str]:
    """Return what is wrong with the skill in a folder, a sentence each; an empty list when nothing is."""
    main = folder / MAIN
    if not main.is_file():
        return [f"There is no {MAIN} in the folder."]
    text = _text(main)
    if text is None:
        return [f"{MAIN} is not UTF-8 text."]
    found = _FRONT.match(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if found is None:
        return [f"{MAIN} must begin with front matter between two lines of ---."]
    meta = _yaml(found[1])
    if meta is None:
        return [f"The front matter of {MAIN} must be a YAML table."]
    return [*_of_meta(meta, folder.resolve().name), *_of_body(found[2]), *_of_links(folder)]


def _of_meta(meta: Mapping[str, Any], folder: str) -> Iterator[str]:
    for key in meta:
        if key not in _KNOWN:
            yield f"The front matter has the unknown field {key}; it may have {', '.join(_KNOWN)}."
    for key in ("name", "description"):
        if not isinstance(meta.get(key), str) or not meta[key].strip():
            yield f"The front matter needs {key}, a text."
    for key, most in _LENGTHS.items():
        value = meta.get(key)
        if value is not None and not isinstance(value, str):
            yield f"{key} must be a text."
        elif value is not None and len(value) > most:
            yield f"{key} has {len(value)} characters; at most {most} are allowed."
    name, description = str(meta.get("name", "")), str(meta.get("description", ""))
    if name and not _NAME.match(name):
        yield "name may have lower-case letters, digits and single hyphens between them."
    if name and name != folder:
        yield f"name is {name}, but the folder is called {folder}; they must be the same."
    if any(word in name for word in _RESERVED):
        yield f"name may not have {' or '.join(_RESERVED)} in it."
    if re.search(r"<[^>]*>", description):
        yield "description may not have tags in angle brackets."
    if isinstance(meta.get("metadata"), dict | None):
        return
    yield "metadata must be a table of texts."


def _of_body(body: str) -> Iterator[str]:
    lines = body.count("\n") + 1
    if not body.strip():
        yield f"{MAIN} has no text behind its front matter."
    if lines > MOST_LINES:
        yield f"{MAIN} has {lines} lines; keep it below {MOST_LINES} and move detail into references/."


def _of_links(folder: Path) -> Iterator[str]:
    """References are one level deep: SKILL.md names files, and those name none."""
    main = _text(folder / MAIN) or ""
    for link in dict.fromkeys(_LINK.findall(main)):
        target = (folder / link).resolve()
        if not target.is_relative_to(folder.resolve()):
            yield f"{link} leads out of the folder."
        elif not target.is_file():
            yield f"{link} is named and is not there."
        elif len(Path(link).parts) > 2:
            yield f"{link} lies too deep; references are one level deep."
    for file in sorted(folder.rglob("*.md")):
        path = file.relative_to(folder)
        if path == Path(MAIN):
            continue
        text = _text(file)
        if text is None:
            yield f"{path} is not UTF-8 text."
        elif _LINK.search(_without_code(text)):
            yield f"{path} leads to a further file; only {MAIN} may."


def _without_code(text: str) -> str:
    return re.sub(r"^(?: {4}|\t).*$|```.*?```", "", text, flags=re.MULTILINE | re.DOTALL)


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _yaml(front: str) -> Mapping[str, Any] | None:
    yaml: Any = importlib.import_module("yaml")  # has no type stubs
    try:
        meta = yaml.safe_load(front)
    except (ValueError, yaml.YAMLError):
        return None
    return meta if isinstance(meta, dict) else None


def front_matter(text: str) -> Mapping[str, Any]:
    """Return the front matter of a text that passed the check."""
    found = _FRONT.match(text)
    return (_yaml(found[1]) if found is not None else None) or {}
