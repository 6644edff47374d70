"""The check of a model's wording: nothing of the observation is lost, turned round, or joined by what nobody said.

`identity` compares ids, numbers, persons and the count of negations. A model can keep all of these and still say
something else: another noun, the other half of a sentence denied, two numbers or names exchanged. Conservative: what is
refused here is asked for again, and written by rules in the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from historian.fold import CJK, fold, has_cjk
from historian.identity import Drift, negations_in
from historian.identity_numbers import ordered_numbers
from historian.past import told_as_present
from historian.stances import denies
from historian.word_order import exchanged, is_name, places, steps
from historian.wording import (
    AND_ANEW,
    ATTITUDES,
    HEDGES,
    LIMITS,
    ONLY_BUT,
    antonyms,
    canonical,
    is_light,
    lemma,
    timeless,
)

_TOKEN = re.compile(f"[{CJK}]|(?:(?![{CJK}])[^\\W\\d_])+")
_CLAUSE = re.compile(
    rf"[,，.。;；:：!！?？、\n]|\b(?:but|while|whereas|although|though)\b|但是?|可是|{ONLY_BUT}|却|而(?!且)"
    rf"|{AND_ANEW}"
)
_SENTENCE = re.compile(r"[。！？!?\n]+|\.\s")
_LATIN_NAME = re.compile(r"(?<![\w@./-])[A-Z][A-Za-z]*[a-z](?![\w@/])")
_LOST_ONE_IN = 8
"""Of so many content words one may be lost; where anything was taken from the context, none."""
_BORROWED_WORDS, _BORROWED_CHARACTERS = 6, 12
"""What each `he`, `there` or 这个 may be replaced by: so much of the context at most."""
_SCOPE = 12
"""Content words after a negation within which what it denies has to stand."""
_HEADS = 2
_Hedge = tuple[re.Pattern[str], re.Pattern[str]]
_OWN_ONE_IN = 4
"""Of so many content words of a line in a profile one may be its own."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a statement may be made of.

    `observation` has its times resolved, `by_rules` is it with what rules could replace. `given` are names, places and
    dates that may come in; `context` are texts that only tell what `references` many words of the observation mean.
    """

    observation: str
    by_rules: str
    given: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    references: int = 0


def check_wording(material: Material, rewrite: str) -> tuple[Drift, ...]:
    """Return how the words of `rewrite` depart from what it was made of; an empty tuple means they do not."""
    if rewrite == material.observation == material.by_rules:
        return ()
    said, written = _Words(material.observation), _Words(rewrite)
    return (
        *_language(material.observation, rewrite),
        *_content(material, said, written),
        *_scopes(material.observation, rewrite),
        *_opposites(said, written),
        *_hedges(material.observation, rewrite, (*HEDGES, *LIMITS)),
        *_past(material.observation, rewrite),
        *_order(material, rewrite),
    )


def check_extract(material: Material, statement: str) -> tuple[Drift, ...]:
    """Return how `statement` departs from the texts that it was drawn from; it may leave out what it is not about."""
    said, written = _Words(material.observation), _Words(statement)
    given = _Words("\n".join((*material.given, material.by_rules)))
    invented, runs = _foreign(written, said.known | given.known, _Words("\n".join(material.context)))
    foreign = [*invented, *(token for run in runs if not run.fits for token in run.tokens)]
    nearest = _nearest(material.observation, written)
    return (
        *_language(material.observation, statement),
        *(Drift("word_invented", token) for token in dict.fromkeys(foreign)),
        *_scopes(material.observation, statement, about=written.known),
        *_scopes(statement, material.observation),
        *_hedges(nearest, statement),
        *_past(nearest, statement),
        *_opposites(_Words(nearest), written),
    )


def check_summary(text: str, said: Sequence[str], sources: Sequence[str], given: Sequence[str]) -> tuple[Drift, ...]:
    """Return how a line that sums up what was `said` departs from it. From the `sources` it may take more.

    It may leave out and put together, in words of its own, but not turn round what is said, nor add to it.
    """
    written = _Words(text)
    nearest = _nearest("\n".join(said), written)
    own = _Words("\n".join((*sources, *given)))
    foreign = [token for token in dict.fromkeys(written.content) if token not in own.known]
    ended = any(denies(source) and not negations_in(source) for source in sources)
    return (
        *([Drift("word_invented", token) for token in foreign] if len(foreign) > _own_words(written) else ()),
        *_scopes("\n".join(said), text, about=written.known),
        *(() if ended else _scopes(text, "\n".join(sources))),
        *_opposites(_Words(nearest), written),
        *_hedges(nearest, text),
        *_past(nearest, text),
        *_exchanged(nearest, text),
    )


def turns_round(said: str, line: str) -> bool:
    """Tell whether a line that is to say the same says the opposite, or as of now what is over, or exchanges who."""
    opposite = _opposites(_Words(said), _Words(line))
    return bool(opposite or _past(said, line) or _exchanged(said, line))


def _own_words(written: _Words) -> int:
    """Return how many words of its own a line may have."""
    return max(1, len(written.content) // _OWN_ONE_IN)


def content_of(text: str) -> list[str]:
    """Return the words of a text that say something, in order."""
    return _Words(text).content


def _nearest(text: str, written: _Words) -> str:
    """Return the sentence of `text` that shares most words with a statement."""
    content = set(written.content)
    return max(_SENTENCE.split(text), key=lambda sentence: len(content.intersection(_Words(sentence).content)))


class _Words:
    """The words of a text that say something, in order: lemmas of Latin words, and single CJK characters."""

    def __init__(self, text: str) -> None:
        self.folded = canonical(timeless(fold(text)))
        self.tokens = [lemma(match[0]) for match in _TOKEN.finditer(self.folded)]

    @cached_property
    def content(self) -> list[str]:
        """The tokens without those that carry no meaning of their own."""
        return [token for token in self.tokens if not is_light(token)]

    @cached_property
    def known(self) -> frozenset[str]:
        """All tokens."""
        return frozenset(self.tokens)

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Each two CJK characters that stand side by side."""
        return frozenset(a + b for a, b in zip(self.tokens, self.tokens[1:], strict=False) if has_cjk(a) and has_cjk(b))


