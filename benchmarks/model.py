"""A chat model as a process of its own: answers after a set time, and tells what it was asked.

`python -m benchmarks.model LATENCY_MS` prints its port. POST /v1/chat/completions as everywhere; GET /told gives
the number of requests since it was asked last, the moments of the first and the last, and the last request.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import environment
from tests.kit.chat import ScriptedModel
from tests.kit.speaking import good


@dataclass
class Ledger:
    """What was asked."""

    count: int = 0
    first: float = 0.0
    last: float = 0.0
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def told(self) -> dict[str, Any]:
        """Return what was noted, and begin anew."""
        with self.lock:
            told = {"count": self.count, "first": self.first, "last": self.last, "body": self.body}
            self.count, self.first = 0, 0.0
        return told

    def note(self, body: dict[str, Any]) -> None:
        """Note a request."""
        with self.lock:
            self.count += 1
            self.last = time.time()
            self.first = self.first or self.last
            self.body = body


def handler(seconds: float, ledger: Ledger) -> type[BaseHTTPRequestHandler]:
    """Return what serves one connection."""
    model = ScriptedModel(good())

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet an answer
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            begun = time.monotonic()
            body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
            ledger.note(body)
            answer = json.dumps(model(body)).encode()
            time.sleep(max(0.0, seconds - (time.monotonic() - begun)))
            self._send(answer)

        def do_GET(self) -> None:
            self._send(json.dumps(ledger.told()).encode())

        def _send(self, data: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    return Handler


@dataclass(frozen=True)
class Model:
    """A running model."""

    port: int

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://127.0.0.1:{self.port}/v1"

    def told(self) -> dict[str, Any]:
        """Return what it was asked since it told last."""
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/told")
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def bare(self, bodies: Sequence[Mapping[str, Any]], count: int, workers: int) -> float:
        """Make calls with the `openai` package alone, from so many threads; return the seconds."""
        from openai import OpenAI

        client = OpenAI(base_url=self.base_url, api_key="none", max_retries=0)
        ask: Callable[..., object] = client.chat.completions.create
        numbers = iter(range(count))
        guard = threading.Lock()

        def work() -> None:
            while True:
                with guard:
                    number = next(numbers, None)
                if number is None:
                    return
                ask(**bodies[number % len(bodies)])

        for body in bodies:  # connections and imports are made
            ask(**body)
        threads = [threading.Thread(target=work) for _ in range(workers)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = time.perf_counter() - begun
        client.close()
        return taken


@contextmanager
def model(latency_ms: float) -> Generator[Model]:
    """Run a model for the duration of the block."""
    process = Popen([sys.executable, "-m", "benchmarks.model", str(latency_ms)], stdout=PIPE, env=environment())
    try:
        assert process.stdout is not None
        yield Model(int(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate()


def main(arguments: list[str]) -> int:
    """Serve until killed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(float(arguments[0]) / 1000, Ledger()))
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
