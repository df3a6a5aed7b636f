"""How long after a task's end on a worker the kernel can send it to pages."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from distributed import Client, LocalCluster

import taskscope
from benchmarks.harness import Table
from taskscope.record.pump import Tick
from taskscope.session import current


def ended(_: int) -> float:
    """Return when this ended."""
    time.sleep(0.02)
    return time.time()


def measure_lag(n_tasks: int) -> Table:
    return Table(
        f"From a task's end to the tick in which the kernel tells its pages, {n_tasks} tasks of 20 ms, in ms",
        ("median", "95th percentile", "most"),
        _rows(n_tasks),
        "2 worker processes of 1 thread. From there to the page see the section `feed`.",
    )


def _rows(n_tasks: int) -> Iterator[tuple[str, ...]]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        lags = _lags(client, n_tasks)
        yield tuple(f"{lag * 1e3:.0f}" for lag in (*np.percentile(lags, (50, 95)), max(lags)))


def _lags(client: Client, n_tasks: int) -> list[float]:
    session = current()
    seen: dict[str, float] = {}
    keys = [f"ended-{number}" for number in range(n_tasks)]

    def look(_tick: Tick) -> None:
        recorder = session.recorder
        _first, block = recorder.tasks_since(recorder.cursor - n_tasks, n_tasks)
        names = [recorder.groups[group].name for group in block.group.tolist()]
        for key in block.keys.to_text(names):
            seen.setdefault(key, time.time())

    leave = session.pump.subscribe(look)
    try:
        with taskscope.profile(display=False):
            stops = client.gather(client.map(ended, range(n_tasks), key=keys))
    finally:
        leave()
    return [seen[key] - stop for key, stop in zip(keys, stops, strict=True) if key in seen]
