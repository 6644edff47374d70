"""What is told to OpenTelemetry, read back with its own SDK; and that without an SDK nothing happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from historian.chat import ChatCall, Usage
from historian.model import Event, Origin, Owner
from historian.queue import QueueStats
from historian.telemetry import DONE, FAILED, RETRIED, Telemetry

EVENT = Event(
    event_id="r:0:0",
    owner=Owner("user", "secret-alice"),
    request_id="r",
    end_seq=0,
    index=0,
    text="Alice keeps a secret 秘密.",
    original="I keep a secret.",
    timestamp=datetime(2026, 3, 1, tzinfo=UTC),
    timezone="Asia/Shanghai",
    user_id="secret-alice",
)


class Heard:
    """A telemetry whose words are kept in memory."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.spans = InMemorySpanExporter()
        self._meters = MeterProvider([self.reader])
        self._traces = TracerProvider()
        self._traces.add_span_processor(SimpleSpanProcessor(self.spans))
        self.telemetry = Telemetry(self._meters, self._traces)

    def points(self, name: str) -> dict[tuple[tuple[str, Any], ...], Any]:
        """Return attributes → value (of a histogram its count and sum) of one metric."""
        data = self.reader.get_metrics_data()
        found: dict[tuple[tuple[str, Any], ...], Any] = {}
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.data.data_points if metric.name == name else ():
                        value = point.value if hasattr(point, "value") else (point.count, point.sum)
                        found[tuple(sorted((point.attributes or {}).items()))] = value
        return found

    def close(self) -> None:
        self._meters.shutdown()
        self._traces.shutdown()


@pytest.fixture
def heard() -> Iterator[Heard]:
    made = Heard()
    yield made
    made.close()


def test_depth_and_age_of_the_queue_are_read_when_somebody_asks(heard: Heard) -> None:
    """P30."""
    now = [QueueStats(400, 2, 1, 61.5)]
    heard.telemetry.watch_queue(lambda: now[0])
    jobs = heard.points("shiguan.queue.jobs")
    assert jobs == {(("state", "pending"),): 400, (("state", "processing"),): 2, (("state", "failed"),): 1}
    assert heard.points("shiguan.queue.oldest_age") == {(): 61.5}
    now[0] = QueueStats(0, 0, 1, 0.0)
    assert heard.points("shiguan.queue.jobs")[("state", "pending"),] == 0


def test_an_attempt_is_timed_and_a_retry_counted(heard: Heard) -> None:
    for outcome in (DONE, RETRIED, RETRIED, FAILED):
        with heard.telemetry.job("end", 0) as run:
            run.step("rewrite")
            run.outcome = outcome
    durations = heard.points("shiguan.job.duration")
    counts = {dict(about)["outcome"]: value[0] for about, value in durations.items()}
    assert counts == {DONE: 1, RETRIED: 2, FAILED: 1}
    assert heard.points("shiguan.job.retries") == {(("kind", "end"),): 2}
    spans = heard.spans.get_finished_spans()
    assert [span.name for span in spans] == ["job end"] * 4
    assert [event.name for event in spans[0].events] == ["rewrite"]
    assert [span.status.is_ok for span in spans] == [True, False, False, False]


def test_the_shares_of_what_passed_the_gate_and_of_what_was_written_without_the_model(heard: Heard) -> None:
    assert heard.points("shiguan.gate.pass_rate") == {}
    events = [replace(EVENT, origin=Origin.MODEL)] * 3 + [replace(EVENT, origin=Origin.OFFLINE, is_absolute=False)]
    memo, repeat = replace(EVENT, has_new_info=False), replace(EVENT, same_as="r:0:0")
    heard.telemetry.stored([*events, memo, repeat])
    assert heard.points("shiguan.gate.pass_rate") == {(): 0.75}
    assert heard.points("shiguan.degraded.share") == {(): 0.25}
    stored = heard.points("shiguan.statements")
    assert stored == {(("absolute", True), ("origin", "model")): 3, (("absolute", False), ("origin", "offline")): 1}


def test_tokens_and_time_of_a_model_stand_below_the_job_that_asked_it(heard: Heard) -> None:
    with heard.telemetry.job("end", 0) as run:
        heard.telemetry.called(ChatCall("rewrite", "small", "answered", Usage(120, 30, 0.5)))
        run.outcome = DONE
    heard.telemetry.called(ChatCall("merge", "small", "outage", Usage(seconds=2.0)))
    tokens = {tuple(dict(about).values()): value for about, value in heard.points("shiguan.model.tokens").items()}
    assert tokens == {("in", "rewrite"): 120, ("out", "rewrite"): 30, ("in", "merge"): 0, ("out", "merge"): 0}
    latency = {dict(about)["role"]: value for about, value in heard.points("shiguan.model.duration").items()}
    assert latency == {"rewrite": (1, 0.5), "merge": (1, 2.0)}
    call, job, alone = heard.spans.get_finished_spans()
    assert call.parent is not None
    assert job.context is not None
    assert call.parent.span_id == job.context.span_id
    assert call.end_time is not None
    assert call.start_time is not None
    assert call.end_time - call.start_time == 500_000_000
    assert alone.parent is None
    assert not alone.status.is_ok


def test_nothing_of_anybody_is_told(heard: Heard) -> None:
    with heard.telemetry.job("end", 0):
        heard.telemetry.stored([EVENT])
        heard.telemetry.called(ChatCall("rewrite", "small", "answered"))
    said = repr(heard.reader.get_metrics_data()) + "".join(span.to_json() for span in heard.spans.get_finished_spans())
    assert "secret" not in said
    assert "秘密" not in said


def test_without_an_sdk_in_the_process_it_costs_a_few_calls_and_says_nothing() -> None:
    """The API alone is a dependency; whoever wants figures configures an SDK in the process."""
    telemetry = Telemetry()
    telemetry.watch_queue(lambda: QueueStats(0, 0, 0, 0.0))
    with telemetry.job("end", 0) as run:
        telemetry.stored([EVENT])
        assert not run.span.is_recording()
    assert not isinstance(metrics.get_meter_provider(), MeterProvider)
