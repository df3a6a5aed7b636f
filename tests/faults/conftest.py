"""What faults happen to: a recorder that sees the computes of a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taskscope.record import Recorder
from tests.support.computes.local_computes import watching


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """Return a recorder that sees every local compute of the test."""
    with watching() as recorder:
        yield recorder
