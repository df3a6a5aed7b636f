"""Recorded computes run again as Dask would schedule them, with other workers or durations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.schedule import Schedule, own_runs, schedules_of
from taskscope.analysis.quantities import counted, format_percent
from taskscope.model.recording import RecordedData

_COUNTING = 0.1
"""A larger share of the tasks' time for counting lines makes other findings unreliable."""


def replayed_s(
    schedule: Schedule,
    seconds: NDArray[np.float64] | None = None,
    lag_s: NDArray[np.float64] | None = None,
    n_workers: int | None = None,
) -> float:
    """Return how long computes take when their tasks run again, the time outside of tasks included.

    With `n_workers` any of so many workers can run any task.
    """
    pool, threads = schedule.pool, schedule.threads
    if n_workers is not None:
        pool, threads = np.zeros(len(schedule), np.int64), (n_workers,)
    return schedule.outside_s + run_again_s(
        schedule.seconds if seconds is None else seconds,
        schedule.lag_s if lag_s is None else lag_s,
        schedule.dependents,
        schedule.n_needed,
        pool=pool,
        threads=threads,
        # With Dask's own schedulers the task that became ready last runs first.
        is_stack=not schedule.is_on_cluster,
        arrivals=schedule.arrivals,
    )


def quiet_s(schedule: Schedule) -> float:
    """Return how long computes take if a core is free whenever one of their tasks can use one."""
    load = schedule.load
    cpu_s = float(np.nansum(schedule.cpu_s)) / load.capacity(is_quiet=True)
    again_s = replayed_s(schedule, schedule.takes_s, schedule.lag_s / load.stretch)
    return max(again_s, schedule.outside_s + max(cpu_s, load.lock_s))


def run_again_s(  # noqa: C901, PLR0912, PLR0915 - one loop over all tasks: each call would double its time
    seconds: NDArray[np.float64],
    lag_s: NDArray[np.float64],
    dependents: Sequence[Sequence[int]],
    n_needed: NDArray[np.int64],
    *,
    pool: NDArray[np.int64],
    threads: Sequence[int],
    is_stack: bool,
    arrivals: Sequence[tuple[float, Sequence[int]]] = (),
) -> float:
    """Return when the last task of a graph ends; tasks of a pool run in its threads."""
    ready: list[list[int]] = [[] for _ in threads]
    takes, lag, place_of, left = seconds.tolist(), lag_s.tolist(), pool.tolist(), n_needed.tolist()
    free = list(threads)
    # A negative number is an arrival, which frees no worker.
    running: list[tuple[float, int]] = [(at_s, -1 - i) for i, (at_s, _) in enumerate(arrivals)]
    heapify(running)
    for _, tasks in arrivals:
        for task in tasks:
            left[task] += 1
    roots = [task for task, n in enumerate(left) if not n]
    # The last of a stack runs first; ascending numbers are a heap.
    for task in reversed(roots) if is_stack else roots:
        ready[place_of[task]].append(task)
    now = ended_s = 0.0
    touched: Collection[int] = range(len(free))
    while True:
        for place in touched:
            waiting = ready[place]
            while free[place] and waiting:
                task = waiting.pop() if is_stack else heappop(waiting)
                free[place] -= 1
                heappush(running, (now + lag[task] + takes[task], task))
        if not running:
            return ended_s
        now, ended = heappop(running)
        if ended < 0:
            woken = arrivals[-1 - ended][1]
            touched = range(len(free))
        else:
            ended_s = now
            free[place_of[ended]] += 1
            touched = {place_of[ended]} if len(free) > 1 else (0,)
            woken = dependents[ended]
        for task in reversed(woken) if is_stack else woken:
            left[task] -= 1
            if not left[task]:
                if is_stack:
                    ready[place_of[task]].append(task)
                else:
                    heappush(ready[place_of[task]], task)
                if len(free) > 1:
                    touched = {*touched, place_of[task]}


def longest_chain_s(schedule: Schedule, seconds: NDArray[np.float64] | None = None) -> float:
    """Return how long the longest chain of tasks takes that need each other, without any wait."""
    takes = (schedule.seconds if seconds is None else seconds).tolist()
    until: list[float] = []
    needed, first = schedule.needed.tolist(), 0
    for own_s, n in zip(takes, schedule.n_needed.tolist(), strict=True):
        until.append(own_s + max([until[i] for i in needed[first : first + n]], default=0.0))
        first += n
    return max(until, default=0.0)


def why_not(recording: RecordedData, run: int | None) -> str | None:
    """Return why computes cannot be replayed; None if they can."""
    if not own_runs(recording, run):
        return "no Dask computation was recorded"
    schedules = schedules_of(recording, run)
    for schedule in schedules:
        numbers = ", ".join(str(one.run) for one in schedule.runs)
        if not schedule.is_finished:
            return "a compute did not finish: what was still to do is not known"
        if schedule.n_missing:
            return f"{counted(schedule.n_missing, 'task')} of compute {numbers} have no row"
        if not schedule.is_graph_known and any(one.n_tasks for one in schedule.runs):
            return f"dependencies of compute {numbers} are not known"
    return _why_counted(recording, schedules)


def _why_counted(recording: RecordedData, schedules: Sequence[Schedule]) -> str | None:
    """Return that lines were counted, where that took much of the tasks' time."""
    runs = {one.run for schedule in schedules for one in schedule.runs}
    counting_s = sum(line.counting_s for line in recording.measured_lines if line.run in runs)
    task_s = sum(float(each.seconds.sum()) for each in schedules)
    if not counting_s or counting_s < _COUNTING * task_s:
        return None
    share = format_percent(counting_s / max(task_s, counting_s))
    return f"counting lines took {share} of the tasks' time or more: record it without lines="
