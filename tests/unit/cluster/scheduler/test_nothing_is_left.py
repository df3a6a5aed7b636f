"""After a block scheduler and workers are as they were before it."""

from __future__ import annotations

from typing import Any

import pytest
from distributed import Client, LocalCluster

import taskscope
from taskscope.sources.line_meter import HAS_LOCAL_EVENTS
from tests.support.clusters.shifted_worker import shifted_worker
from tests.support.waiting import until


def on_scheduler(dask_scheduler: Any) -> dict[str, Any]:
    import asyncio

    tasks = (getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks())
    return {
        "plugins": sorted(dask_scheduler.plugins),
        "handlers": sorted(dask_scheduler.handlers),
        "stream handlers": {
            op: getattr(handle, "__qualname__", type(handle).__name__)
            for op, handle in dask_scheduler.stream_handlers.items()
        },
        "topics": sorted(topic for topic in dask_scheduler.get_events() if "taskscope" in str(topic)),
        "attributes": sorted(vars(dask_scheduler)),
        "extensions": sorted(dask_scheduler.extensions),
        "feeds": sum("feed" in name for name in tasks),
    }


def on_worker(dask_worker: Any) -> dict[str, Any]:
    import sys
    import threading

    return {
        "plugins": sorted(dask_worker.plugins),
        "handlers": sorted(dask_worker.handlers),
        "stream handlers": sorted(dask_worker.stream_handlers),
        "attributes": sorted(vars(dask_worker)),
        "module": sorted(vars(sys.modules["distributed.worker"])),
        "threads": sorted(t.name for t in threading.enumerate() if "taskscope" in t.name),
        "switch interval": sys.getswitchinterval(),
        "tools": [sys.monitoring.get_tool(n) for n in range(6)] if hasattr(sys, "monitoring") else [],
    }


def spin(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


@pytest.mark.parametrize(
    "lines",
    [
        True,
        pytest.param(
            "spin",
            marks=pytest.mark.skipif(not HAS_LOCAL_EVENTS, reason="sys.monitoring came with Python 3.12"),
        ),
    ],
)
def test_scheduler_and_workers_are_as_before(*, lines: bool | str) -> None:
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
        # Its clock is measured, too.
        shifted_worker(client, 0.0),
    ):
        client.gather(client.map(spin, range(4), pure=False))

        def there() -> tuple[Any, Any]:
            return client.run_on_scheduler(on_scheduler), client.run(on_worker)

        before = there()
        with taskscope.profile(display=False, lines=spin if lines == "spin" else lines) as run:
            client.gather(client.map(spin, [300_000] * 8, pure=False))
        assert len(run.recording.tasks) == 8
        until(lambda: there() == before)
