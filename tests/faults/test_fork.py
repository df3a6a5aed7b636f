from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from taskscope import session as session_module
from taskscope.jupyter.feed import feed as feed_module
from taskscope.model.forklock import ForkLock
from taskscope.sources.cluster import adapter
from tests.support.child_process import in_forked_child

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@pytest.mark.parametrize(
    ("lock", "use"),
    [
        (session_module._current._lock, session_module.current),
        (feed_module._current._lock, feed_module.current),
        (adapter._lock, lambda: adapter.release(object())),
    ],
    ids=["session", "feed", "clients"],
)
def test_a_child_forked_while_a_thread_holds_a_lock_does_not_wait_for_it(
    lock: ForkLock, use: Callable[[], object]
) -> None:
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            locked.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait()
    try:
        assert in_forked_child(lambda: [use() is None, "it did not wait"][-1]) == "it did not wait"
    finally:
        done.set()
        holder.join()
