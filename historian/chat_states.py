"""What runs without a chat model, said for those who ask how the memory is doing."""

from __future__ import annotations

from historian.chat import Chat, Role
from historian.troubles import Trouble

_BY_RULES: dict[Role, str] = {
    "rewrite": "events are written by rules",
    "merge": "profiles are merged by rules",
    "capture": "a conversation without an end is judged by a rule",
}


def runs_offline(chat: Chat, *, is_half_set: bool = False) -> tuple[str, ...]:
    """Return what is done by rules because no model is set for it; `is_half_set` says that an address is."""
    missing: list[Role] = [role for role in _BY_RULES if not chat.configured(role)]
    if len(missing) == len(_BY_RULES):
        hint = "; chat.base_url is set, so set chat.model too" if is_half_set else ""
        return (f"events are written by rules: no chat model is configured{hint}",)
    return tuple(f"{_BY_RULES[role]}: no chat model is configured for {role}" for role in missing)


def out_of_order(chat: Chat) -> tuple[Trouble, ...]:
    """Return which models do not answer now, why, and since when."""
    return tuple(
        Trouble(f"no chat model answers for {' and '.join(one.roles)}: {one.reason}", one.since)
        for one in chat.troubles()
    )
