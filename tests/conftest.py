"""What all tests share."""

from __future__ import annotations

import os
import signal

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell ignores it for what it starts in the background, and so would every server that the tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
