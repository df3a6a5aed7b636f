"""Record real computes of Dask's local schedulers, and know what was true from inside the tasks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import pandas as pd

from taskscope.record import Recorder
from taskscope.sources.local.source import LocalSource, Metric


@contextmanager
def watching(recorder: Recorder | None = None, metric: Metric | None = None) -> Iterator[Recorder]:
    """Record every local compute of the block."""
    recorder = recorder or Recorder()
    source = LocalSource(recorder)
    source.metric = metric
    source.attach()
    try:
        yield recorder
    finally:
        source.detach()


def task_rows(recorder: Recorder, *columns: str) -> list[tuple[object, ...]]:
    """Return these columns of all tasks, sorted."""
    table = recorder.snapshot().table("tasks")
    return sorted(zip(*(list(table[column]) for column in columns), strict=True), key=repr)


def statuses(recorder: Recorder) -> dict[str, str]:
    """Return every task's status by its key, and see to it that no task has two."""
    rows = task_rows(recorder, "key", "status")
    found = {str(key): str(status) for key, status in rows}
    assert len(found) == len(rows), f"a task has more than one row: {rows}"
    return found


def run_facts(recorder: Recorder, *columns: str) -> list[tuple[object, ...]]:
    """Return these columns of all runs, in the order they began."""
    table = recorder.snapshot().table("runs")
    return list(zip(*(list(table[column]) for column in columns), strict=True))


def overlaps(tasks: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pairs of neighbouring tasks that overlap in a lane."""
    found = []
    for _, lane in tasks.sort_values(["lane", "start_s"]).groupby("lane"):
        stops = lane["stop_s"].cummax().shift()
        for key, before in zip(lane["key"][lane["start_s"] < stops], lane["key"], strict=False):
            found.append((str(before), str(key)))
    return found


@dataclass
class GroundTruth:
    """What tasks saw themselves: when, and on which thread."""

    seen: list[tuple[str, float, float, int]] = field(default_factory=list)

    def task(self, key: str, work: Callable[[], Any] = lambda: None) -> Any:
        """Do the work and note its times, also when it raises."""
        start = time.perf_counter()
        try:
            return work()
        finally:
            self.seen.append((key, start, time.perf_counter(), threading.get_ident()))

    def violations(self, recorder: Recorder) -> list[str]:
        """Return what of the recording contradicts what the tasks saw."""
        table = recorder.snapshot().to_pandas("tasks")
        rows = {str(row["key"]): row for _, row in table.iterrows()}
        found = [
            f"{key}: recorded {len(table)} rows for {len(rows)} tasks"
            for key in rows
            if len(table) != len(rows)
        ]
        for key, start, stop, ident in self.seen:
            row = rows.get(key)
            if row is None:
                found.append(f"{key}: ran and has no row")
            elif row["thread"] != ident:
                found.append(f"{key}: ran on thread {ident}, recorded on {row['thread']}")
            elif not row["start_s"] <= start - recorder.origin:
                found.append(f"{key}: began {start - recorder.origin}, recorded {row['start_s']}")
            # A duration is kept in single precision and rounded down.
            elif row["stop_s"] < (stop - recorder.origin) - 1e-6 * (1 + row["stop_s"] - row["start_s"]):
                found.append(f"{key}: ended {stop - recorder.origin}, recorded {row['stop_s']}")
        return found


@contextmanager
def process_pool(n_workers: int = 2) -> Iterator[ProcessPoolExecutor]:
    """Provide a pool whose processes are all there already."""
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
        ready = [pool.submit(time.sleep, 0.05) for _ in range(n_workers)]
        for future in ready:
            future.result()
        yield pool
