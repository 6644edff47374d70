"""Lines over the standard streams: pipes and sockets without a thread, files with one; nothing is lost at the end."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import anyio
import pytest

from server.standard_streams import ATOMIC, WireSink, WireSource, tells_readiness

pytestmark = pytest.mark.anyio
SAID = ['{"say": "你好"}', '{"say": "hello 林晓"}', '{"say": "' + "长" * 70_000 + '"}', '{"say": "without an end"}']


async def read(stream: BinaryIO) -> list[str]:
    ended: list[bool] = []
    lines = [line.rstrip("\n") async for line in WireSource(stream, lambda: ended.append(True))]
    assert ended == [True]
    return lines


def through_pipe() -> tuple[BinaryIO, BinaryIO]:
    source, sink = os.pipe()
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb", buffering=0)


def through_socket() -> tuple[BinaryIO, BinaryIO]:
    one, other = socket.socketpair()
    with one, other:
        return os.fdopen(os.dup(one.fileno()), "rb"), os.fdopen(os.dup(other.fileno()), "wb", buffering=0)


@pytest.mark.parametrize("made", [through_pipe, through_socket])
async def test_lines_that_come_in_pieces_are_read_whole_and_the_last_one_may_lack_its_end(
    made: Callable[[], tuple[BinaryIO, BinaryIO]],
) -> None:
    source, sink = made()
    said = "\n".join(SAID).encode()

    async def write() -> None:
        with sink:
            for start in range(0, len(said), 4_099):  # in the middle of characters too
                await anyio.to_thread.run_sync(sink.write, said[start : start + 4_099])

    with source:
        assert tells_readiness(source)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            assert await read(source) == SAID


async def test_lines_of_a_file_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("\n".join(SAID), encoding="utf-8")
    with (tmp_path / "lines").open("rb") as source:
        assert not tells_readiness(source)
        assert await read(source) == SAID


async def test_a_client_that_reads_nothing_yet_holds_up_nobody_else() -> None:
    source, sink = through_pipe()
    short, long = "x" * (ATOMIC - 1) + "\n", "长" * 90_000 + "\n"
    wanted = short * 40 + long
    written = anyio.Event()

    async def write() -> None:
        wire = WireSink(sink)
        for _ in range(40):
            await wire.write(short)
        await wire.write(long)
        written.set()
        sink.close()

    with source:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            assert not written.is_set()  # the pipe is full, and this task goes on
            got = await anyio.to_thread.run_sync(source.read)
    assert got.decode() == wanted


async def test_what_a_client_that_is_gone_does_not_take_is_dropped() -> None:
    source, sink = through_pipe()
    source.close()
    with sink:
        wire = WireSink(sink)
        await wire.write("short\n")
        await wire.write("长" * 90_000 + "\n")