def _language(observation: str, rewrite: str) -> list[Drift]:
    """P67: what was said in Chinese stays Chinese, what was said in a Latin script does not become Chinese."""
    said, written = (len(re.findall(f"[{CJK}]", text)) for text in (observation, rewrite))
    if said >= 2 and not written:
        return [Drift("language", "zh")]
    if not said and written > len(re.findall(r"[A-Za-z]+", rewrite)):
        return [Drift("language", "en")]
    return []


@dataclass(frozen=True, slots=True)
class _Run:
    """Words in a row that come from the context only, and where they begin."""

    at: int
    tokens: list[str]

    @property
    def fits(self) -> bool:
        """Whether they are short enough to stand for one reference."""
        characters = sum(has_cjk(token) for token in self.tokens)
        return characters <= _BORROWED_CHARACTERS and len(self.tokens) - characters <= _BORROWED_WORDS


def _content(material: Material, said: _Words, written: _Words) -> list[Drift]:
    given = _Words("\n".join((*material.given, material.by_rules)))
    context = _Words("\n".join(material.context))
    invented, runs = _foreign(written, said.known | given.known, context)
    begun = next((at for at, token in enumerate(written.tokens) if not is_light(token) and token in said.known), None)
    drifts = [Drift("word_invented", token) for token in dict.fromkeys(invented)]
    drifts += [Drift("word_borrowed", token) for token in _too_much(material, runs, begun)]
    lost = [token for token in dict.fromkeys(said.content) if token not in written.known]
    if len(lost) > (0 if runs or invented else len(said.content) // _LOST_ONE_IN):
        drifts += [Drift("word_lost", token) for token in lost]
    return drifts


def _foreign(written: _Words, own: frozenset[str], context: _Words) -> tuple[list[str], list[_Run]]:
    """Return the words that come from nowhere, and the runs of words that come from the context only."""
    invented: list[str] = []
    runs: list[_Run] = []
    is_open = False
    for at, token in enumerate(written.tokens):
        if is_light(token):
            continue
        if token in own:
            is_open = False
        elif not _stands_in(written.tokens, at, context):
            invented.append(token)
        elif is_open:
            runs[-1].tokens.append(token)
        else:
            runs.append(_Run(at, [token]))
            is_open = True
    return invented, runs


def _stands_in(tokens: Sequence[str], at: int, context: _Words) -> bool:
    """Tell whether a word comes from the context: a CJK character only together with its neighbour there."""
    token = tokens[at]
    if not has_cjk(token):
        return token in context.known
    before, after = "".join(tokens[max(0, at - 1) : at + 1]), "".join(tokens[at : at + 2])
    return before in context.pairs or after in context.pairs


def _too_much(material: Material, runs: Sequence[_Run], begun: int | None) -> list[str]:
    """Return what was taken from the context beyond what stands for a reference, or for a subject left out."""
    fits = all(run.fits for run in runs)
    ahead = begun is not None and all(run.at < begun for run in runs)
    if fits and len(runs) <= (material.references or int(ahead)):
        return []
    return [token for run in runs for token in run.tokens]


def _scopes(observation: str, rewrite: str, about: frozenset[str] | None = None) -> list[Drift]:
    """Each negation must deny the same: 不吃辣但吃鱼 is not 吃辣但不吃鱼. With `about` only what denies such words."""
    said, written = list(_denied(observation)), list(_denied(rewrite))
    for word, following in said:
        heads = _heads(following)
        concerns = about is None or about.issuperset(heads)
        if (
            heads
            and concerns
            and not any(_in_order(heads[-1:] if by == "no" else heads, other) for by, other in written)
        ):
            return [Drift("polarity", word)]
    return []


def _heads(following: Sequence[str]) -> Sequence[str]:
    """Return the first words that are denied; in 不喜欢加糖 these are 加糖, since one likes many things."""
    skipped = next((len(one) for one in ATTITUDES if [*one] == [*following[: len(one)]]), 0)
    return following[skipped : skipped + _HEADS] or following[:_HEADS]


def _denied(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each negation with the content words that follow it in its clause."""
    for word, end in negations_in(text):
        clause = _CLAUSE.split(text[end : end + 200], maxsplit=1)[0]
        yield word, _Words(clause).content[:_SCOPE]


def _in_order(wanted: Sequence[str], among: Sequence[str]) -> bool:
    rest = iter(among)
    return all(word in rest for word in wanted)


def _opposites(said: _Words, written: _Words) -> list[Drift]:
    found: list[Drift] = []
    for one, other in antonyms():
        for kept, turned in ((one, other), (other, one)):
            if _has(said, kept) > _has(written, kept) and _has(written, turned) > _has(said, turned):
                found.append(Drift("polarity", kept))
    return found


def _has(words: _Words, phrase: str) -> int:
    return words.folded.count(phrase) if has_cjk(phrase) else words.tokens.count(phrase)


def _hedges(observation: str, rewrite: str, hedges: Sequence[_Hedge] = HEDGES) -> list[Drift]:
    """What somebody wants, plans or thinks possible must not become what is."""
    return [
        Drift("modality", match[0])
        for said, enough in hedges
        if (match := said.search(observation)) is not None and enough.search(rewrite) is None
    ]


def _past(observation: str, rewrite: str) -> list[Drift]:
    """What was so must not become what is."""
    verb = told_as_present(observation, rewrite)
    return [] if verb is None else [Drift("modality", verb)]


def _exchanged(said: str, written: str) -> list[Drift]:
    """Who does what to whom must not change places."""
    turned = exchanged(steps(said), steps(written))
    return [Drift("order", " … ".join(turned))] if turned else []


def _order(material: Material, rewrite: str) -> list[Drift]:
    """Numbers and names must not change places: 3 cats and 2 dogs, Alice told Bob."""
    said = ordered_numbers(material.observation)
    written = [number for number in ordered_numbers(rewrite) if number in said]
    drifts: list[Drift] = []
    if list(dict.fromkeys(said)) != list(dict.fromkeys(written)) and set(said) == set(written):
        drifts.append(Drift("order", " … ".join(dict.fromkeys(written))))
    drifts += _exchanged(material.by_rules, rewrite)
    names = {name for name in (*material.given, *_LATIN_NAME.findall(material.by_rules)) if is_name(name)}
    before, after = places(material.by_rules, names), places(rewrite, names)
    if [name for name in before if name in after] != [name for name in after if name in before]:
        drifts.append(Drift("order", " … ".join(after)))
    return drifts
