"""Write a run into a recorder by hand, as a source would, with every time chosen by the test."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from taskscope.record import GraphSource, LaneBuffer, LaneKey, Recorder, RunLog
from taskscope.record.writers.runlog import ReportedTasks

DIAMOND: dict[object, tuple[object, ...]] = {
    "data": (),
    ("x", 0): ("data",),
    ("x", 1): ("data",),
    "sum": (("x", 0), ("x", 1)),
    "last": ("sum",),
}


def begin_run(
    recorder: Recorder,
    dependencies: Mapping[object, Collection[object]],
    *,
    kept: Collection[object] = (),
    data: Mapping[object, float] | None = None,
) -> RunLog:
    log = recorder.begin()
    log.n_tasks = len(dependencies) - len(data or {})
    log.graph_source = GraphSource(dependencies, frozenset(kept), dict(data or {}))
    return log


def independent(keys: Sequence[object]) -> dict[object, Collection[object]]:
    return dict.fromkeys(keys, ())


def lane_of(log: RunLog, thread: int = 1) -> LaneBuffer:
    return log.lanes.setdefault(thread, LaneBuffer(LaneKey(os.getpid(), thread, 0, f"thread {thread}")))


def write_task(
    log: RunLog,
    key: object,
    start: float,
    stop: float,
    *,
    cpu: float = math.nan,
    size: float = math.nan,
    thread: int = 1,
) -> None:
    """Write what a worker thread writes; times are on the clock's axis, as in a source."""
    lane_of(log, thread).extend((key, start, stop, cpu, size))
    log.landed.extend((key, stop))


def report_task(log: RunLog, key: object, lane: LaneKey, start: float, stop: float) -> None:
    """Report what a cluster's worker finished: a task of eight bytes."""
    times = np.array([start]), np.array([stop])
    log.reported.append(ReportedTasks([key], [lane], *times, {"nbytes": np.array([8.0])}))


def end_run(log: RunLog, status: str = "finished", stop: float | None = None) -> None:
    log.status = status
    log.stop = log.perf_counter() if stop is None else stop


def record_run(recorder: Recorder, keys: Sequence[object]) -> None:
    """Record a finished run of tasks of one second, one after another, all on one thread."""
    log = begin_run(recorder, independent(keys))
    for place, key in enumerate(keys):
        write_task(log, key, log.start + place, log.start + place + 1)
    end_run(log, stop=log.start + len(keys))
    while recorder.pull():
        pass
