"""What the command line asks of an owner, over one connection."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from server.owner.control import Control
from server.owner.preamble import encode
from tests.kit.home import Home, home

pytestmark = pytest.mark.anyio


async def no_link() -> str:
    return ""


async def ask(house: Home, *operations: str) -> None:
    """Send requests one after the other over one connection, each when the one before is answered, and hang up."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        control = Control(house.household, lambda: None)

        async def answer(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                await control.serve(BufferedByteReceiveStream(stream), stream, no_link)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, answer)
            async with await anyio.connect_tcp("127.0.0.1", port) as client:
                lines = BufferedByteReceiveStream(client)
                for operation in operations:
                    await client.send(encode({"op": operation}))
                    await lines.receive_until(b"\n", 1_000_000)
                with pytest.raises(anyio.EndOfStream):
                    await client.send_eof()
                    await lines.receive(1)
            tasks.cancel_scope.cancel()


async def test_what_is_slow_is_loaded_once_a_command_is_answered_for_whoever_asks_next(tmp_path: Path) -> None:
    """A hook has three seconds, and no client that came over the protocol may have been there before."""
    async with home(tmp_path, run=False) as house:
        await ask(house, "status")
        with anyio.fail_after(30):
            assert await anyio.to_thread.run_sync(house.household.engine.wait, 30)


async def test_an_owner_that_is_only_told_to_leave_loads_nothing(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house:
        await ask(house, "stop")
        assert house.household.engine.state == "cold"
