"""A loopback HTTP server that speaks as an OpenAI-compatible endpoint does, well or badly, as scripted."""

from __future__ import annotations

import json
import math
import socket
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.kit.reply import OK, Reply, failing

__all__ = ["OK", "Asked", "FakeEndpoint", "Reply", "Vectorise", "failing", "hashed"]

REMEMBERED = 5_000
"""Requests that are kept, the last ones."""

Vectorise = Callable[[str], list[float]]


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, object]


def hashed(dimension: int) -> Vectorise:
    """Return a function from text to a vector of hashed characters."""

    def vector(text: str) -> list[float]:
        out = [0.0] * dimension
        for char in f"^{text}":
            out[zlib.crc32(char.encode()) % dimension] += 1.0
        length = math.sqrt(sum(value * value for value in out))
        return [value / length for value in out]

    return vector


class FakeEndpoint:
    """Speaks as OpenAI-compatible endpoints do, on paths below `/v1`.

    It serves embeddings, `chat/completions` as `chat` answers (a `ScriptedModel`), `rerank` by the `relevance` of query
    and document, and further paths from `routes` (path → function of the request's body). `latency` is what every
    answer takes, in seconds.

    Scripted replies are used up in order; afterwards every answer is ordinary. Use it as a context manager.
    """

    def __init__(
        self,
        *,
        dimension: int = 16,
        vectorise: Vectorise | None = None,
        max_batch: int = 2048,
        chat: Callable[[dict[str, Any]], object] | None = None,
        relevance: Callable[[str, str], float] | None = None,
        latency: float = 0.0,
        routes: dict[str, Callable[[dict[str, object]], object]] | None = None,
    ) -> None:
        self.vectorise = vectorise or hashed(dimension)
        self.max_batch = max_batch
        self.asked: list[Asked] = []
        self._script: deque[Reply] = deque()
        self.latency = latency
        self._relevance = relevance
        self._routes: dict[str, Callable[[dict[str, Any]], object]] = {"/v1/embeddings": self._embeddings}
        if chat is not None:
            self._routes["/v1/chat/completions"] = chat
        if relevance is not None:
            self._routes["/v1/rerank"] = self._rerank
        self._routes |= routes or {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def script(self, *replies: Reply) -> None:
        """Add answers for the next requests."""
        with self._lock:
            self._script.extend(replies)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_reply(self, asked: Asked) -> Reply:
        """Note a request and return the answer to it."""
        with self._lock:
            self.asked.append(asked)
            del self.asked[:-REMEMBERED]
            return self._script.popleft() if self._script else OK

    def ordinary(self, asked: Asked) -> Reply:
        """Return what a healthy endpoint says."""
        route = self._routes.get(asked.path)
        if route is None:
            return failing(404)
        answer = route(asked.body)
        return answer if isinstance(answer, Reply) else Reply(200, json.dumps(answer).encode())

    def _embeddings(self, body: dict[str, object]) -> object:
        given = body["input"]
        texts: Sequence[str] = [given] if isinstance(given, str) else [str(one) for one in given]  # type: ignore[attr-defined]
        if len(texts) > self.max_batch or not all(texts):
            return failing(400, "batch too large or empty text")
        rows = [
            {"object": "embedding", "index": index, "embedding": self.vectorise(text)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "model": body["model"], "data": rows[::-1], "usage": usage}  # order is not promised

    def _rerank(self, body: dict[str, Any]) -> object:
        assert self._relevance is not None
        scores = [self._relevance(body["query"], document) for document in body["documents"]]
        best = sorted(range(len(scores)), key=lambda index: -scores[index])[: body.get("top_n", len(scores))]
        return {"model": body["model"], "results": [{"index": i, "relevance_score": scores[i]} for i in best]}


def _handler(endpoint: FakeEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # header and body are two writes, and the second would wait for 40 ms

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            body = json.loads(self.rfile.read(length) or b"{}")
            asked = Asked(self.path, {key.lower(): value for key, value in self.headers.items()}, body)
            reply = endpoint.next_reply(asked)
            if reply.hold is not None:
                reply.hold.wait(30)
            if reply.drop:
                self._hang_up()
                return
            answer = endpoint.ordinary(asked) if reply.status == 200 and reply.body is None else reply
            if endpoint.latency:
                time.sleep(endpoint.latency)  # this server stands for one that takes its time
            self._answer(answer)

        def _answer(self, reply: Reply) -> None:
            body = reply.body or b""
            if reply.drop:
                self._hang_up()
                return
            try:
                self.send_response(reply.status)
                if "content-type" not in reply.headers:
                    self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self._send(reply, body)
            except OSError:  # the client gave up meanwhile
                self.close_connection = True

        def _send(self, reply: Reply, body: bytes) -> None:
            if reply.cut:
                self.wfile.write(body[: len(body) // 2])
                self._hang_up()
            elif reply.drip is not None:
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    if reply.drip.wait(0.02):
                        break
                self._hang_up()
            else:
                self.wfile.write(body)

        def _hang_up(self) -> None:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    return Handler
