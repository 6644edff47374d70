"""Decides whether an exchange holds something worth remembering, and states it: by a model, or by rules without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from historian import violations
from historian.asking import Asking, Attempt, Trouble
from historian.attribution import Told, misattributed
from historian.capture_rules import NOTHING, REASONS, Kind, needs_a_date, spelled, worth_keeping
from historian.chat import Chat
from historian.facts import facts_of, language_of, moment
from historian.gate import Finding as Hit
from historian.gate import GateKind, inspect
from historian.identity import Drift, check_identity
from historian.identity_words import Material, check_extract
from historian.model import Message, Origin
from historian.options import HistorianOptions
from historian.patterns import lazy_pattern
from historian.rewrite import RewriteContext, Rewritten, rewrite_offline
from historian.scribe import cleaned
from historian.text import clip
from historian.turn import MAX_STATEMENT_LENGTH
from prompts import Prompt, PromptLibrary

MOST_BY_RULES = 4
"""Sentences of one exchange that rules keep at most."""
_EARLIER = {"zh": "（更早，仅供理解）", "en": "(earlier, to understand only) "}
_WE = lazy_pattern(r"(?i:we|us|ours?|ourselves)(?:['’][a-z]+)?|(?:我|咱)们|咱")
_MONTH = lazy_pattern(
    r"[一二三四五六七八九十]月|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_WHY: dict[Trouble, str] = {
    "unusable": "The chat model gave no usable answer; decided by rules. ",
    "outage": "The chat model was away; decided by rules. ",
    "refused": "The chat model refused or is not set up rightly; decided by rules. ",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One message of an exchange: as it was said, who said it, and what rules make of it. `is_new` is considered."""

    message: Message
    speaker: str
    rewritten: Rewritten
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement worth remembering. `original` are the words it rests on, `cited` whose they are, oldest first."""

    statement: str
    original: str
    cited: tuple[Line, ...]
    flags: tuple[str, ...]
    is_absolute: bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided and why. `by` is model or rules; nothing found means that nothing is remembered."""

    reason: str
    by: str
    found: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Verdict:
    should_remember: bool
    reason: str
    statement: str
    cited: tuple[Line, ...]


class Considerer:
    """Asks the model of the role `capture`. Blocks; thread-safe. Never raises a ModelError."""

    def __init__(self, chat: Chat, prompts: PromptLibrary, options: Callable[[], HistorianOptions]) -> None:
        self._chat = chat
        self._prompts = prompts
        self._options = options
        self._asking = Asking(chat, prompts, "capture", lambda: options().rewrite_max_retry)

    def consider(self, lines: Sequence[Line], context: RewriteContext) -> Decision:
        """Return the decision on the new lines of an exchange; the others only help to understand them."""
        if not any(line.is_new and line.message.role == "user" for line in lines):
            return Decision("No person said anything.", "rules")
        if not self._asking.configured:
            return by_rules(lines)
        first = self._first(lines, context)
        decided: list[Decision] = []

        def attempt(prompt: Prompt) -> Attempt:
            wrote, verdict = self._ask(prompt, lines)
            decision, complaints = _judged(verdict, lines, first.language)
            decided.extend([decision] if decision else [])
            return Attempt(wrote, complaints)

        trouble = self._asking.trouble(first, attempt)
        return decided[-1] if decided else by_rules(lines, trouble)

    def _first(self, lines: Sequence[Line], context: RewriteContext) -> Prompt:
        language = language_of(line.message.content for line in lines if line.message.role == "user")
        return self._prompts.load("capture", language).render(
            exchange=[_shown(line, language, self._options()) for line in lines],
            facts=facts_of([line.rewritten for line in lines], context, language),
            speaker=context.speaker_name or "",
            group=context.group_name or "",
            place=context.location or "",
            said_at=moment(context.said_at, language),
        )

    def _ask(self, prompt: Prompt, lines: Sequence[Line]) -> tuple[str, _Verdict]:
        from historian.shapes import Verdict

        answer = self._chat.answer("capture", prompt, Verdict)
        value = answer.value
        numbers = sorted({number for number in value.messages if 0 < number <= len(lines)})
        cited = tuple(lines[number - 1] for number in numbers)
        return answer.text, _Verdict(value.should_remember, value.reason.strip(), cleaned(value.statement), cited)


