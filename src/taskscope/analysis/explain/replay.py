"""Recorded computes to run again: their graph, as Dask would schedule it, with other workers or durations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.load import Load, load_of
from taskscope.analysis.explain.schedule import Cached, Schedule, busy_ns, own_runs, schedules_of, to_ns
from taskscope.analysis.quantities import format_count, format_percent, plural
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import number_prefixes

_COUNTING = 0.1
"""Where counting lines took a larger part of the tasks' time, what they lacked may have been its doing."""


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Computes that overlap, to run again; tasks are in the order in which they began.

    `seconds`, `cpu_s` (NaN: unknown) and `lag_s` are how long each task takes, how much of it is CPU time,
    and how long after it could have begun it begins; `takes_s` is how long it would have taken if a core had
    always been free. `dependents`, `n_needed` and `needed` are the graph. `prefix` is the number of each
    task's prefix; `pool` is the worker, by number, that each task ran on, 0 where any can run any; `threads`
    is how many tasks each worker runs at a time, and `workers` are their addresses.
    """

    schedule: Schedule
    seconds: NDArray[np.float64]
    cpu_s: NDArray[np.float64]
    takes_s: NDArray[np.float64]
    lag_s: NDArray[np.float64]
    dependents: Sequence[Sequence[int]]
    n_needed: Sequence[int]
    needed: Sequence[int]
    arrivals: Sequence[tuple[float, Sequence[int]]]
    """When tasks of computes that were asked for later come, after the first task began, and these."""
    prefix: NDArray[np.int64]
    names: tuple[str, ...]
    """The prefixes, by their numbers."""
    pool: NDArray[np.int64]
    threads: tuple[int, ...]
    workers: tuple[str, ...]
    load: Load
    at_lock: NDArray[np.float64]
    """The part of each task in which it waited for a lock of the user's own, by samples of its prefix."""

    @property
    def n_workers(self) -> int:
        """How many tasks can run at a time."""
        return sum(self.threads)

    @property
    def recorded_s(self) -> float:
        """How long the computes took."""
        return (self.schedule.end - self.schedule.begin) / 1e9

    @property
    def outside_s(self) -> float:
        """The time before the first task and after the last one."""
        schedule = self.schedule
        return self.recorded_s - (int(schedule.stop.max() - schedule.start[0]) / 1e9 if len(schedule) else 0)

    @property
    def is_stack(self) -> bool:
        """Whether the task that became ready last runs first, as with Dask's own schedulers."""
        return not self.schedule.is_on_cluster

    def with_workers(self, n: int) -> Workload:
        """Return the same for so many workers, any of which can run any task."""
        return replace(self, pool=np.zeros(len(self.seconds), np.int64), threads=(n,), workers=())

    def undisturbed(self) -> Workload:
        """Return the same as if a core had been free whenever a task could use one."""
        return replace(self, seconds=self.takes_s, lag_s=self.lag_s / self.load.stretch)


_WORKLOADS = Cached()


def workloads(recording: RecordedData, run: int | None) -> tuple[Workload, ...]:
    """Return the computes to run again, one after the other; those that overlap are one."""
    return _WORKLOADS.get(
        recording,
        run,
        lambda: tuple(_workload(recording, schedule) for schedule in schedules_of(recording, run)),
    )


def _workload(recording: RecordedData, schedule: Schedule) -> Workload:
    n = len(schedule)
    dependents: list[list[int]] = [[] for _ in range(n)]
    needed = schedule.needed.tolist()
    for other, task in zip(needed, schedule.by().tolist(), strict=True):
        dependents[other].append(task)
    lag = schedule.lags()
    # A wait for a worker comes about by itself when it is run again.
    full_ns = busy_ns(schedule, schedule.start - lag, schedule.start, least=schedule.n_workers)
    lag[2 * full_ns >= lag] = 0
    arrivals = []
    for run in schedule.runs:
        late = int(to_ns(run.asked_s - recording.zero_s)) - (int(schedule.start[0]) if n else 0)
        if late > 0 and len(schedule.runs) > 1:
            mine = np.flatnonzero(schedule.run == run.run)
            # Until it was asked for, nothing of it waited.
            lag[mine] = np.minimum(lag[mine], np.maximum(schedule.start[mine] - schedule.start[0] - late, 0))
            arrivals.append((late / 1e9, mine.tolist()))
    lanes, place = np.unique(schedule.lane, return_inverse=True)
    of_lane = [recording.lanes[lane].worker for lane in lanes.tolist()]
    names = tuple(dict.fromkeys(of_lane))
    is_placed = schedule.is_on_cluster and len(names) > 1
    seconds = (schedule.stop - schedule.start) / 1e9
    names_of, numbers = number_prefixes(recording.groups)
    prefix, load = numbers[schedule.group], load_of(recording, schedule)
    at_lock = np.array([load.waiting.get(name, {}).get("lock", 0.0) for name in names_of])
    pools = np.array([names.index(worker) for worker in of_lane], np.int64)
    return Workload(
        schedule=schedule,
        seconds=seconds,
        cpu_s=schedule.cpu_s,
        takes_s=load.takes_s(seconds, schedule.cpu_s, prefix),
        lag_s=lag / 1e9,
        dependents=dependents,
        n_needed=schedule.n_needed.tolist(),
        needed=needed,
        arrivals=tuple(arrivals),
        prefix=prefix,
        names=names_of,
        pool=pools[place] if is_placed else np.zeros(n, np.int64),
        threads=tuple(of_lane.count(name) for name in names) if is_placed else (schedule.n_workers,),
        workers=names if is_placed else (),
        load=load,
        at_lock=at_lock[prefix] if load.lock_s else np.zeros(n),
    )


