"""What samples of tasks' call stacks stand for: the time that tasks of their prefix were measured to take."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import TaskBlock
from taskscope.model.tables.stacks import LineRows, StackRows


def in_proportion(recording: RecordedData) -> RecordedData:
    """Return the recording with samples that stand for the measured time of their prefixes.

    Samplers take fewer samples than one an interval where threads hold the interpreter's lock, and fewest of
    short tasks. How long the tasks of each prefix took is known exactly, so only their insides are estimated.
    """
    stacks = recording.stacks
    if not len(stacks.rows) or recording.dropped:
        return recording
    rows, lines = stacks.rows, stacks.lines
    on_clusters = set(_on_clusters(recording))
    elsewhere = {run.run for run in recording.runs} - on_clusters
    tasks = recording.tasks
    spent_s = _own_seconds(recording, tasks)
    # What a sample of a cluster stands for, and one of ours, has nothing to do with each other.
    for runs in (list(on_clusters), list(elsewhere)):
        measured_s = _by_prefix(recording, tasks, np.where(np.isin(tasks.run, runs), spent_s, 0.0))
        rows = _scaled_rows(rows, runs, measured_s)
        lines = _scaled_lines(lines, runs, measured_s)
    return replace(recording, stacks=replace(stacks, rows=rows, lines=lines))


def _scaled_rows(rows: StackRows, runs: list[int], measured_s: NDArray[np.float64]) -> StackRows:
    factor = _factors(rows.prefix, np.isin(rows.run, runs), rows.seconds, measured_s)
    return replace(rows, seconds=rows.seconds * factor)


def _scaled_lines(lines: LineRows, runs: list[int], measured_s: NDArray[np.float64]) -> LineRows:
    factor = _factors(lines.prefix, np.isin(lines.run, runs), lines.self_seconds, measured_s)
    return replace(
        lines,
        seconds=lines.seconds * factor,
        self_seconds=lines.self_seconds * factor,
        cpu_s=lines.cpu_s * factor,
        cpu_known_s=lines.cpu_known_s * factor,
        squares=lines.squares * factor**2,
        self_squares=lines.self_squares * factor**2,
    )


def _factors(
    prefix: NDArray[np.uint32],
    chosen: NDArray[np.bool_],
    seconds: NDArray[np.float64],
    measured_s: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return what to multiply rows by; 1 for those not chosen, or of whose tasks nothing is known."""
    sampled_s = np.bincount(prefix[chosen], seconds[chosen], len(measured_s))
    is_known = (sampled_s > 0) & (measured_s > 0)
    factor = np.where(is_known, measured_s / np.where(is_known, sampled_s, 1.0), 1.0)
    return np.where(chosen, factor[prefix], 1.0)


def _by_prefix(
    recording: RecordedData, tasks: TaskBlock, seconds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sums of tasks' seconds by place in `StackColumns.prefixes`."""
    sums: defaultdict[str, float] = defaultdict(float)
    of_group = np.bincount(tasks.group, seconds, len(recording.groups)).tolist()
    for group, of_tasks in zip(recording.groups, of_group, strict=True):
        sums[group.prefix] += of_tasks
    return np.array([sums[prefix] for prefix in recording.stacks.prefixes], np.float64)


def _own_seconds(recording: RecordedData, tasks: TaskBlock) -> NDArray[np.float64]:
    """Return how long each task took, without the tasks of computes that are nested in it in its thread."""
    own: NDArray[np.float64] = tasks.stop - tasks.start
    threads: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for lane in recording.lanes:
        threads[lane.worker, lane.thread].append(lane.id)
    for lanes in threads.values():
        # A compute within a task has a lane of its own.
        if len(lanes) > 1:
            _take_off_nested(own, tasks, np.flatnonzero(np.isin(tasks.lane, lanes)))
    return own


def _take_off_nested(own: NDArray[np.float64], tasks: TaskBlock, rows: NDArray[np.int64]) -> None:
    ordered = rows[np.lexsort((-tasks.stop[rows], tasks.start[rows]))]
    around: list[tuple[int, float]] = []
    for row, start, stop in zip(
        ordered.tolist(), tasks.start[ordered].tolist(), tasks.stop[ordered].tolist(), strict=True
    ):
        while around and around[-1][1] <= start:
            around.pop()
        if around:
            own[around[-1][0]] -= stop - start
        around.append((row, stop))


def _on_clusters(recording: RecordedData) -> list[int]:
    return [run.run for run in recording.runs if run.is_on_cluster]
