"""What the historian tells OpenTelemetry, through its API only: with no SDK configured in the process, nothing happens.

No text of anybody and no id of a person is ever part of a metric or a span.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry import metrics, trace
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.trace import Status, StatusCode

from historian.model import Event, Origin

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

    from historian.chat import ChatCall
    from historian.queue import QueueStats

NAME = "shiguan"
DONE, RETRIED, FAILED, ERROR = "done", "retried", "failed", "error"


@dataclass(slots=True)
class JobRun:
    """One attempt at a job, while it runs: set `outcome` before the block ends."""

    span: Span
    outcome: str = ERROR

    def step(self, name: str) -> None:
        """Note that a step begins."""
        self.span.add_event(name)


class Telemetry:
    """Metrics and spans of one memory. Thread-safe. Without providers those of the process are used."""

    def __init__(self, meters: MeterProvider | None = None, traces: TracerProvider | None = None) -> None:
        meter = metrics.get_meter(NAME, meter_provider=meters)
        self._meter = meter
        self._tracer = trace.get_tracer(NAME, tracer_provider=traces)
        self._lock = threading.Lock()
        self._statements = self._passed = self._degraded = 0
        self._durations = meter.create_histogram("shiguan.job.duration", "s", "Time of one attempt at a job")
        self._retries = meter.create_counter("shiguan.job.retries", "{retry}", "Attempts that will be made again")
        self._stored = meter.create_counter("shiguan.statements", "{statement}", "Statements stored")
        self._latency = meter.create_histogram("shiguan.model.duration", "s", "Time of one request to a model")
        self._tokens = meter.create_counter("shiguan.model.tokens", "{token}", "Tokens, as the endpoint counts them")
        self._share("shiguan.gate.pass_rate", "Share of stored statements that stand without context", self._pass_rate)
        self._share(
            "shiguan.degraded.share", "Share of stored statements written without the model", self._degraded_share
        )

    def watch_queue(self, stats: Callable[[], QueueStats]) -> None:
        """Observe depth and age of the queue whenever metrics are read."""

        def depth(_: CallbackOptions) -> Iterable[Observation]:
            now = stats()
            for state in ("pending", "processing", "failed"):
                yield Observation(getattr(now, state), {"state": state})

        def age(_: CallbackOptions) -> Iterable[Observation]:
            yield Observation(stats().oldest_pending_age)

        self._meter.create_observable_gauge("shiguan.queue.jobs", [depth], "{job}", "Jobs in the queue")
        self._meter.create_observable_gauge("shiguan.queue.oldest_age", [age], "s", "Age of the oldest pending job")

    @contextmanager
    def job(self, kind: str, attempts: int) -> Generator[JobRun]:
        """Measure one attempt at a job; `attempts` failed before it."""
        begun = time.monotonic()
        with self._tracer.start_as_current_span(f"job {kind}") as span:
            span.set_attributes({"shiguan.job.kind": kind, "shiguan.job.attempts": attempts})
            run = JobRun(span)
            try:
                yield run
            finally:
                self._close(span, run.outcome, failed=run.outcome in (FAILED, RETRIED, ERROR))
                about = {"kind": kind, "outcome": run.outcome}
                self._durations.record(time.monotonic() - begun, about)
                if run.outcome == RETRIED:
                    self._retries.add(1, {"kind": kind})

    def called(self, call: ChatCall) -> None:
        """Count one finished request to a chat model; in a trace it stands below the job that made it."""
        about = {"role": call.role, "outcome": call.outcome}
        ended = time.time_ns()
        span = self._tracer.start_span(f"chat {call.role}", start_time=ended - int(call.usage.seconds * 1e9))
        span.set_attributes({"shiguan.model.role": call.role, "gen_ai.request.model": call.model})
        self._close(span, call.outcome, failed=call.outcome != "answered")
        span.end(ended)
        self._latency.record(call.usage.seconds, about)
        self._tokens.add(call.usage.prompt_tokens, {"role": call.role, "direction": "in"})
        self._tokens.add(call.usage.completion_tokens, {"role": call.role, "direction": "out"})

    def stored(self, events: Sequence[Event]) -> None:
        """Count new statements: how they came about and whether they stand without context."""
        for event in events:
            if not event.has_new_info or event.same_as is not None:
                continue
            self._stored.add(1, {"origin": str(event.origin), "absolute": event.is_absolute})
            with self._lock:
                self._statements += 1
                self._passed += event.is_absolute
                self._degraded += event.origin is not Origin.MODEL

    def _share(self, name: str, text: str, read: Callable[[], float]) -> None:
        def observe(_: CallbackOptions) -> Iterable[Observation]:
            if self._statements:
                yield Observation(read())

        self._meter.create_observable_gauge(name, [observe], "1", text)

    def _pass_rate(self) -> float:
        with self._lock:
            return self._passed / self._statements

    def _degraded_share(self) -> float:
        with self._lock:
            return self._degraded / self._statements

    @staticmethod
    def _close(span: Span, outcome: str, *, failed: bool) -> None:
        span.set_attribute("shiguan.outcome", outcome)
        if failed:
            span.set_status(Status(StatusCode.ERROR))