class Replayable(Protocol):
    """What `replayed_s` runs again: a `Workload`, or the tasks that are left of a compute."""

    @property
    def seconds(self) -> NDArray[np.float64]: ...
    @property
    def lag_s(self) -> NDArray[np.float64]: ...
    @property
    def dependents(self) -> Sequence[Sequence[int]]: ...
    @property
    def n_needed(self) -> Sequence[int]: ...
    @property
    def arrivals(self) -> Sequence[tuple[float, Sequence[int]]]: ...
    @property
    def pool(self) -> NDArray[np.int64]: ...
    @property
    def threads(self) -> tuple[int, ...]: ...
    @property
    def is_stack(self) -> bool: ...
    @property
    def outside_s(self) -> float: ...


def quiet_s(work: Workload) -> float:
    """Return how long computes take if a core is free whenever one of their tasks can use one."""
    cpu_s = float(np.nansum(work.cpu_s)) / work.load.capacity(is_quiet=True)
    return max(replayed_s(work.undisturbed()), work.outside_s + max(cpu_s, work.load.lock_s))


def replayed_s(  # noqa: C901, PLR0912, PLR0915 - one loop over all tasks: each call would double its time
    work: Replayable, seconds: NDArray[np.float64] | None = None, lag_s: NDArray[np.float64] | None = None
) -> float:
    """Return how long computes take when their tasks run again, the time outside of tasks included."""
    if not len(work.seconds):
        return work.outside_s
    ready: list[list[int]] = [[] for _ in work.threads]
    takes = (work.seconds if seconds is None else seconds).tolist()
    lag, pool, left = (work.lag_s if lag_s is None else lag_s).tolist(), work.pool.tolist(), [*work.n_needed]
    dependents, is_stack = work.dependents, work.is_stack
    free = list(work.threads)
    # A negative number is an arrival, which frees no worker.
    running: list[tuple[float, int]] = [(at_s, -1 - i) for i, (at_s, _) in enumerate(work.arrivals)]
    heapify(running)
    for _, tasks in work.arrivals:
        for task in tasks:
            left[task] += 1
    roots = [task for task, n in enumerate(left) if not n]
    # The last of a stack runs first; ascending numbers are a heap.
    for task in reversed(roots) if is_stack else roots:
        ready[pool[task]].append(task)
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
            return ended_s + work.outside_s
        now, ended = heappop(running)
        if ended < 0:
            woken = work.arrivals[-1 - ended][1]
            touched = range(len(free))
        else:
            ended_s = now
            free[pool[ended]] += 1
            touched = {pool[ended]} if len(free) > 1 else (0,)
            woken = dependents[ended]
        for task in reversed(woken) if is_stack else woken:
            left[task] -= 1
            if not left[task]:
                if is_stack:
                    ready[pool[task]].append(task)
                else:
                    heappush(ready[pool[task]], task)
                if len(free) > 1:
                    touched = {*touched, pool[task]}


def longest_chain_s(work: Workload, seconds: NDArray[np.float64] | None = None) -> float:
    """Return how long the longest chain of tasks takes that need each other, without any wait."""
    takes = (work.seconds if seconds is None else seconds).tolist()
    until: list[float] = []
    needed, first = work.needed, 0
    for own_s, n in zip(takes, work.n_needed, strict=True):
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
            return (
                f"{format_count(schedule.n_missing)} {plural('task', schedule.n_missing)} of compute "
                f"{numbers} have no row"
            )
        if not schedule.is_graph_known and any(one.n_tasks for one in schedule.runs):
            return f"dependencies of compute {numbers} are not known"
    return _why_counted(recording, schedules)


def _why_counted(recording: RecordedData, schedules: Sequence[Schedule]) -> str | None:
    """Return that lines were counted, where that took much of the tasks' time."""
    runs = {one.run for schedule in schedules for one in schedule.runs}
    counting_s = sum(line.counting_s for line in recording.measured_lines if line.run in runs)
    task_s = sum(float((each.stop - each.start).sum()) for each in schedules) / 1e9
    if not counting_s or counting_s < _COUNTING * task_s:
        return None
    share = format_percent(counting_s / max(task_s, counting_s))
    return f"counting lines took {share} of the tasks' time or more: record it without lines="
