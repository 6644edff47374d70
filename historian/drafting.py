"""From observations to events: phrased by a model where there is one, else by rules; checked, and flagged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from historian.evidence import Evidence
from historian.facts import facts_of, language_of, moment
from historian.gate import inspect
from historian.identity import check_identity, unsupported_persons
from historian.identity_words import Material
from historian.model import ECHO, Event, Origin
from historian.returned import bare
from historian.rewrite import RewriteContext, Rewritten, rewrite_offline
from historian.scribe import Brief, Phrase, Scribe, Task
from historian.wording import speaks_of_now
from historian.work import TurnWork

NO_EVIDENCE = "evidence:none"
"""Flag of an event that no message of the record stands behind."""
MODEL = "model:"
"""Begins the flag that says why a model that is set did not phrase an event: outage, refused, unusable."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of one event before it is stored, and what was found wrong with it."""

    text: str
    flags: tuple[str, ...]
    is_absolute: bool
    origin: Origin = Origin.OFFLINE


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is asked of the memory: which earlier event says the same, and whether the record knows a name.

    `stands` says of a statement, and of the earlier event that says the same, whether the profiles say it now.
    """

    same_as: Callable[[str], str | None]
    mentions: Callable[[str], bool]
    stands: Callable[[str, str | None], bool] = lambda text, earlier: True

    def is_echo(self, work: TurnWork, index: int, text: str) -> bool:
        """Say whether an observation only gives back what stands anyway; what was forgotten or overtaken is news."""
        if index not in work.echoes:
            return False
        text = bare(text)
        return self.stands(text, self.same_as(text))


def draft_events(
    work: TurnWork, evidence: Evidence, end_seq: int, remembered: Remembered, scribe: Scribe | None = None
) -> list[Event]:
    """Return the events of one turn: one per observation, and one for the memo, which is no new information."""
    events: list[Event] = []
    for index, draft in sorted(draft_statements(work, evidence, remembered, scribe).items()):
        observation = work.turn.observations[index]
        earlier = remembered.same_as(draft.text) or next((e.event_id for e in events if e.text == draft.text), None)
        if remembered.is_echo(work, index, draft.text):
            draft = replace(draft, flags=(*draft.flags, ECHO))  # noqa: PLW2901
            earlier = earlier or ECHO
        events.append(_event(work, evidence, end_seq, index, observation, draft, earlier))
    if work.turn.memo:
        events.append(_memo(work, evidence, end_seq, context_of(work, evidence)))
    return events


def draft_statements(
    work: TurnWork, evidence: Evidence, remembered: Remembered, scribe: Scribe | None
) -> Mapping[int, Draft]:
    """Return a draft for each observation that says something, by its index.

    The model is asked once for all of them, save for those that bring no news: echoes and what is known already.
    """
    context = context_of(work, evidence)
    said = {index: text for index, text in enumerate(work.turn.observations) if text}
    ruled = {index: rewrite_offline(text, context) for index, text in said.items()}
    drafts = {index: _by_rules(said[index], ruled[index], work, evidence, remembered) for index in said}
    if scribe is None or not scribe.is_there:
        return drafts
    news = [
        i
        for i in said
        if not remembered.is_echo(work, i, drafts[i].text) and remembered.same_as(drafts[i].text) is None
    ]
    if news:
        tasks = [_task(said[i], ruled[i], work, evidence) for i in news]
        brief = _brief(work, evidence, context, [said[i] for i in news], [ruled[i] for i in news])
        for index, phrase in zip(news, scribe.phrase(tasks, brief), strict=True):
            drafts[index] = _by_model(said[index], phrase, drafts[index])
    return drafts


def _by_rules(
    observation: str, rewritten: Rewritten, work: TurnWork, evidence: Evidence, remembered: Remembered
) -> Draft:
    """Return what rules made of one observation; drift is stored verbatim and flagged, also with `force`."""
    known = _known_names(work, evidence)
    sources = (*evidence.sources, *evidence.recent)
    drifts = check_identity(
        rewritten.dated, rewritten.text, context=sources, known_names=known, allowed=rewritten.allowed
    )
    text = observation if drifts else rewritten.text
    flags = [f"drift:{drift.kind}:{drift.found}" for drift in drifts]
    flags += [f"person:{name}" for name in _invented(observation, sources, known, remembered)]
    if not evidence.message_ids:
        flags.append(NO_EVIDENCE)
    unresolved = [] if work.turn.force else [*(f"{hit.kind}:{hit.found}" for hit in inspect(text)), *rewritten.flags]
    is_absolute = not unresolved and not drifts
    return Draft(text, tuple(dict.fromkeys([*flags, *unresolved])), is_absolute)


def _by_model(observation: str, phrase: Phrase, ruled: Draft) -> Draft:
    """Return the better of two drafts: what the model wrote, if that can stand, else what rules made, marked so."""
    about = tuple(flag for flag in ruled.flags if flag.startswith(("person:", NO_EVIDENCE)))
    if phrase.drifts:
        drift = (f"drift:{one.kind}:{one.found}" for one in phrase.drifts)
        return Draft(observation, tuple(dict.fromkeys([*about, *drift])), is_absolute=False, origin=Origin.DEGRADED)
    if phrase.text is None:
        return replace(ruled, flags=(*ruled.flags, f"{MODEL}{phrase.trouble}"), origin=Origin.DEGRADED)
    if phrase.findings and ruled.is_absolute:
        return replace(ruled, flags=(*ruled.flags, f"{MODEL}unusable"), origin=Origin.DEGRADED)
    found = (f"{hit.kind}:{hit.found}" for hit in phrase.findings)
    return Draft(phrase.text, tuple(dict.fromkeys([*about, *found])), not phrase.findings, Origin.MODEL)


def _task(observation: str, rewritten: Rewritten, work: TurnWork, evidence: Evidence) -> Task:
    names = (*_known_names(work, evidence), *filter(None, (work.session.group_name, _place(work))))
    today = (evidence.said_at.date().isoformat(),) if speaks_of_now(observation) else ()
    material = Material(
        observation=rewritten.dated,
        by_rules=rewritten.text,
        given=(*names, *rewritten.allowed),
        context=(*evidence.sources, *evidence.recent, *evidence.lines, *today),
        references=len(inspect(rewritten.text)),
    )
    return Task(observation, material, names, rewritten.allowed, work.turn.force)


def _brief(
    work: TurnWork,
    evidence: Evidence,
    context: RewriteContext,
    observations: Sequence[str],
    rewritten: Sequence[Rewritten],
) -> Brief:
    language = language_of(observations)
    return Brief(
        language=language,
        facts=facts_of(rewritten, context, language),
        speaker=context.speaker_name or "",
        group=work.session.group_name or work.scope.group_id or "",
        place=context.location or "",
        said_at=moment(evidence.said_at, language),
        source_message=evidence.excerpt,
        recent_messages=evidence.lines,
    )


def _known_names(work: TurnWork, evidence: Evidence) -> tuple[str, ...]:
    return tuple(name for name in (evidence.sender_name, work.session.agent_name, work.sender_id) if name)


def _place(work: TurnWork) -> str | None:
    return work.turn.location or work.session.location


def _invented(observation: str, sources: Sequence[str], known: Sequence[str], remembered: Remembered) -> list[str]:
    """Return the persons that the agent names and nobody mentioned."""
    if not sources:
        return []
    return [name for name in unsupported_persons(observation, sources, known) if not remembered.mentions(name)]


def context_of(work: TurnWork, evidence: Evidence) -> RewriteContext:
    """Return what is known about the observations of one turn."""
    return RewriteContext(
        said_at=evidence.said_at,
        speaker_name=evidence.sender_name or work.sender_id,
        agent_name=work.session.agent_name,
        group_name=work.session.group_name,
        location=_place(work),
        recent=evidence.recent,
    )


def _event(
    work: TurnWork, evidence: Evidence, end_seq: int, index: int, original: str, draft: Draft, same_as: str | None
) -> Event:
    scope, session = work.scope, work.session
    return Event(
        event_id=f"{work.request_id}:{end_seq}:{index}",
        owner=scope.owner,
        request_id=work.request_id,
        end_seq=end_seq,
        index=index,
        text=draft.text,
        original=original,
        timestamp=evidence.said_at,
        timezone=session.timezone,
        user_id=scope.user_id,
        group_id=scope.group_id,
        sender_id=work.sender_id,
        sender_name=evidence.sender_name,
        location=_place(work),
        request_type="group" if scope.group_id else "private",
        message_ids=evidence.message_ids,
        is_absolute=draft.is_absolute,
        flags=draft.flags,
        origin=draft.origin,
        same_as=same_as,
    )


def _memo(work: TurnWork, evidence: Evidence, end_seq: int, context: RewriteContext) -> Event:
    """The agent speaks in a memo, so its first person is the agent, whose name is often not known."""
    spoken = replace(context, speaker_name=work.session.agent_name, agent_name=None)
    rewritten: Rewritten = rewrite_offline(work.turn.memo, spoken)
    findings = inspect(rewritten.text)
    draft = Draft(rewritten.text, tuple(f"{f.kind}:{f.found}" for f in findings), not findings)
    index = len(work.turn.observations)
    return replace(_event(work, evidence, end_seq, index, work.turn.memo, draft, None), has_new_info=False)
