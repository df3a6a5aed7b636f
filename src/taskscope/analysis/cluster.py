"""Clusters: when workers were there, and where their seconds went."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from taskscope.model.recording import RecordedData
from taskscope.model.tables.workers import PrefixSeconds


def seconds_by_prefix(recording: RecordedData) -> list[PrefixSeconds]:
    """Return the seconds of each activity of executing tasks, by compute and prefix, of all workers."""
    seconds: defaultdict[tuple[int, str, str], float] = defaultdict(float)
    for metric in recording.metrics:
        if metric.seconds:
            seconds[metric.run, metric.prefix, metric.activity] += metric.seconds
    return [PrefixSeconds(*name, total) for name, total in seconds.items()]


WORKER_ENDS = frozenset(("retired", "left", "killed", "timed out", "died"))
"""Events after which a worker is gone."""


@dataclass(frozen=True, slots=True)
class WorkerLife:
    """From when to when a worker was there, on the axis of the recorder; infinite where that was not seen."""

    since_s: float
    until_s: float
    n_threads: int

    def seconds(self, start_s: float, stop_s: float) -> float:
        """Return for how much of a time it was there."""
        return max(min(self.until_s, stop_s) - max(self.since_s, start_s), 0.0)


def lives_of(recording: RecordedData) -> Mapping[str, WorkerLife]:
    """Return the workers of a cluster that were seen, by their addresses."""
    came: dict[str, float] = {}
    left: dict[str, float] = {}
    for message in recording.messages:
        if message.worker is not None and message.event == "came":
            came.setdefault(message.worker, message.time_s)
        elif message.worker is not None and message.event in WORKER_ENDS:
            left[message.worker] = message.time_s
    threads = {sample.worker: sample.n_threads for sample in recording.workers if sample.n_threads}
    return {
        worker: WorkerLife(
            came.get(worker, -math.inf), left.get(worker, math.inf), max(threads.get(worker, 1), 1)
        )
        for worker in {**came, **threads, **left}
    }


def without_workers(recording: RecordedData) -> list[tuple[float, float]]:
    """Return the times without any worker, where workers were seen at all, on the axis of the recorder."""
    gaps: list[tuple[float, float]] = []
    lives = sorted((life.since_s, life.until_s) for life in lives_of(recording).values())
    reached_s = -math.inf
    for since_s, until_s in [*lives, (math.inf, math.inf)] if lives else ():
        if since_s > reached_s:
            gaps.append((reached_s, since_s))
        reached_s = max(reached_s, until_s)
    return gaps


def paused_s(recording: RecordedData, start_s: float, stop_s: float) -> dict[str, float]:
    """Return for how long of a time workers began no task, as they lacked memory, by their addresses."""
    since: dict[str, float] = {}
    found: defaultdict[str, float] = defaultdict(float)
    ends = [(worker, stop_s) for worker in dict.fromkeys(m.worker for m in recording.messages)]
    events = [(m.worker, m.time_s, m.event) for m in recording.messages if m.event is not None]
    for worker, time_s, event in [*events, *((worker, end_s, "") for worker, end_s in ends)]:
        if worker is not None and event == "paused":
            since.setdefault(worker, time_s)
        elif worker in since:
            found[worker] += max(min(time_s, stop_s) - max(since.pop(worker), start_s), 0.0)
    return {worker: seconds for worker, seconds in found.items() if seconds}
