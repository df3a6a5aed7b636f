from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import dask
import pytest

from tests.support.resources import Held, held_now, watch_sockets

GRACE_S = 60.0
"""How long what was told to end may take to: a busy machine gives some threads no turn for seconds."""


@pytest.fixture(autouse=True)
def no_leaks() -> Iterator[None]:
    """Fail the test that leaves a thread, child process, descriptor, callback or hold behind."""
    watch_sockets()
    before = held_now()
    scheduler = dask.config.get("scheduler", None)
    yield
    # Clients that close in another order than they were made leave the setting of one that is closed.
    dask.config.set(scheduler=scheduler)
    left = held_now().beyond(before)
    if left:
        left = _left_after_settling(before)
    if left:
        pytest.fail("the test left behind\n  " + "\n  ".join(left), pytrace=False)


def _left_after_settling(before: Held) -> list[str]:
    """Collect garbage, and let threads and processes that were told to end do so."""
    gc.collect()
    deadline = time.monotonic() + GRACE_S
    # Once there is nothing, nothing is left: a thread that reads /proc has a descriptor now and then.
    while (left := held_now().beyond(before)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left
