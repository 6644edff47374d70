"""Counters of the HTTP server, and their text in the form that Prometheus reads. Nothing in it names a person."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager

from server import __version__

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram of answer times, in seconds."""
METHODS = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "subscriptions/listen",
    }
)
OTHER = "other"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """What was counted since the start. For the event loop's thread."""

    def __init__(self, tools: Iterable[str]) -> None:
        self._tools = frozenset(tools)
        self._answers: Counter[int] = Counter()
        self._refusals: Counter[str] = Counter()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._buckets = [0] * len(BOUNDS)
        self._seconds = 0.0
        self._timed = 0
        self._in_flight = 0
        self.connections = 0

    def answered(self, status: int) -> None:
        """Count an HTTP answer."""
        self._answers[status] += 1

    def refused(self, reason: str) -> None:
        """Count a request that never reached the memory. `reason` is one word of ours."""
        self._refusals[reason] += 1

    def asked(self, method: str, tool: str | None) -> None:
        """Count an MCP request; names that a client made up are all counted as one."""
        self._asked[method if method in METHODS else OTHER, tool if tool in self._tools else OTHER if tool else ""] += 1

    @contextmanager
    def timed(self) -> Generator[None]:
        """Time the block as one request in flight."""
        started = time.perf_counter()
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            seconds = time.perf_counter() - started
            self._seconds += seconds
            self._timed += 1
            for index, bound in enumerate(BOUNDS):
                self._buckets[index] += seconds <= bound

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all of it, and the values of `gauges` by their names without prefix."""
        lines = [*_family("build_info", "gauge", [(f'{{version="{__version__}"}}', 1)])]
        lines += _family(
            "http_answers_total", "counter", [(f'{{status="{code}"}}', n) for code, n in sorted(self._answers.items())]
        )
        lines += _family(
            "http_refused_total", "counter", [(f'{{reason="{why}"}}', n) for why, n in sorted(self._refusals.items())]
        )
        asked = [(f'{{method="{method}",tool="{tool}"}}', n) for (method, tool), n in sorted(self._asked.items())]
        lines += _family("requests_total", "counter", asked)
        lines += _family("http_in_flight", "gauge", [("", self._in_flight)])
        lines += _family("http_connections", "gauge", [("", self.connections)])
        lines += self._histogram()
        for name, value in gauges.items():
            lines += _family(name, "gauge", [("", value)])
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        name = "shiguan_http_seconds"
        buckets = [f'{name}_bucket{{le="{bound}"}} {count}' for bound, count in zip(BOUNDS, self._buckets, strict=True)]
        rest = [f'{name}_bucket{{le="+Inf"}} {self._timed}', f"{name}_sum {self._seconds:.6f}"]
        return [f"# TYPE {name} histogram", *buckets, *rest, f"{name}_count {self._timed}"]


def _family(name: str, kind: str, samples: Iterable[tuple[str, float]]) -> list[str]:
    return [f"# TYPE shiguan_{name} {kind}", *(f"shiguan_{name}{labels} {value:g}" for labels, value in samples)]
