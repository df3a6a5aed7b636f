from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import taskscope
from tests.support.computes.local_computes import process_pool, watching


@pytest.fixture
def run() -> Iterator[taskscope.profile]:
    """Return a block that sees every local compute of the test."""
    with watching() as run:
        yield run


@pytest.fixture
def thread_pool() -> Iterator[ThreadPoolExecutor]:
    """Return a pool that has ended, with all its tasks, when the test has."""
    with ThreadPoolExecutor(4, thread_name_prefix="worker") as pool:
        yield pool


@pytest.fixture(scope="session")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Return a pool of two processes that the session shares: starting one takes a second."""
    with process_pool() as pool:
        yield pool
