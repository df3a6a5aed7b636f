from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import pytest

from tests.support.resources import Held, held_now, unpooled_threads, watch_sockets

GRACE_S = 2.0


@pytest.fixture(autouse=True)
def no_leaks() -> Iterator[None]:
    """Fail the test that leaves a thread, child process, descriptor, callback or hold behind."""
    watch_sockets()
    before = held_now()
    yield
    left = held_now().beyond(before)
    if left:
        left = _left_after_settling(before)
    if left:
        pytest.fail("the test left behind\n  " + "\n  ".join(left), pytrace=False)


def _left_after_settling(before: Held) -> list[str]:
    """Collect garbage and let threads that were told to end do so."""
    gc.collect()
    deadline = time.monotonic() + GRACE_S
    for thread in unpooled_threads():
        if f"{thread.name} (ident {thread.ident})" not in before.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
    return held_now().beyond(before)
