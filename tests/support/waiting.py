"""Wait for what another process will bring about."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

from taskscope.session import current

PATIENCE_S = 120.0
"""How long a test waits for what will happen: forever, but for telling where it hung before pytest does."""


def be_patient(set_to: Callable[[object, str, float], None] = setattr) -> None:
    """Take no busy machine for a scheduler or a worker that does not answer: a kernel may call this, too."""
    from taskscope.profiling import block
    from taskscope.sources.cluster import connection, scheduler, source

    for module, names in {
        block: ("_ANSWERS_S",),
        connection: ("_CONNECT_S", "_INSTALL_S", "_JOIN_S"),
        scheduler: ("READY_S", "_ARRIVES_S", "_FLUSH_S"),
        source: ("READY_S", "SETTLE_S"),
    }.items():
        for name in names:
            set_to(module, name, PATIENCE_S)


def until(happened: Callable[[], bool], seen: Callable[[], object] = lambda: "") -> None:
    """Return once this is true; after two minutes fail with what was seen instead."""
    deadline = time.monotonic() + PATIENCE_S
    nothing = threading.Event()
    while not happened():
        assert time.monotonic() < deadline, f"it did not happen within two minutes {seen()}"
        nothing.wait(0.02)


def each_scheduler_keeps_records() -> bool:
    """Return whether all schedulers that are watched keep records by now."""
    return all(scheduler.ready.is_set() for scheduler in current().cluster.schedulers)


async def records_are_kept() -> None:
    """Return once the schedulers that are watched keep records, which nobody awaits in an event loop."""
    while not each_scheduler_keeps_records():  # noqa: ASYNC110 - another thread
        await asyncio.sleep(0.02)
