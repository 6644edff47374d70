"""From observations to events, without a model: rewrite by rules, check with gate and for drift, flag the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from historian.evidence import Evidence
from historian.gate import inspect
from historian.identity import check_identity, unsupported_persons
from historian.model import ECHO, Event, Origin
from historian.rewrite import RewriteContext, Rewritten, rewrite_offline
from historian.work import TurnWork

NO_EVIDENCE = "evidence:none"
"""Flag of an event that no message of the record stands behind."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of one event before it is stored, and what was found wrong with it."""

    text: str
    flags: tuple[str, ...]
    is_absolute: bool


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is asked of the memory: which earlier event says the same, and whether the record knows a name."""

    same_as: Callable[[str], str | None]
    mentions: Callable[[str], bool]


def draft_events(work: TurnWork, evidence: Evidence, end_seq: int, remembered: Remembered) -> list[Event]:
    """Return the events of one turn: one per observation, and one for the memo, which is no new information."""
    context = _context(work, evidence)
    events: list[Event] = []
    for index, observation in enumerate(work.turn.observations):
        if not observation:
            continue
        draft = draft_statement(observation, context, work, evidence, remembered)
        earlier = remembered.same_as(draft.text) or next((e.event_id for e in events if e.text == draft.text), None)
        if index in work.echoes:
            draft = replace(draft, flags=(*draft.flags, ECHO))
            earlier = earlier or ECHO
        events.append(_event(work, evidence, end_seq, index, observation, draft, earlier))
    if work.turn.memo:
        events.append(_memo(work, evidence, end_seq, context))
    return events


def draft_statement(
    observation: str, context: RewriteContext, work: TurnWork, evidence: Evidence, remembered: Remembered
) -> Draft:
    """Rewrite one observation; drift is stored verbatim and flagged, also with `force`."""
    rewritten = rewrite_offline(observation, context)
    known = tuple(name for name in (evidence.sender_name, work.session.agent_name, work.sender_id) if name)
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


def _invented(observation: str, sources: Sequence[str], known: Sequence[str], remembered: Remembered) -> list[str]:
    """Return the persons that the agent names and nobody mentioned."""
    if not sources:
        return []
    return [name for name in unsupported_persons(observation, sources, known) if not remembered.mentions(name)]


def _context(work: TurnWork, evidence: Evidence) -> RewriteContext:
    return RewriteContext(
        said_at=evidence.said_at,
        speaker_name=evidence.sender_name or work.sender_id,
        agent_name=work.session.agent_name,
        group_name=work.session.group_name,
        location=work.turn.location or work.session.location,
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
        location=work.turn.location or session.location,
        request_type="group" if scope.group_id else "private",
        message_ids=evidence.message_ids,
        is_absolute=draft.is_absolute,
        flags=draft.flags,
        origin=Origin.OFFLINE,
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
