"""Finds an earlier event that says nearly the same in other words. Conservative: a wrong link hides a fact.

Equal canonical forms (`sameness`) are the same in any case. Beyond that two statements are linked only when the
embedder takes them for paraphrases *and* they differ in nothing but words that carry no fact: the same ids, numbers,
dates, names, denials, wishes and tense in the same order. Likeness alone never suffices: 吃辣 / 不吃辣, parcel 17 / 18.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from historian.calibration import PARAPHRASE
from historian.database import Database
from historian.engine import Engine
from historian.errors import ModelError, StoreError
from historian.events import EVENT_WORDS, EventStore, StoredEvent
from historian.fold import fold
from historian.identity import negations
from historian.identity_numbers import figures, ordered_numbers
from historian.model import Owner
from historian.past import told_as_present
from historian.patterns import lazy_pattern, words
from historian.sameness import LETTER_A, marks, statement_key
from historian.wording import HEDGES, LIMITS, canonical, lemma

CANDIDATES = 8
_LONGEST = 400
"""Characters of a statement that is compared; longer ones say more than one thing."""
_PAST = lazy_pattern(
    r"\b(?:was|were|had|did|used|ago|went|came|got|took|gave|saw|ate|bought|left|lost|won|met|made|told|said|wrote|ran|knew|"
    r"thought|lived|liked|loved|hated|worked|played|\w{2,}ed)\b"
)
_ASPECT = lazy_pattern(r"过(?!敏|年|节|来|去|程|度|滤|期|失|剩|渡)|曾|已|将|要(?!求|点)|正在|刚|才|快")
_SAID_ALIKE = (
    (
        re.compile(
            r"\b(?:is|am|are) (?:a (?:big |huge )?fan of|fond of|keen on|into)\b|\b(?:loves?|enjoys?|adores?)\b"
        ),
        "like",
    ),
    (re.compile(r"\b(?:has|have) an? (?:allergy to|allergic reaction to)\b"), "is allergic to"),
    (re.compile(r"\b(?:resides?|is living|are living) (?=in\b|at\b)"), "live "),
    (re.compile(r"\b(?:is|are) working (?=at\b|for\b|as\b)"), "work "),
    (re.compile(r"\b(?:is|are) employed (?=at\b|by\b)"), "work "),
    (re.compile(r"(?:吃了?|喝了?|碰到?)([\u4e00-\u9fff]{1,4})就?会过敏"), r"对\1过敏"),
    (re.compile(r"有([\u4e00-\u9fff]{1,4})过敏(?:症|史)?"), r"对\1过敏"),
    (re.compile(r"(?<![不没])(?<!不是)(?:超级?|特别|非常|十分|最最)"), ""),
)
"""Phrases that say one thing, written as one."""
_WEAK = frozenset("就也还都是着对在真") | frozenset(words("to of at in for by is are am be so much also too that just"))
"""What one of two statements may have more than the other."""
_MOST_WEAK = 4


_STRUCTURE: tuple[Callable[[str], object], ...] = (
    figures,
    lambda text: [*ordered_numbers(text)],
    lambda text: len(negations(text)),
    lambda text: [bool(said.search(fold(text))) for said, _ in (*HEDGES, *LIMITS)],
    lambda text: bool(_PAST.search(fold(text))),
    lambda text: _ASPECT.findall(fold(text)),
    lambda text: text.rstrip().endswith(("?", "？")),
    lambda text: len(LETTER_A.findall(text)),
    marks,
)
"""What two statements have to have alike. Figures come first: they tell most of those apart that are not the same."""


def near_statement(one: str, other: str) -> bool:
    """Return whether two texts differ in nothing that carries a fact. It does not prove that they mean the same."""
    if max(len(one), len(other)) > _LONGEST:
        return False
    if not all(part(one) == part(other) for part in _STRUCTURE) or not _differs_weakly(_tokens(one), _tokens(other)):
        return False
    return told_as_present(one, other) is None and told_as_present(other, one) is None


@dataclass(frozen=True, slots=True)
class Likeness:
    """Looks among the events of one owner. Blocks; thread-safe."""

    database: Database
    events: EventStore
    engine: Engine

    def same_as(self, owner: Owner, text: str, but: Collection[str] = ()) -> StoredEvent | None:
        """Return the earliest event of this owner, save for those with the ids `but`, that says the same, or None."""
        with self.database.snapshot():
            equal = self.events.saying(owner, text, but)
            if equal is not None or not self.engine.ready.is_set():
                return equal
            near = self._near(owner, text, but)
        alike = self._paraphrases(text, near)
        return min(alike, key=lambda found: found.row, default=None)

    def _near(self, owner: Owner, text: str, but: Collection[str]) -> list[StoredEvent]:
        reach = frozenset({owner.key})
        with self.database.read() as connection:
            hits = EVENT_WORDS.search(connection, reach, text, limit=CANDIDATES, ranked=True).hits
        readable = self.events.within(reach)
        likely = [
            one.row
            for one in (readable.sketches(hit.row for hit in hits) if hits else ())
            if one.has_new_info and not one.is_repeat and near_statement(one.text, text)
        ]
        found = readable.rows(likely) if likely else []  # most often nothing is near
        return [one for one in found if one.event.owner == owner and one.event.event_id not in but]

    def _paraphrases(self, text: str, near: Sequence[StoredEvent]) -> list[StoredEvent]:
        """Return those that the embedder takes for the same; none while it cannot be asked."""
        if not near:
            return []
        try:
            vectors = self.engine.embedder.embed([text, *(found.event.text for found in near)])
            similarity = self.engine.embedder.calibrate(vectors[1:] @ vectors[0])
        except (ModelError, StoreError):
            return []
        return [found for found, score in zip(near, similarity, strict=True) if float(score) >= PARAPHRASE]


def _tokens(text: str) -> list[str]:
    folded = fold(text)
    for pattern, phrase in _SAID_ALIKE:
        folded = pattern.sub(phrase, folded)
    plain = statement_key(canonical(folded)).split("\x1f")
    return [lemma(part) for part in plain]


def _differs_weakly(one: list[str], other: list[str]) -> bool:
    """Return whether what only one of them has is weak, and what they share stands in the same order."""
    left: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "replace":
            return False
        if tag != "equal":
            left += [*one[a:b], *other[c:d]]
    return len(left) <= _MOST_WEAK and all(token in _WEAK for token in left)
