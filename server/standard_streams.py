"""The lines that a client sends and takes over the standard streams of this process.

Where the system says whether a stream would block, a pipe or a socket is read and written without a thread: each
change of threads costs a call its place in the queue for the interpreter while the historian works.
"""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from collections.abc import AsyncIterator, Callable
from typing import BinaryIO

import anyio
import anyio.lowlevel
import anyio.to_thread
from anyio.abc import ByteReceiveStream
from anyio.streams.buffered import BufferedByteReceiveStream

from server.owner.lines import LineSource
from server.wire import mended

CHUNK = 65_536
ATOMIC = 4_096
"""Bytes that a pipe which may be written takes at once, and a socket all the more (`PIPE_BUF`, pipe(7))."""


def tells_readiness(stream: BinaryIO) -> bool:
    """Say whether the system tells when reading or writing `stream` would not block: true of pipes and sockets."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class WireSource:
    """Yields the lines of a client until it closes its end, or sends no text; then calls `ended`."""

    def __init__(self, stream: BinaryIO, ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended = ended

    async def __aiter__(self) -> AsyncIterator[str]:
        lines = LineSource(BufferedByteReceiveStream(_Readable(self._stream)))
        async for line in lines if tells_readiness(self._stream) else self._threaded():
            yield line
        self._ended()

    async def _threaded(self) -> AsyncIterator[str]:
        lines = io.TextIOWrapper(self._stream, encoding="utf-8", errors="replace")
        try:
            while line := await anyio.to_thread.run_sync(lines.readline, abandon_on_cancel=True):
                yield mended(line)
        finally:
            lines.detach()


class _Readable(ByteReceiveStream):
    """What can be read of a pipe or socket, as soon as it can be."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    async def receive(self, max_bytes: int = CHUNK) -> bytes:
        """Return what came. Raises EndOfStream once the other side closed its end."""
        while True:
            await anyio.wait_readable(self._stream)
            try:
                chunk = os.read(self._stream.fileno(), max_bytes)
            except BlockingIOError:  # whoever made the stream lets it not block, and another one was faster
                continue
            except OSError:  # the client broke off
                chunk = b""
            if not chunk:
                raise anyio.EndOfStream
            return chunk

    async def aclose(self) -> None:
        """Close the stream."""
        self._stream.close()


class WireSink:
    """Sends lines to a client; what it no longer reads is dropped."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._tells = tells_readiness(stream)

    async def write(self, text: str) -> None:
        """Send `text`."""
        data = text.encode("utf-8", "replace")
        if len(data) <= ATOMIC and self._takes_now():
            self._send(data)
        else:
            await anyio.to_thread.run_sync(self._send, data)

    async def flush(self) -> None:
        """Do nothing: every write is sent at once."""
        await anyio.lowlevel.checkpoint()

    def _takes_now(self) -> bool:
        """Say whether the client takes a short line without delay."""
        if not self._tells:
            return False
        asked = select.poll()
        asked.register(self._stream, select.POLLOUT)
        return bool(asked.poll(0))

    def _send(self, data: bytes) -> None:
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError:  # the client is gone; its stdin will end too
            return