def by_rules(lines: Sequence[Line], trouble: Trouble | None = None) -> Decision:
    """Return what rules decide; `trouble` is what kept the model from deciding.

    Statements that would need context to know whom or where they mean are left out.
    """
    origin = Origin.OFFLINE if trouble is None else Origin.DEGRADED
    found: list[Finding] = []
    reasons: list[str] = []
    for line in lines:
        if not line.is_new or line.message.role != "user":
            continue
        for worth in worth_keeping(line.message.content):
            rewritten = rewrite_offline(spelled(worth.sentence), _context_of(line))
            hits = inspect(rewritten.text)
            lacks = [
                hit for hit in hits if hit.kind is not GateKind.TIME and not _is_shared(worth.kind, hit, rewritten.text)
            ]
            undated = needs_a_date(worth.kind) and not rewritten.times and not _has_date(worth.sentence)
            if lacks or undated or len(found) == MOST_BY_RULES:
                continue
            flags = tuple(dict.fromkeys([*(f"{hit.kind}:{hit.found}" for hit in hits), *rewritten.flags]))
            marked = flags if trouble is None else (*flags, f"model:{trouble}")
            found.append(Finding(rewritten.text, worth.sentence, (line,), marked, not flags, origin))
            reasons.append(REASONS[worth.kind])
    why = "" if trouble is None else _WHY[trouble]
    return Decision(why + (" ".join(dict.fromkeys(reasons)) or NOTHING), "rules", tuple(found))


def _judged(verdict: _Verdict, lines: Sequence[Line], language: str) -> tuple[Decision | None, list[str]]:
    """Return the decision, or what is wrong with the verdict as sentences for the model."""
    if not verdict.should_remember:
        return Decision(verdict.reason or "The model found nothing worth remembering.", "model"), []
    cited = tuple(one for one in verdict.cited if one.is_new) or tuple(
        line for line in lines if line.is_new and line.message.role == "user"
    )
    if not verdict.statement or len(verdict.statement) > MAX_STATEMENT_LENGTH:
        return None, [violations.other(1, language, "too_long" if verdict.statement else "empty")]
    findings = inspect(verdict.statement)
    drifts = _drifts(verdict.statement, cited, lines)
    if drifts or findings:
        return None, violations.about(1, language, drifts, findings)
    said = "\n".join(one.message.content for one in cited)[:MAX_STATEMENT_LENGTH]
    finding = Finding(verdict.statement, said, cited, (), is_absolute=True, origin=Origin.MODEL)
    return Decision(verdict.reason, "model", (finding,)), []


def line_of(message: Message, speaker: str, context: RewriteContext, *, is_new: bool) -> Line:
    """Return a message as a line of an exchange; the first person of an assistant is the agent."""
    own = replace(context, said_at=message.ts, speaker_name=speaker)
    return Line(message, speaker, rewrite_offline(message.content[:MAX_STATEMENT_LENGTH], own), is_new)


def _context_of(line: Line) -> RewriteContext:
    return RewriteContext(said_at=line.message.ts, speaker_name=line.speaker)


def _is_shared(kind: Kind, hit: Hit, text: str) -> bool:
    """Tell whether a hit is the "we" of a plan, or of whom the text is about: the speaker is one of them.

    The flag says that others are, too.
    """
    return _WE.fullmatch(hit.found) is not None and (kind == "plan" or text.startswith(hit.found))


def _has_date(text: str) -> bool:
    return any(character.isdigit() for character in text) or _MONTH.search(text) is not None


def _shown(line: Line, language: str, options: HistorianOptions) -> str:
    """Return a message for the model: what is considered as far as rules read it, the rest as short as elsewhere."""
    earlier = "" if line.is_new else _EARLIER[language]
    if not line.is_new:
        most = options.recent_message_line_max_len
    else:
        most = MAX_STATEMENT_LENGTH if line.message.role == "user" else options.source_message_max_len
    return f"{earlier}{line.speaker} ({line.message.role}): {clip(line.message.content, most)}"


def _drifts(statement: str, cited: Sequence[Line], lines: Sequence[Line]) -> tuple[Drift, ...]:
    said = "\n".join(one.rewritten.dated for one in cited)
    names = tuple(dict.fromkeys(line.speaker for line in lines))
    allowed = tuple(meaning for line in cited for meaning in line.rewritten.allowed)
    context = tuple(line.message.content for line in lines)
    invented = check_identity(said, statement, context=context, known_names=names, allowed=allowed)
    foreign = tuple(one for one in invented if one.kind in ("id_invented", "number_invented", "person_invented"))
    material = Material(
        observation=said,
        by_rules="\n".join(one.rewritten.text for one in cited),
        given=(*names, *allowed),
        context=context,
    )
    told = [Told(line.speaker, line.rewritten.text, line.message.role == "user") for line in lines]
    return (*foreign, *check_extract(material, statement), *misattributed(statement, told))
