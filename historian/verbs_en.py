"""English verbs, as far as saying `I` in the third person needs them."""

from __future__ import annotations

import re
from typing import Final

from historian.patterns import lazy_pattern, words
from historian.tense import SELDOM_PAST

ADVERB: Final = (
    r"(?:also|first|last|once|twice|seldom|soon|long|no\slonger|no\smore|perhaps|maybe|somehow|therefore|thus|instead|again|"
    r"nearly|hardly|really|usually|always|never|neither|either|myself|just|often|still|only|even|already|now|then|both|do|too|ever|rather|quite|"
    r"almost|sometimes|mostly|simply|[a-z]{2,15}ly)"
)
_UNCHANGED: Final = frozenset(
    words(
        "can could will would should must may might shall had did was were used ought cannot can't couldn't "
        "nor than plus won't wouldn't shouldn't mustn't hadn't didn't wasn't weren't better and or but to in on at "
        "the a an "
        "of for with who that if as is are has does too myself went came saw met took got gave made said told "
        "left lost won ran sold sent spent bought brought caught thought taught fought felt fell found flew "
        "forgot froze broke began became bit blew built burnt chose dealt dreamt learnt leapt leant spelt "
        "spilt spoilt smelt drank drove ate heard held "
        "kept knew laid led lent lay meant paid quit rode rang rose sang sat shook shot slept slid spoke "
        "spilt stood stole stuck swam swore threw tore understood woke wore wrote overslept withdrew drew "
        "grew hid hung sank been"
    )
) | frozenset(SELDOM_PAST)
_SAME_IN_PAST: Final = frozenset(words("put cut set let hit hurt read cost shut spread bet quit split"))
_PRESENT_ED: Final = frozenset(words("need feed bleed breed exceed proceed succeed speed heed weed shed wed"))
_IRREGULAR: Final = {
    "am": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "ain't": "isn't",
}
_COMMON: Final = frozenset(
    words(
        "like love hate prefer want need use work live play eat drink drive run walk study teach learn read "
        "write speak know think feel enjoy own keep go do have am don't haven't take make sing cook bake "
        "paint travel commute collect train practice practise volunteer attend visit avoid dislike sleep wake "
        "exercise watch listen manage lead build plan hope believe wear buy sell raise grow coach tutor speak "
        "usually suffer support follow swim hike cycle climb dance knit sew "
        "come arrive bring return"
    )
)
_NOUN_AFTER: Final = lazy_pattern(
    r"\sreturn\s(?!(?:home|back|to|from|on|in|at|by|with|the|my|it|them|there|here|next|this|every|until|later)\b)",
    re.IGNORECASE,
)
_PARTICLE: Final = lazy_pattern(r"\s(?:back|home|again)\b", re.IGNORECASE)
_DENIED: Final = lazy_pattern(r"\b(?:do|have|does|has)(?:n['’]t|\snot)\b", re.IGNORECASE)
_BUT: Final = lazy_pattern(r",?\sbut\s|\s(?:any\s?more|any\slonger|at\sall)(?=,?\sand\s)", re.IGNORECASE)
"""Where what is denied ends: does not drink milk any more and drinks tea."""
_JOINED: Final = lazy_pattern(
    rf"(?:\s(?:and|but|or|nor)|,(?:\sand|\sbut)?)\s(?:{ADVERB}\s)?(?P<verb>[A-Za-z]+(?:['’]t)?)(?![\w-])", re.IGNORECASE
)
_REACH: Final = 80
_CLAUSE_END: Final = lazy_pattern(
    r"[.!?;:。！？；\n]|\bto\s(?!(?:the|my|a|an|our)\b|[A-Z0-9])|\b(?:I|he|she|they|we|you|it|who|which|because|that)\b"
)


def third_person(verb: str, *, past: bool = False) -> str:
    """Return the form that a verb after `I` takes after a name; `past` says that the clause speaks of the past."""
    plain = verb.replace("’", "'")
    lower = plain.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower] if "’" not in verb else _IRREGULAR[lower].replace("'", "’")
    if lower in _UNCHANGED or (past and lower in _SAME_IN_PAST):
        return verb
    if lower.endswith("ed") and lower not in _PRESENT_ED:
        return verb
    if lower.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if lower.endswith("y") and lower[-2:-1] not in tuple("aeiou"):
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def joined_verbs(text: str, after: int) -> list[tuple[int, int, str]]:
    """Return the further verbs of the same subject (`likes tea and hates coffee`) as spans with their new form."""
    stop = _CLAUSE_END.search(text, after, min(len(text), after + _REACH))
    end = stop.start() if stop else min(len(text), after + _REACH)
    if _DENIED.search(text, max(0, after - 12), after + 4):
        but = _BUT.search(text, after, end)
        if but is None:
            return []  # what follows may be denied, too: does not drink and drive
        after = but.start()
    found: list[tuple[int, int, str]] = []
    for match in _JOINED.finditer(text, after, end):
        known = match["verb"].lower().replace("’", "'") in _COMMON
        known = known or _PARTICLE.match(text, match.end("verb")) is not None
        if known and _NOUN_AFTER.match(text, match.start("verb") - 1) is None:
            found.append((*match.span("verb"), third_person(match["verb"])))
    return found
