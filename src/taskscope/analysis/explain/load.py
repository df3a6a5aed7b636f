"""How busy a compute kept workers and cores, and whether tasks waited for a core or for something else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.schedule import Schedule
from taskscope.analysis.totals import union_s
from taskscope.model.recording import RecordedData

__all__ = ["COUNTED_S", "Load", "load_of", "on_core_s"]

COUNTED_S = 1.0
"""In what is shorter, and where nobody counted, nothing tells threads that wait from such as lack a core."""


@dataclass(frozen=True, slots=True)
class Load:
    """How busy a compute kept workers and cores; None where it is not known.

    Parameters
    ----------
    concurrency
        Mean number of tasks at a time, while there was one.
    cpu_rate
        Cores that tasks kept busy meanwhile.
    cpu_share
        CPU time of the tasks over their durations.
    n_cores
        How many there are.
    has_lock
        Whether tasks are threads of one interpreter.
    is_lock_bound
        Whether one of them ran at a time, always one, though several were begun, and the lock was waited for
        where that was measured.
    ready
        Threads of the process and its children that ran, or would have if a core had been free, in the mean.
    process_rate
        Cores that the process and its children kept busy meanwhile.
    had_less_than_cores
        Whether other programs had cores that threads of the process could have used.
    """

    concurrency: float
    cpu_rate: float | None
    cpu_share: float | None
    n_cores: int | None
    has_lock: bool
    is_lock_bound: bool
    ready: float | None = None
    process_rate: float | None = None
    had_less_than_cores: bool = False

    @property
    def stretch(self) -> float:
        """How many times as long as they ran threads of the process could have: 1 if a core was always free.

        It is taken to be 1 where nobody counted.
        """
        return max(self.ready / self.process_rate, 1.0) if self.ready and self.process_rate else 1.0

    @property
    def beside_share(self) -> float:
        """Part of the time without a core in which further threads of the process computed, for tasks or not.

        It is taken to be 0 where nobody counted.
        """
        if self.process_rate is None or self.cpu_rate is None:
            return 0.0
        beside, without = self.process_rate - self.cpu_rate, self.concurrency - self.cpu_rate
        return min(max(beside, 0.0) / without, 1.0) if without > 0 else 0.0

    def takes_s(
        self, seconds: NDArray[np.float64], cpu_s: NDArray[np.float64], prefix: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how long tasks would have taken if a core had been free whenever they could have used one.

        Threads of tasks are taken to have queued for a core in proportion to their CPU time, as those of the
        whole process did. That is a mean, and says nothing of one task: it is held against all the time that
        tasks of the prefix had no core. Of unknown CPU time is taken what others of the prefix had.
        """
        is_unknown = np.isnan(cpu_s)
        cpu_s = on_core_s(seconds, cpu_s)
        without_core_s = np.bincount(prefix, seconds - cpu_s)
        queued_s = np.bincount(prefix, np.where(is_unknown, 0.0, cpu_s)) * (self.stretch - 1)
        blocked = 1 - np.minimum(queued_s / np.maximum(without_core_s, _LEAST_S), 1.0)
        blocked[blocked < _BLOCKED] = 0.0
        takes_s: NDArray[np.float64] = seconds - (seconds - cpu_s) * (1 - blocked)[prefix]
        return np.where(is_unknown, seconds * _share_of(takes_s, seconds, prefix, ~is_unknown), takes_s)

    @property
    def capacity(self) -> float:
        """How many cores' worth of CPU time tasks can get at a time, as far as is known."""
        return 1.0 if self.is_lock_bound else float(self.n_cores or math.inf)


_BLOCKED = 0.2
"""What is less of the time without a core may be an error of the mean."""
_LEAST_S = 1e-9
_MOST_CORES = 0.75
"""Who has this part of the cores that it could use, is not kept from them by others."""
_LOCK_RATES = (0.8, 1.15)
_LOCK_CONCURRENCY = 1.5
_LOCK_SHARE = 0.7
_LOCK_WAIT_S = 1e-3
"""Who asks for the lock while a thread runs Python gets it after 5 ms (`sys.getswitchinterval`), or sooner.

Means of a compute measured on two cores, idle and beside two other programs: 1.4 to 6.4 ms where two of three
tasks were Python, 0.1 to 0.8 ms where tasks of NumPy waited for a lock of the user's own.
"""
_LOCK_LEAST_RATE = 0.3
"""Who has the lock computes, though others may have the core meanwhile."""
_ALWAYS = 0.9
_ONE_AT_A_TIME = 1.8
"""So many threads are ready when any is: with the interpreter's lock one, and the next one for a moment.

Measured with two threads on two cores, idle and beside two other programs: 1.2 to 1.5 where tasks were
Python, 2.2 to 2.5 where they let go of the lock.
"""
_N_WINDOWS = 8


