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

import taskscope
from taskscope.model.tables.records import Lane


def watching(**options: Any) -> taskscope.profile:
    """Return a block that records every local compute, and shows nothing."""
    return taskscope.profile(display=False, **options)


def task_rows(run: taskscope.profile, *columns: str) -> list[tuple[object, ...]]:
    """Return these columns of all tasks, sorted; the first run of the block is number 0."""
    recording = run.recording
    first = min((each.run for each in recording.runs), default=0)
    table = dict(recording.table("tasks"))
    table["run"] = table["run"] - first
    return sorted(zip(*(list(table[column]) for column in columns), strict=True), key=repr)


def statuses(run: taskscope.profile) -> dict[str, str]:
    """Return every task's status by its key, and see to it that no task has two."""
    rows = task_rows(run, "key", "status")
    found = {str(key): str(status) for key, status in rows}
    assert len(found) == len(rows), f"a task has more than one row: {rows}"
    return found


def run_facts(run: taskscope.profile, *columns: str) -> list[tuple[object, ...]]:
    """Return these columns of all runs, in the order they began."""
    table = run.recording.table("runs")
    return list(zip(*(list(table[column]) for column in columns), strict=True))


def lanes_of_tasks(run: taskscope.profile) -> dict[str, Lane]:
    """Return every task's lane by its key."""
    lanes = run.recording.lanes
    return {str(key): lanes[lane] for key, lane in task_rows(run, "key", "lane")}  # type: ignore[call-overload]  # columns are objects


def messages(run: taskscope.profile) -> list[str]:
    """Return the texts of all messages."""
    return [message.text for message in run.recording.messages]


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

    def violations(self, table: pd.DataFrame) -> list[str]:
        """Return what of the recorded tasks contradicts what the tasks saw."""
        rows = {str(row["key"]): row for _, row in table.iterrows()}
        found = [] if len(table) == len(rows) else [f"recorded {len(table)} rows for {len(rows)} tasks"]
        missing = [key for key, *_ in self.seen if key not in rows]
        found += [f"{key}: ran and has no row" for key in missing]
        found += [
            f"{key}: ran on thread {ident}, recorded on {rows[key]['thread']}"
            for key, _, _, ident in self.seen
            if key in rows and rows[key]["thread"] != ident
        ]
        times = {key: (start, stop) for key, start, stop, _ in self.seen}
        return found + not_enclosed(table, times)


def not_enclosed(table: pd.DataFrame, seen: dict[str, tuple[float, float]]) -> list[str]:
    """Return whether no place of the recording's zero has each recorded task enclose what it saw itself."""
    rows = [(*seen[str(r["key"])], r) for _, r in table.iterrows() if str(r["key"]) in seen]
    latest = min((start - row["start_s"] for start, _, row in rows), default=0.0)
    # A duration is kept in single precision and rounded down.
    earliest = max(
        (stop - row["stop_s"] - 1e-6 * (1 + row["stop_s"] - row["start_s"]) for _, stop, row in rows),
        default=0.0,
    )
    return [] if earliest <= latest else [f"times are {earliest - latest} s off"]


@contextmanager
def process_pool(n_workers: int = 2) -> Iterator[ProcessPoolExecutor]:
    """Provide a pool whose processes are all there already."""
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
        ready = [pool.submit(time.sleep, 0.05) for _ in range(n_workers)]
        for future in ready:
            future.result()
        yield pool
