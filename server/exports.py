"""An export as files for people: profile, notes, statements, events and memos with their evidence, conversations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from historian.ids import safe_name
from server.export_folder import ExportFolder

Line = Mapping[str, Any]


class MarkdownExport:
    """Writes lines of an export to a folder as they come. What is appended stays in the order of the export."""

    def __init__(self, folder: ExportFolder) -> None:
        self._folder = folder
        self._begun: set[PurePosixPath] = set()

    def write(self, lines: Iterable[Line]) -> None:
        """Write some lines.

        Raises:
            InvalidInputError: the folder holds what belongs to somebody else.
            OSError: it cannot be written.
        """
        texts: dict[PurePosixPath, list[str]] = {}
        titles: dict[PurePosixPath, str] = {}
        for line in lines:
            if line["kind"] == "about":
                self._folder.claim(line["owner"])
            for path, title, text in _written(line):
                texts.setdefault(path, []).append(text)
                titles.setdefault(path, title)
        for path, parts in texts.items():
            is_new = path not in self._begun
            target = self._folder.begin(path) if is_new else self._folder.staged(path)
            self._begun.add(path)
            with target.open("a", encoding="utf-8") as file:
                if is_new and titles[path]:
                    file.write(f"# {titles[path]}\n\n")
                file.write("".join(parts))


def _written(line: Line) -> Iterable[tuple[PurePosixPath, str, str]]:
    """Return where a line goes, the title of that file, and the text."""
    match line["kind"]:
        case "message":
            title = f"Conversation {_flat(line['conversation_id'])}"
            yield _conversation(line["conversation_id"]), title, _message(line)
        case "event":
            yield PurePosixPath("events.md"), "Events", _event(line)
        case "memo":
            yield PurePosixPath("memos.md"), "Memos", f"- {line['ts']} · {_flat(line['text'])}\n"
        case "pinned":
            yield PurePosixPath("pinned.md"), "Pinned notes", f"- {_flat(line['text'])} (`{_code(line['note_id'])}`)\n"
        case "group_memory":
            yield PurePosixPath("statements.md"), "Statements about the group", _statement(line)
        case "profile":
            kind, _, _ = str(line["owner"]).partition(":")
            yield PurePosixPath("profile.md" if kind == "user" else "group-profile.md"), "", f"{line['text']}\n"
            for version in line["history"]:
                yield (
                    PurePosixPath("profile-history") / f"{safe_name(version['revision'].lower())}.md",
                    "",
                    version["text"],
                )
        case _:
            yield PurePosixPath("README.md"), "Export", _about(line)


def _about(line: Line) -> str:
    return (
        f"What the memory holds of {_flat(line['owner'])}, written {line['made_at']}. This form is for reading;"
        " `shiguan export --format jsonl` writes one that can be imported again.\n"
    )


def _conversation(conversation_id: str) -> PurePosixPath:
    return PurePosixPath("conversations") / f"{safe_name(conversation_id)}.md"


def _message(line: Line) -> str:
    who = line.get("sender_name") or line.get("sender_id") or line["role"]
    quoted = "\n".join(f"> {row}" for row in str(line["content"]).splitlines())
    return f"**{_flat(who)}** ({line['role']}) · {line['ts']} · `{_code(line['message_id'])}`\n\n{quoted}\n\n"


def _event(line: Line) -> str:
    links = ", ".join(
        f"[`{_code(one['message_id'])}`]({_conversation(one['conversation_id']).as_posix()})"
        for one in line["evidence"]
    )
    flags = f" · {', '.join(line['flags'])}" if line["flags"] else ""
    same = f" · says the same as `{_code(line['same_as'])}`" if line.get("same_as") else ""
    memo = "" if line["has_new_info"] else "memo · "
    about = f"{memo}{line['timestamp']} · `{_code(line['event_id'])}`{flags}{same}"
    return f"- {_flat(line['text'])}\n  {about}\n  evidence: {links or 'none'}\n"


def _statement(line: Line) -> str:
    """What the statement says now, and below it each change with its reason and messages, oldest first."""
    head = line["changes"][-1]["after"]
    return f"- {_flat(head['statement'])}\n  {head['status']} · `{_code(line['memory_id'])}`\n" + "".join(
        f"  - {_change(change)}\n" for change in line["changes"]
    )


def _change(change: Line) -> str:
    after = change["after"]
    at = datetime.fromtimestamp(change["at_ms"] / 1000, UTC).isoformat(timespec="seconds")
    why = f" because {_flat(change['change_reason'])}" if change["change_reason"] else ""
    ids = ", ".join(f"`{_code(one)}`" for one in change["message_ids"])
    return (
        f"v{after['version']} · {at} · {change['action']}: {_flat(after['statement'])}{why} · evidence: {ids or 'none'}"
    )


def _flat(text: object) -> str:
    return " ".join(str(text).split())


def _code(text: object) -> str:
    return _flat(text).replace("`", "'")
