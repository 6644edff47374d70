"""The pinned toolset: the few facts that are kept by hand and stand in every context."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from historian.pinned import PinnedNote
from server.answers import QUOTED, Answer, answer, quoted
from server.binding import Bound
from server.tools.core import READ
from server.toolsets import Published

Text = Annotated[str, Field(description="One fact as one sentence, true without context", max_length=4000)]
NoteId = Annotated[str, Field(description="From memory_list", max_length=512)]


class NoteItem(Answer):
    """One pinned note."""

    note_id: str
    text: str
    created_at: str
    updated_at: str


class NoteAnswer(Answer):
    """What became of one note. `created` is false where a note said exactly this already; that one is given back."""

    note: NoteItem
    created: bool
    warnings: list[str]


class NotesAnswer(Answer):
    """All pinned notes of this scope, and how many there may be."""

    notes: list[NoteItem]
    most: int


class DeletedNote(Answer):
    """The note that is gone."""

    note_id: str


def memory_add(memory: Bound, text: Text) -> Annotated[CallToolResult, NoteAnswer]:
    made = memory.pinned.add(text)
    did = "Pinned as" if made.is_new else "Nothing new: that is pinned already as"
    prose = [f"{did} {made.note.note_id}.", *made.notes]
    result = NoteAnswer(note=_item(made.note), created=made.is_new, warnings=[*made.notes])
    return answer(result, "\n".join(prose))


def memory_list(memory: Bound) -> Annotated[CallToolResult, NotesAnswer]:
    notes, most = memory.pinned.list(), memory.pinned.most
    lines = [f"- {quoted(note.text)} (note {note.note_id})" for note in notes]
    head = f"{len(notes)} of {most} pinned notes (quoted data):" if notes else f"Nothing is pinned; {most} notes fit."
    return answer(NotesAnswer(notes=[_item(note) for note in notes], most=most), "\n".join([head, *lines]))


def memory_update(memory: Bound, note_id: NoteId, text: Text) -> Annotated[CallToolResult, NoteAnswer]:
    made = memory.pinned.update(note_id, text)
    result = NoteAnswer(note=_item(made.note), created=False, warnings=[*made.notes])
    return answer(result, "\n".join([f"Note {made.note.note_id} is changed.", *made.notes]))


def memory_delete(memory: Bound, note_id: NoteId) -> Annotated[CallToolResult, DeletedNote]:
    was_there = memory.pinned.delete(note_id)
    return answer(DeletedNote(note_id=note_id), f"Note {note_id} {'is gone' if was_there else 'was gone already'}.")


def _item(note: PinnedNote) -> NoteItem:
    return NoteItem(
        note_id=note.note_id, text=note.text, created_at=_time(note.created_at), updated_at=_time(note.updated_at)
    )


def _time(instant: datetime) -> str:
    return instant.isoformat(timespec="seconds")


def _writes(*, destructive: bool) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=False, destructive_hint=destructive, idempotent_hint=True, open_world_hint=False
    )


TOOLS = [
    Published(
        memory_add,
        name="memory_add",
        title="Pin a note",
        description="Keep a fact that must be there in every turn. For the few things that never may be missed; "
        "everything else belongs into end. What is pinned already is not pinned twice, and a full list says so.",
        annotations=_writes(destructive=False),
    ),
    Published(
        memory_list,
        name="memory_list",
        title="List pinned notes",
        description=f"The pinned notes of this conversation's user or group, oldest first. {QUOTED}",
        annotations=READ,
    ),
    Published(
        memory_update,
        name="memory_update",
        title="Change a pinned note",
        description="Let a pinned note say something else, for instance when it is not true any more.",
        annotations=_writes(destructive=True),
    ),
    Published(
        memory_delete,
        name="memory_delete",
        title="Unpin a note",
        description="Take a pinned note away, when somebody says so or it is of no use any more.",
        annotations=_writes(destructive=True),
    ),
]
