"""The local socket of an owner: silent about what is harmless, and about nothing else."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute

from server.owner.serving import listening
from server.settings import load_settings


async def test_bytes_that_arrive_while_their_reader_is_cancelled_are_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with listening(load_settings({"data_dir": tmp_path}, {})) as (_, address):
        listener = await anyio.create_unix_listener(f"{address}.test")
        async with (
            listener,
            await anyio.connect_unix(f"{address}.test") as ours,
            await listener.accept() as theirs,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(ours.receive)
            await anyio.wait_all_tasks_blocked()
            raw: socket.socket = theirs.extra(SocketAttribute.raw_socket)
            raw.send(b"late")
            asyncio.get_running_loop().call_soon(tasks.cancel_scope.cancel)
            await anyio.sleep_forever()
    assert caplog.messages == []


async def test_any_other_error_of_the_event_loop_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with listening(load_settings({"data_dir": tmp_path}, {})):
        done = anyio.Event()

        def fail() -> None:
            done.set()
            raise ValueError("a fault of ours")

        with caplog.at_level(logging.ERROR, "asyncio"):
            asyncio.get_running_loop().call_soon(fail)
            await done.wait()
            await anyio.lowlevel.checkpoint()
    assert "a fault of ours" in caplog.text
