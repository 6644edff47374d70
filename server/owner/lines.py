"""A socket as the lines of text that the SDK's stdio transport reads and writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import anyio
import anyio.lowlevel
from anyio.abc import ObjectSendStream, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from server.wire import mended

MAX_LINE_BYTES = 64 * 2**20


class LineSource:
    """Yields the lines a client sends, until it hangs up; the last one may lack its end."""

    def __init__(self, stream: BufferedByteReceiveStream) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[str]:
        return self._lines()

    async def _lines(self) -> AsyncIterator[str]:
        ended = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.DelimiterNotFound)
        with suppress(*ended):
            try:
                while True:
                    yield _text(await self._stream.receive_until(b"\n", MAX_LINE_BYTES))
            except anyio.IncompleteRead:
                if rest := self._stream.buffer:
                    yield _text(rest)


class LineSink:
    """Sends lines to a client; what it no longer reads is dropped."""

    def __init__(self, stream: SocketStream | ObjectSendStream[bytes]) -> None:
        self._stream = stream

    async def write(self, text: str) -> None:
        """Send `text`."""
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._stream.send(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Do nothing: every write is sent at once."""
        await anyio.lowlevel.checkpoint()


def _text(line: bytes) -> str:
    return mended(line.decode("utf-8", "replace"))
