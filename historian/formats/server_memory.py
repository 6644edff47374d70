"""`@modelcontextprotocol/server-memory`: its file of JSON lines, entities with observations, and relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from historian.formats.json_lines import objects, samples
from historian.formats.outcome import Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import sequence, text


class ServerMemory:
    """The knowledge graph: each observation and each relation is a statement."""

    name = "server-memory"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """Its lines are entities and relations."""
        del bundle
        return any(_is_entity(line) or _is_relation(line) for line in samples(piece))

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield a message for each observation and each relation. They have no times but that of the file."""
        del bundle, reading
        for found in objects(piece):
            if isinstance(found, Refusal):
                yield found
                continue
            place, line = found
            if _is_entity(line):
                yield from _entity(place, line, piece.modified)
            elif _is_relation(line):
                kind = text(line.get("relationType")).replace("_", " ")
                yield _stated(place, f"{text(line.get('from'))} {kind} {text(line.get('to'))}.", piece.modified)
            else:
                yield Refusal(place, "It is neither an entity nor a relation.")


def _is_entity(line: Mapping[str, Any]) -> bool:
    return line.get("type") == "entity" and "name" in line and "observations" in line


def _is_relation(line: Mapping[str, Any]) -> bool:
    return line.get("type") == "relation" and {"from", "to", "relationType"} <= line.keys()


def _entity(place: str, line: Mapping[str, Any], modified: float) -> Iterator[Outcome]:
    name, kind = text(line.get("name")), text(line.get("entityType"))
    for number, said in enumerate(sequence(line.get("observations")), start=1):
        where = f"{place}, observation {number}"
        if not text(said).strip():
            yield Refusal(where, "It is no text.")
            continue
        stated = text(said).strip()
        yield _stated(where, stated if name.lower() in stated.lower() else f"{name}: {stated}", modified, kind)


def _stated(place: str, said: str, modified: float, kind: str = "") -> Read:
    digest = sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    turn = message(
        message_id=f"server-memory:{digest}",
        conversation_id="server-memory",
        role="assistant",
        content=said,
        ts=modified,
        source=ServerMemory.name,
        kind=kind[:200],
    )
    return Read(place, turn, (said,))
