from __future__ import annotations

import asyncio
import threading

from taskscope.sources.cluster.link import LoopThread


def test_the_thread_ends_although_a_task_swallows_its_first_cancellation() -> None:
    started = threading.Event()

    async def stubborn() -> None:
        for _ in range(2):
            started.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue

    thread = LoopThread()
    ended = thread.submit(stubborn())
    assert started.wait(10)
    thread.stop()
    assert ended.done()
    assert "taskscope-cluster" not in {alive.name for alive in threading.enumerate()}
