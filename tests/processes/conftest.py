"""What tests of processes share."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.kit.nest import Nest
from tests.kit.stdio import environment


@pytest.fixture(scope="session")
def nest() -> Generator[Nest]:
    with Nest(environment("fast")) as made:
        yield made
