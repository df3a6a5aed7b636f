"""What faults happen to: a block that sees the computes of a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import taskscope
from tests.support.computes.local_computes import watching
from tests.support.waiting import be_patient


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch.setattr)


@pytest.fixture
def run() -> Iterator[taskscope.profile]:
    """Return a block that sees every local compute of the test."""
    with watching() as run:
        yield run
