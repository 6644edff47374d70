"""What an operator may tune, as plain frozen values; `server.settings` reads them from flags, environment and file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

Bounds = Mapping[str, tuple[float, float]]


class _Table:
    """Base of the tables: every number stays within its bounds, and a name that is not a setting is refused."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    bounds: ClassVar[Bounds] = {}

    def __post_init__(self) -> None:
        for name, (low, high) in self.bounds.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name} must be from {low:g} to {high:g}")


@dataclass(frozen=True, slots=True)
class QueryOptions(_Table):
    """Ranking of searches (DESIGN: one composed relevance)."""

    bounds: ClassVar[Bounds] = {
        "auto_top_k": (0, 200),
        "tool_default_top_k": (1, 200),
        "profile_top_k": (1, 200),
        "rerank_candidate_multiplier": (0, 100),
        "time_decay_half_life_days_auto": (0.001, 36500),
        "time_decay_half_life_days_tool": (0.001, 36500),
        "time_decay_boost": (0, 10),
        "time_decay_min_similarity": (0, 1),
    }

    auto_top_k: int = 3
    tool_default_top_k: int = 12
    profile_top_k: int = 8
    enable_rerank: bool = True
    rerank_candidate_multiplier: int = 3
    time_decay_enabled: bool = True
    time_decay_half_life_days_auto: float = 14.0
    time_decay_half_life_days_tool: float = 60.0
    time_decay_boost: float = 0.2
    time_decay_min_similarity: float = 0.35


@dataclass(frozen=True, slots=True)
class HistorianOptions(_Table):
    """The background work. Lengths are characters, intervals seconds.

    `upgrades_per_hour` turns that rules wrote may be phrased again by a model that appears, 0 for none.
    """

    bounds: ClassVar[Bounds] = {
        "rewrite_max_retry": (0, 10),
        "recent_messages_inject_k": (0, 100),
        "recent_message_line_max_len": (1, 10_000),
        "source_message_max_len": (1, 100_000),
        "poll_interval_seconds": (0.01, 3600),
        "workers": (1, 64),
        "upgrades_per_hour": (0, 100_000),
    }

    rewrite_max_retry: int = 2
    recent_messages_inject_k: int = 12
    recent_message_line_max_len: int = 240
    source_message_max_len: int = 800
    poll_interval_seconds: float = 1.0
    workers: int = 1
    upgrades_per_hour: int = 120


@dataclass(frozen=True, slots=True)
class QueueOptions(_Table):
    """Retries and retention of jobs."""

    bounds: ClassVar[Bounds] = {
        "job_max_retries": (0, 100),
        "failed_max_age_days": (0, 36500),
        "failed_max_files": (0, 1_000_000),
    }

    job_max_retries: int = 3
    failed_max_age_days: float = 30.0
    failed_max_files: int = 500


@dataclass(frozen=True, slots=True)
class ProfileOptions(_Table):
    """Profile files."""

    bounds: ClassVar[Bounds] = {"revision_keep": (1, 1000), "max_lines": (1, 10_000)}

    revision_keep: int = 5
    max_lines: int = 100


@dataclass(frozen=True, slots=True)
class ContextOptions(_Table):
    """What is offered to an agent with every turn.

    `max_tokens` bounds the whole of it; `recent_turns_k` turns of the conversation are searched for, beside the
    message; `pinned_max` notes may be pinned in one scope, each of up to `pinned_note_max_len` characters.
    """

    bounds: ClassVar[Bounds] = {
        "recent_memos_inject_k": (0, 200),
        "max_tokens": (50, 100_000),
        "recent_turns_k": (0, 50),
        "group_statements_k": (0, 50),
        "pinned_max": (1, 200),
        "pinned_note_max_len": (1, 4000),
    }

    recent_memos_inject_k: int = 30
    max_tokens: int = 1200
    recent_turns_k: int = 6
    group_statements_k: int = 5
    pinned_max: int = 20
    pinned_note_max_len: int = 500


@dataclass(frozen=True, slots=True)
class RecallOptions(_Table):
    """What one recall may cost: rounds with the model, looks into the record, its tokens in all, and seconds."""

    bounds: ClassVar[Bounds] = {
        "rounds": (1, 100),
        "calls": (0, 1000),
        "tokens": (500, 10_000_000),
        "seconds": (0.1, 3600),
    }

    rounds: int = 8
    calls: int = 20
    tokens: int = 60_000
    seconds: float = 90.0


@dataclass(frozen=True, slots=True)
class GuardOptions(_Table):
    """What becomes of credentials in what is handed over: `mask` them, `refuse` the text, or `off`: store as it is."""

    credentials: Literal["mask", "refuse", "off"] = "mask"


@dataclass(frozen=True, slots=True)
class GroupOptions(_Table):
    """Group memory. `schedule` daily: every group with new messages evolves once a day, up to `jitter_minutes` later.

    A run reads at most `max_pages` pages of `max_messages`, the newest. Half of a statement's strength is gone after
    `half_life_days` without a confirmation; below `strength_floor` its deletion is proposed.
    """

    bounds: ClassVar[Bounds] = {
        "jitter_minutes": (0, 1440),
        "max_messages": (1, 200),
        "max_pages": (1, 1000),
        "half_life_days": (0.001, 36500),
        "strength_floor": (0, 1),
    }

    schedule: Literal["off", "daily"] = "off"
    jitter_minutes: float = 60.0
    max_messages: int = 200
    max_pages: int = 10
    half_life_days: float = 14.0
    strength_floor: float = 0.2


@dataclass(frozen=True, slots=True)
class ChatOptions(_Table):
    """Where the chat model of one role is served. `max_tokens` bounds an answer, `timeout` is in seconds."""

    bounds: ClassVar[Bounds] = {"max_tokens": (16, 1_000_000), "timeout": (0.1, 3600)}

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    max_tokens: int = 4096
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class RerankOptions(_Table):
    """Where a reranker is served; without a base_url there is none. `timeout` is in seconds."""

    bounds: ClassVar[Bounds] = {"timeout": (0.1, 600)}

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class Options:
    """All of them. `enabled` false: `end` keeps memos only and jobs wait."""

    enabled: bool = True
    query: QueryOptions = field(default_factory=QueryOptions)
    historian: HistorianOptions = field(default_factory=HistorianOptions)
    queue: QueueOptions = field(default_factory=QueueOptions)
    profile: ProfileOptions = field(default_factory=ProfileOptions)
    context: ContextOptions = field(default_factory=ContextOptions)
    guard: GuardOptions = field(default_factory=GuardOptions)
    recall: RecallOptions = field(default_factory=RecallOptions)
    group: GroupOptions = field(default_factory=GroupOptions)
