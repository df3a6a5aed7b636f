"""When workers of a cluster were there, and how long there was none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from taskscope.model.recording import RecordedData

_ENDS = {"retired", "left", "killed", "timed out", "died"}


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
        elif message.worker is not None and message.event in _ENDS:
            left[message.worker] = message.time_s
    threads = {sample.worker: sample.n_threads for sample in recording.workers if sample.n_threads}
    return {
        worker: WorkerLife(
            came.get(worker, -math.inf), left.get(worker, math.inf), max(threads.get(worker, 1), 1)
        )
        for worker in {**came, **threads, **left}
    }


def without_workers(recording: RecordedData, start_s: float, stop_s: float) -> list[tuple[float, float]]:
    """Return the parts of a time in which there was no worker, where workers were seen at all."""
    lives = sorted((life.since_s, life.until_s) for life in lives_of(recording).values())
    if not lives:
        return []
    gaps: list[tuple[float, float]] = []
    reached = start_s
    for since_s, until_s in lives:
        if since_s > reached:
            gaps.append((reached, min(since_s, stop_s)))
        reached = max(reached, until_s)
        if reached >= stop_s:
            break
    if reached < stop_s:
        gaps.append((reached, stop_s))
    return [(first, last) for first, last in gaps if last > first]
