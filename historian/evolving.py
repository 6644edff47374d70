"""One run in which the statements of a group evolve: window, pages, decisions, and all changes in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from historian.clock import Clock
from historian.database import Database
from historian.errors import ModelError, NotConfiguredError, StoreError
from historian.evolve_window import Window, WindowReader
from historian.facts import language_of
from historian.group_model import Evolution, EvolutionStats, Refusal
from historian.group_page import Page, People, chosen
from historian.group_runs import GroupRuns, finish
from historian.group_store import GroupStore, StaleStepError
from historian.group_strength import StrengthRule
from historian.group_versions import Moment, Step, Version
from historian.group_views import change_of
from historian.live import LiveOptions
from historian.messages import StoredMessage, epoch_ms, instant_of, row_ms
from historian.model import Owner
from historian.sameness import statement_key
from historian.standstill import Standstill

if TYPE_CHECKING:
    from historian.evolve_model import EvolveModel

NO_MODEL = (
    "No chat model is set for evolve, so nothing new was learnt; set chat.model, or chat.evolve.model. Identical "
    "statements were merged, and strengths fade by themselves."
)
NOTHING_NEW = "There are no new messages since the last run, so nothing was done."
NOTHING_LATELY = "There are no messages of the last {days:g} days to begin with; ask with a larger number of days."
NOTHING_SINCE = "There are no messages from that time on to begin with; ask with an earlier one."
CHANGED_MEANWHILE = "The statement was changed by somebody else during the run."
IDENTICAL = "Another statement says the same."


@dataclass(frozen=True, slots=True)
class Deciding:
    """Whether a chat model is set, and who asks it; made when it is needed, since its patterns take time to load."""

    configured: Callable[[], bool]
    model: Callable[[], EvolveModel]


@dataclass(frozen=True, slots=True)
class Books:
    """Where statements, runs and messages stand."""

    database: Database
    store: GroupStore
    runs: GroupRuns
    windows: WindowReader


@dataclass(slots=True)
class _Draft:
    """The statements as they will be, and how they come to that; nothing is written yet."""

    start: dict[str, Version]
    now: dict[str, Version] = field(init=False)
    steps: list[Step] = field(default_factory=list[Step])
    refused: list[Refusal] = field(default_factory=list[Refusal])
    unanswered: set[str] = field(default_factory=set[str])
    notes: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.now = dict(self.start)

    def take(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.steps.append(step)
            self.now[step.after.memory_id] = step.after

    def active(self) -> list[Version]:
        return [one for one in self.now.values() if one.status == "active"]


class Evolver:
    """Lets groups evolve, one run for each at a time. Blocks as long as the chat model takes; thread-safe."""

    def __init__(
        self,
        books: Books,
        deciding: Deciding,
        options: LiveOptions,
        standstill: Standstill,
        clock: Clock,
        left: Callable[[list[int]], None],
    ) -> None:
        """`left` is told the rows whose vectors are out of date, and that there are texts without one."""
        self._database = books.database
        self._store = books.store
        self._runs = books.runs
        self._windows = books.windows
        self._deciding = deciding
        self._options = options
        self._standstill = standstill
        self._clock = clock
        self._left = left

    @property
    def has_model(self) -> bool:
        """Whether a chat model is set for it and the memory is switched on."""
        return self._deciding.configured() and self._options.enabled

    @property
    def rule(self) -> StrengthRule:
        """How strength behaves at this moment."""
        group = self._options.now.group
        return StrengthRule(group.half_life_days, group.strength_floor)

    def switched_off(self) -> tuple[str, ...]:
        """Return the sentence that says so while the memory is switched off, else nothing."""
        return self._options.switched_off()

    def moment(self, run_id: str | None = None) -> Moment:
        """Return this moment."""
        return Moment(epoch_ms(self._clock.now()), self.rule, run_id)

    def evolve(self, group: Owner, days: float, zone: tzinfo = UTC, since_ms: int | None = None) -> Evolution:
        """Let the statements of a group evolve by what was said since the last run, or with more than 1 by `days`, or
        since an instant.

        A failed run changes nothing.

        Raises:
            ConflictError: a run of this group is under way.
            ModelError: the chat model gave no usable answer, or none.
            StoreError: something cannot be read or written now.
        """
        if not self._options.enabled:
            return self._idle(group, self._options.switched_off())
        with self._runs.alone(group), self._standstill.working():
            if not self._deciding.configured():
                return self._offline(group)
            window = self._windows.read(group, days, self.moment().now_ms, since_ms)
            if not window.messages:
                return self._idle(group, (_nothing(window, days, since_ms),))
            run_id = self._runs.begin(group, self.moment().now_ms)
            try:
                draft = self._draft(group, window, self.moment(run_id), zone)
                return self._committed(group, window, draft, run_id)
            except (ModelError, StoreError, NotConfiguredError) as error:
                self._runs.fail(run_id, self.moment().now_ms, str(error))
                raise

    def _draft(self, group: Owner, window: Window, moment: Moment, zone: tzinfo) -> _Draft:
        draft = _Draft({one.memory_id: one for one in self._store.heads(group)})
        model = self._deciding.model()
        for messages in window.pages(self._options.now.group.max_messages):
            page, others = self._page(draft, messages, window, moment, zone)
            reading = model.decide(page, others)
            draft.take(reading.steps)
            draft.refused += reading.refused
            draft.notes += reading.notes
            draft.unanswered.update(reading.unanswered)
            draft.unanswered.difference_update(step.after.memory_id for step in reading.steps)
        return draft

    def _page(
        self, draft: _Draft, messages: Sequence[StoredMessage], window: Window, moment: Moment, zone: tzinfo
    ) -> tuple[Page, list[Version]]:
        active = draft.active()
        shown = chosen(active, moment)
        people = People.of(messages, [one.statement for one in shown], window.known)
        names = {one.memory_id for one in shown}
        language = language_of(stored.message.content for stored in messages)
        return Page(shown, tuple(messages), people, moment, language, zone), [
            one for one in active if one.memory_id not in names
        ]

    def _committed(self, group: Owner, window: Window, draft: _Draft, run_id: str) -> Evolution:
        now_ms = self.moment().now_ms
        with self._database.write() as connection:
            done, gone = self._written(group, draft)
            stats = _stats(draft.start, done)
            first, last = window.messages[0].row, window.messages[-1].row
            finish(connection, run_id, now_ms, rows=(first, last), messages=len(window.messages), stats=asdict(stats))
        self._left(gone)
        return Evolution(
            group_id=group.id,
            run_id=run_id,
            by="model",
            stats=stats,
            changes=tuple(change_of(group, step) for step in done if step.action != "keep"),
            active=self._store.count(group, "active"),
            messages=len(window.messages),
            since=instant_of(row_ms(first)),
            until=instant_of(row_ms(last)),
            refused=tuple(draft.refused),
            unanswered=tuple(sorted(one for one in draft.unanswered if one in draft.start)),
            notes=(*window.notes, *dict.fromkeys(draft.notes)),
        )

    def _written(self, group: Owner, draft: _Draft) -> tuple[list[Step], list[int]]:
        """Write the steps; one whose statement somebody changed meanwhile is refused with all that follow from it."""
        done: list[Step] = []
        gone: list[int] = []
        with self._database.write() as connection:
            for step in draft.steps:
                try:
                    gone += self._store.apply(connection, group, step)
                except StaleStepError:
                    draft.refused.append(Refusal(step.action, step.after.memory_id, CHANGED_MEANWHILE))
                else:
                    done.append(step)
        return done, gone

    def _offline(self, group: Owner) -> Evolution:
        """Do what rules can: of statements that say the same the oldest stays, with the evidence of all."""
        moment = self.moment()
        draft = _Draft({one.memory_id: one for one in self._store.heads(group)})
        first: dict[str, str] = {}
        for one in sorted(draft.start.values(), key=lambda one: (one.created_ms, one.memory_id)):
            key = statement_key(one.statement)
            if key not in first:
                first[key] = one.memory_id
                continue
            confirmed = moment.confirm(draft.now[first[key]], IDENTICAL, one.message_ids)
            draft.take([*([confirmed] if confirmed else []), moment.delete(one, IDENTICAL)])
        done, gone = self._written(group, draft)
        if gone:
            self._left(gone)
        idle = self._idle(group, (NO_MODEL,))
        changes = tuple(change_of(group, step) for step in done if step.action != "keep")
        return replace(idle, by="rules", stats=_stats(draft.start, done), changes=changes)

    def _idle(self, group: Owner, notes: tuple[str, ...]) -> Evolution:
        active = self._store.count(group, "active")
        return Evolution(group.id, None, "nobody", EvolutionStats(kept=active), (), active, notes=notes)


def _nothing(window: Window, days: float, since_ms: int | None) -> str:
    if not window.is_first:
        return NOTHING_NEW
    return NOTHING_LATELY.format(days=days) if since_ms is None else NOTHING_SINCE


def _stats(start: dict[str, Version], done: Sequence[Step]) -> EvolutionStats:
    """Count what became of each statement in the end, however many pages spoke of it."""
    last = {step.after.memory_id: step.after for step in done}
    ended = [(one, last.get(key, one)) for key, one in start.items()]
    deleted = sum(now.status != "active" for _, now in ended)
    updated = sum(now.status == "active" and now.version > before.version for before, now in ended)
    unchanged = {before.memory_id for before, now in ended if now.status == "active" and now.version == before.version}
    return EvolutionStats(
        kept=len(unchanged),
        updated=updated,
        created=sum(key not in start and now.status == "active" for key, now in last.items()),
        deleted=deleted,
        confirmed=len({step.after.memory_id for step in done if step.action == "keep"} & unchanged),
    )
