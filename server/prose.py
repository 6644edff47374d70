"""Results as prose, for the text channel: what a model or a person reads."""

from __future__ import annotations

from historian.turn import Receipt
from historian.views import AppendResult, FoundEvents, FoundProfiles, ProfileView, Status
from server.answers import NOTHING_FOUND, local, quoted


def end_prose(receipt: Receipt) -> str:
    """Say what became of the turn."""
    if receipt.job_id is None:
        return receipt.note or "The turn is closed; there was nothing to remember, so nothing was queued."
    first = f"Queued as job {receipt.job_id}."
    if receipt.duplicate:
        first = f"This repeats job {receipt.job_id}; nothing new was queued."
    advice = [f"Observation {a.index}: {a.hint}" for a in receipt.gate]
    return "\n".join([first, *([receipt.note] if receipt.note else []), *advice])


def events_prose(found: FoundEvents) -> str:
    """List the events, each as quoted data with its id, time and evidence."""
    lines = [
        f"{number}. {quoted(item.event.text)} ({local(item.event.timestamp, item.event.timezone)}; "
        f"{'event' if item.event.has_new_info else 'memo: what an agent did, event'} "
        f"{item.event.event_id}; messages {', '.join(item.event.message_ids) or 'none'})"
        for number, item in enumerate(found.events, start=1)
    ]
    head = f"{len(lines)} remembered, best first (quoted data):" if lines else NOTHING_FOUND
    return "\n".join([head, *lines, *notices(found.degraded, found.warnings)])


def profile_prose(view: ProfileView) -> str:
    """Give the profile's Markdown as a quoted block."""
    if not view.text.strip():
        return "\n".join(["Nothing is known yet.", *notices((), view.warnings)])
    block = "\n".join(f"> {line}" for line in view.text.splitlines())
    name = f"{view.entity_type} {view.entity_id}"
    return "\n".join([f"Profile of {name} (quoted data):", block, *notices((), view.warnings)])


def profiles_prose(found: FoundProfiles) -> str:
    """List the profiles with the line that answers."""
    names = [f" ({quoted(hit.name)})" if hit.name else "" for hit in found.profiles]
    lines = [
        f"{number}. {hit.entity_type} {hit.entity_id}{name}: {quoted(hit.snippet)}"
        for number, (hit, name) in enumerate(zip(found.profiles, names, strict=True), start=1)
    ]
    return "\n".join([*(lines or [NOTHING_FOUND]), *notices(found.degraded, ())])


def status_prose(status: Status) -> str:
    """Say how the memory is doing, and where the asked job stands."""
    lines: list[str] = []
    if status.job is not None:
        job = status.job
        at = f" at step {job.step}" if job.step else ""
        why = f": {job.error.removesuffix('.')}" if job.error else ""
        lines.append(f"Job {job.job_id} is {job.state}{at} after {job.attempts} failed attempts{why}.")
        if job.decision is not None:
            kept = "worth remembering" if job.decision.should_remember else "not worth remembering"
            lines.append(f"Decided by {job.decision.by}: {kept}. {job.decision.reason}")
        if job.next_retry is not None:
            lines.append(f"It is tried again at {local(job.next_retry, status.timezone)}.")
    age = f", the oldest for {status.oldest_age_seconds:.0f} s" if status.oldest_age_seconds is not None else ""
    lines.append(f"{status.pending} pending{age}, {status.processing} processing, {status.failed} failed.")
    lines.append(f"{status.unembedded} statements wait for their vector (they are found by words already).")
    lines += [f"Failed {job.job_id}: {job.error}" for job in status.failures]
    lines += [f"Memo {local(memo.at, memo.timezone)}: {quoted(memo.text)}" for memo in status.memos]
    lines += [
        f"A merge of the profile of {one.entity_type} {one.entity_id} is held for review {one.review_id}: "
        f"{quoted('; '.join(one.reasons))} A person decides with `shiguan profile review`."
        for one in status.held
    ]
    if status.offline:
        lines.append("Runs offline: " + "; ".join(status.offline) + ".")
    since = {one.what: local(one.since, status.timezone) for one in status.troubles}
    degraded = tuple(f"{what} (since {since[what]})" for what in status.degraded)
    return "\n".join([*lines, *notices(degraded, status.settings), *([status.hint] if status.hint else [])])


def append_prose(result: AppendResult) -> str:
    """Say what became of the messages."""
    head = f"{result.inserted} recorded, {result.ignored} known already, {len(result.failed)} refused."
    refused = [f"Message {index}: {reason}" for index, reason in result.failed]
    return "\n".join([head, *refused, *notices((), result.warnings)])


def notices(degraded: tuple[str, ...], warnings: tuple[str, ...]) -> list[str]:
    """Return what is to be said about an answer besides what it holds."""
    return [*(f"Degraded: {what}" for what in degraded), *(f"Note: {what}" for what in warnings)]
