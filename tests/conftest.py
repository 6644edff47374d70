"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell ignores it for what it starts in the background, and so would every server that the tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while everything is imported, and never again among what stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put some of the long tests at the front of each worker's share, so that none is left over at the end."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.get_closest_marker("long")]
    rest = [item for item in items if not item.get_closest_marker("long")]
    share = len(items) // workers + 1
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        mine = long[worker::workers]
        ordered += [*mine, *rest[: share - len(mine)]]
        del rest[: share - len(mine)]
    items[:] = [*ordered, *rest]
