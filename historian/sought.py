"""What a query seeks, held against one text at a time: for texts that are in no word index, with the same result."""

from __future__ import annotations

from historian.fold import fold
from historian.lexical_parsing import parse
from historian.lexical_query import And, Node, Or, Phrase, Text, matches


class Sought:
    """A parsed query."""

    def __init__(self, query: str) -> None:
        self._node = parse(query).node

    @property
    def is_nothing(self) -> bool:
        """Whether the query has nothing to look for, so that no text has it: it is empty, invisible, or only denies."""
        return self._node is None

    def is_in(self, text: str) -> bool:
        """Say whether a text has what is sought."""
        return self._node is not None and matches(self._node, Text(fold(text)))

    def may_be_in(self, text: str) -> bool:
        """Say the same of a text that several texts stand in: what one of them must not have, another may."""
        return self._node is not None and matches(_affirmed(self._node), Text(fold(text)))


def _affirmed(node: Node) -> Node:
    """Return a query without what it denies."""
    if isinstance(node, Phrase):
        return node
    if isinstance(node, Or):
        return Or(tuple(map(_affirmed, node.parts)))
    return And(tuple(map(_affirmed, node.must)))
