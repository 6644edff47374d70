"""The identity check: a rewrite must say the same of the same people, with the same ids, numbers and polarity."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from historian.identity_numbers import clock_readings, figures, replaceable
from historian.identity_persons import is_supported, persons
from historian.patterns import lazy_pattern

DriftKind = Literal[
    "id_lost",
    "id_invented",
    "number_lost",
    "number_invented",
    "polarity",
    "person_invented",
    "word_lost",
    "word_invented",
    "word_borrowed",
    "modality",
    "order",
    "language",
]

_NEUTRAL = lazy_pattern(
    r"(.)不\1|有没有|不得不|不错|不仅|不过(?!敏|瘾|期(?![待望]))|不但|不断|不久|不管|不论|不少|不由|不愧|不妨|不禁|不客气|"
    r"不好意思|对不起|差不多|了不起|不同|不一样|不锈钢|来不及|"
    r"特别|分别|区别|性别|级别|告别|个别|识别|类别|派别|辨别|鉴别|离别|别人|别处|别墅|别称|别名|别致|"
    r"别克|别针|别具|别的|"
    r"无论|无锡|无线|无疑|无人机|无数|无花果|无比|未来|未婚|未央|未必|非常|非洲|非凡|是非|除非|"
    r"并非易事|莫非|没关系|没多久|"
    r"\b(?i:not only|no doubt|no problem|no\. ?\d+|nonetheless|nothing but)\b"
)
_NEGATION = lazy_pattern(
    r"不|没有?|别(?=[\u4e00-\u9fff])|无|未|非(?=[\u4e00-\u9fff])|勿|甭|拒绝|禁止|"
    r"\b(?i:not|never|no longer|no|none|nobody|nothing|nowhere|neither|nor|without|cannot|cant|dont|"
    r"doesnt|didnt|isnt|wont|"
    r"hardly|refuses?|refused)\b|n['’]t\b"
)


@dataclass(frozen=True, slots=True)
class Drift:
    """One way in which a rewrite says something else than its observation."""

    kind: DriftKind
    found: str


def check_identity(
    observation: str,
    rewrite: str,
    *,
    context: Sequence[str] = (),
    known_names: Collection[str] = (),
    allowed: Collection[str] = (),
) -> tuple[Drift, ...]:
    """Return how `rewrite` departs from `observation`; an empty tuple means it does not.

    `context` holds texts that may only disambiguate, `known_names` the people of the conversation, `allowed` the dates
    and times that a resolver put in place of relative ones (only with these may the numbers of a relative time go).
    """
    if rewrite == observation:
        return ()
    return (
        *_figure_drifts(observation, rewrite, context, known_names, allowed),
        *_polarity_drifts(observation, rewrite),
        *_person_drifts(observation, rewrite, context, known_names, allowed),
    )


def unsupported_persons(observation: str, sources: Sequence[str], known_names: Collection[str]) -> tuple[str, ...]:
    """Return the persons named in `observation` that stand in no source and no known name (invented persons, P80)."""
    return tuple(name for name in persons(observation) if not is_supported(name, sources, known_names))


def _figure_drifts(
    observation: str, rewrite: str, context: Sequence[str], known_names: Collection[str], allowed: Collection[str]
) -> list[Drift]:
    said, written = figures(_without(observation, known_names)), figures(_without(rewrite, known_names))
    is_new = bool(written.ids - said.ids or written.numbers - said.numbers)  # else nobody need have said it
    others = [figures(text) for text in (*context, *known_names, *allowed)] if is_new else []
    ids = said.ids.union(*(other.ids for other in others))
    numbers = said.numbers.union(clock_readings(observation), *(other.numbers for other in others))
    soft = replaceable(observation) if allowed else frozenset[str]()
    given = "\n".join((observation, *context, *known_names, *allowed))
    drifts = [Drift("id_lost", found) for found in sorted(said.ids - written.ids) if not _stands(found, rewrite)]
    drifts += [
        Drift("person_invented" if found.startswith("@") else "id_invented", found)
        for found in sorted(written.ids - ids)
        if not _stands(found, given)
    ]
    drifts += [Drift("number_lost", found) for found in sorted(said.numbers - written.numbers - soft)]
    drifts += [Drift("number_invented", found) for found in sorted(written.numbers - numbers)]
    return drifts


def _stands(identifier: str, text: str) -> bool:
    """Tell whether an id stands in a text as a whole, also where a cut of the text into runs would hide it."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(identifier)}(?![A-Za-z0-9_])", text) is not None


def _without(text: str, names: Collection[str]) -> str:
    """Return `text` without the known names, whose numerals (张三) are no numbers."""
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1 and not name.isdigit():
            text = text.replace(name, " ")
    return text


def negations_in(text: str) -> list[tuple[str, int]]:
    """Return the words in `text` that deny something, in order, each with where it ends; 不错, 差不多 deny nothing."""
    plain = _NEUTRAL.sub(lambda match: "，" * len(match[0]), text)
    return [(match[0].lower(), match.end()) for match in _NEGATION.finditer(plain)]


def negations(text: str) -> list[str]:
    """Return the words in `text` that deny something, in order; 不错, 差不多, "no problem" deny nothing."""
    return [word for word, _ in negations_in(text)]


def _polarity_drifts(observation: str, rewrite: str) -> list[Drift]:
    said, written = negations(observation), negations(rewrite)
    if len(said) == len(written):
        return []
    longer, shorter = (said, list(written)) if len(said) > len(written) else (written, list(said))
    for word in longer:
        if word not in shorter:
            return [Drift("polarity", word)]
        shorter.remove(word)
    return [Drift("polarity", longer[-1])]


def _person_drifts(
    observation: str, rewrite: str, context: Sequence[str], known_names: Collection[str], allowed: Collection[str]
) -> list[Drift]:
    sources, known = (observation, *context, *allowed), (*known_names, *allowed)
    return [Drift("person_invented", name) for name in persons(rewrite) if not is_supported(name, sources, known)]