def on_core_s(seconds: NDArray[np.float64], cpu_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for how much of their time tasks had a core: for all of it where that is not known."""
    return np.minimum(np.where(np.isnan(cpu_s), seconds, cpu_s), seconds)


def load_of(recording: RecordedData, schedule: Schedule) -> Load:
    """Return how busy workers and cores were."""
    run = schedule.run
    start, stop = schedule.start / 1e9, schedule.stop / 1e9
    busy_s, task_s = union_s(start, stop), float((stop - start).sum())
    concurrency = task_s / busy_s if busy_s else 0.0
    here = recording.metadata.get("n_cores")
    here = int(here) if isinstance(here, int | float) and here >= 1 else None
    # Nobody tells how many cores workers have.
    n_cores = None if run.is_on_cluster else here
    scheduler = run.scheduler
    has_lock = scheduler in ("threads", "synchronous", "sync", None)
    ready, active, process_rate = _ready_of(recording, schedule)
    others = process_rate is not None and process_rate <= _MOST_CORES * min(ready or 0.0, here or 0)
    if not task_s or np.isnan(schedule.cpu_s).mean() > _MAX_UNKNOWN:
        return Load(concurrency, None, None, n_cores, has_lock, False, ready, process_rate, others)
    cpu_s = np.nan_to_num(schedule.cpu_s.astype(np.float64))
    share, rate = float(cpu_s.sum()) / task_s, float(cpu_s.sum()) / busy_s
    # That of workers is another lock than the one that was asked for.
    lock_wait_s = None if run.is_on_cluster else run.lock_wait_s
    is_bound = (
        (scheduler == "threads" or _is_one_worker(recording, schedule))
        and (n_cores is None or n_cores > 1)
        and concurrency >= _LOCK_CONCURRENCY
        and share <= _LOCK_SHARE
        and (lock_wait_s is None or lock_wait_s >= _LOCK_WAIT_S)
        and (ready is not None or lock_wait_s is not None or schedule.end - schedule.begin >= 1e9 * COUNTED_S)
        and (
            _is_steady(start, stop, cpu_s)
            if ready is None or active is None
            else rate >= _LOCK_LEAST_RATE and active >= _ALWAYS and ready <= _ONE_AT_A_TIME * active
        )
    )
    return Load(concurrency, rate, share, n_cores, has_lock, is_bound, ready, process_rate, others)


def _share_of(
    part: NDArray[np.float64], whole: NDArray[np.float64], prefix: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return for each task which part of the whole its known like have; all of it where none is known."""
    sums = np.bincount(prefix, np.where(known, whole, 0.0))
    parts = np.bincount(prefix, np.where(known, part, 0.0))
    return np.where(sums > 0, parts / np.maximum(sums, _LEAST_S), 1.0)[prefix]


def _workers(recording: RecordedData, schedule: Schedule) -> set[str]:
    return {recording.lanes[lane].worker for lane in np.unique(schedule.lane).tolist()}


def _is_one_worker(recording: RecordedData, schedule: Schedule) -> bool:
    """Say whether tasks ran in the threads of one worker of a cluster."""
    return schedule.run.is_on_cluster and len(_workers(recording, schedule)) == 1


def _ready_of(recording: RecordedData, schedule: Schedule) -> tuple[float | None, float | None, float | None]:
    """Return how many threads were ready while tasks ran, for which part of that time one was, and CPU rate.

    Workers of a cluster are among the children of this process, or not known.
    """
    nothing = (None, None, None)
    if not len(schedule):
        return nothing
    workers = _workers(recording, schedule)
    if schedule.run.is_on_cluster and not all("://127.0.0.1:" in name for name in workers):
        return nothing
    first_s, last_s = (float(t) / 1e9 + recording.zero_s for t in (schedule.start[0], schedule.stop.max()))
    samples = recording.resources
    seconds = np.diff(samples.time, prepend=samples.time[:1])
    seconds[~((samples.time >= first_s) & (samples.time <= last_s))] = 0.0
    ready = _mean(samples.ready_threads, seconds)
    percent = _mean(np.where(np.isnan(samples.ready_threads), np.nan, samples.cpu_percent), seconds)
    if ready is None or percent is None:
        return nothing
    return ready, _mean(samples.active_share, seconds), percent / 100


def _mean(values: NDArray[np.float64], seconds: NDArray[np.float64]) -> float | None:
    """Return the mean of what is known, each value for so many seconds; None if nothing is."""
    known = ~np.isnan(values) & (seconds > 0)
    return float(np.average(values[known], weights=seconds[known])) if known.any() else None


_MAX_UNKNOWN = 0.05


def _is_steady(start: NDArray[np.float64], stop: NDArray[np.float64], cpu_s: NDArray[np.float64]) -> bool:
    """Say whether tasks kept one core busy in (nearly) all parts of the time, as threads with a lock do."""
    edges = np.linspace(start.min(), stop.max(), _N_WINDOWS + 1)
    seconds = np.maximum(stop - start, 1e-9)
    rates, weights = [], []
    for low, high in pairwise(edges.tolist()):
        inside = np.clip(np.minimum(stop, high) - np.maximum(start, low), 0.0, None)
        is_in = inside > 0
        busy_s = union_s(np.maximum(start[is_in], low), np.minimum(stop[is_in], high))
        if busy_s > 0 and inside.sum() / busy_s >= _LOCK_CONCURRENCY:
            rates.append(float((inside * cpu_s / seconds).sum()) / busy_s)
            weights.append(busy_s)
    if not rates:
        return False
    is_one = [_LOCK_RATES[0] <= rate <= _LOCK_RATES[1] for rate in rates]
    return sum(w for w, one in zip(weights, is_one, strict=True) if one) >= 0.75 * sum(weights)
