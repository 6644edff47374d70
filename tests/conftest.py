"""What all tests share."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
