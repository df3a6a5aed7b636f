"""What a recorded compute would have taken otherwise: its graph run again, as Dask would schedule it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.load import Load, load_of
from taskscope.analysis.explain.schedule import Schedule, own_runs, saturated_ns, schedule_of
from taskscope.analysis.quantities import format_count, format_duration, format_percent, plural
from taskscope.errors import OptionError, UnknownNameError, unknown_name
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Run, number_prefixes

__all__ = [
    "Limit",
    "WhatIf",
    "Workload",
    "longest_chain_s",
    "makespan_of",
    "replayed_s",
    "what_if",
    "why_not",
    "workloads",
]

Limit: TypeAlias = Literal["chain", "workers", "cores", "interpreter-lock", "outside"]
"""What keeps a makespan from being shorter: the longest chain of tasks that need each other, the number of
workers, that of cores, that threads take turns in running Python, or what is outside of tasks."""

_MAX_REPLAYS = 200
_MIN_REPLAYS = 10
_MAX_STEPS = 400_000
"""About so many tasks are replayed for a band: a second or two."""
_RERUN = 0.05
"""Where a compute runs again, it takes so much more or less, for no reason that a recording has."""
_MIN_SAMPLES = 5
"""Durations of a prefix with fewer tasks are not drawn again."""


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """A compute to run again; tasks are in the order in which they began.

    Parameters
    ----------
    seconds, cpu_s, lag_s
        How long each task takes, how much of it is CPU time (NaN: unknown), and how long after it could have
        begun it begins.
    dependents, n_needed
        Who needs each task, and how many tasks each needs.
    prefix
        The number of each task's prefix, by first appearance.
    pool
        The worker, by number, that each task ran on; 0 where any can run any.
    threads
        How many tasks each worker runs at a time.
    workers
        Their addresses; none where any can run any.
    task
        The number of each task in the graph of its run: one that ran again is there as often.
    n_used
        How many threads or processes ran a task.
    outside_s
        Time of the compute before its first task and after its last one.
    is_stack
        Whether the task runs first that became ready last, as with Dask's own schedulers; else the one that
        comes first in the order.
    takes_s
        How long each task would have taken if a core had been free whenever it could have used one.
    """

    run: Run
    seconds: NDArray[np.float64]
    cpu_s: NDArray[np.float64]
    lag_s: NDArray[np.float64]
    dependents: Sequence[Sequence[int]]
    n_needed: Sequence[int]
    needed: Sequence[int]
    prefix: NDArray[np.int64]
    pool: NDArray[np.int64]
    threads: tuple[int, ...]
    workers: tuple[str, ...]
    task: NDArray[np.int32]
    n_used: int
    outside_s: float
    recorded_s: float
    is_stack: bool
    load: Load
    takes_s: NDArray[np.float64]

    @property
    def n_workers(self) -> int:
        """How many tasks can run at a time."""
        return sum(self.threads)

    def with_workers(self, n: int) -> Workload:
        """Return the same for so many workers, any of which can run any task."""
        return replace(self, pool=np.zeros(len(self.seconds), np.int64), threads=(n,), workers=())

    def undisturbed(self) -> Workload:
        """Return the same as if nobody else had used the cores, as far as is known."""
        return replace(self, seconds=self.takes_s, lag_s=self.lag_s / self.load.stretch)


def workload(recording: RecordedData, schedule: Schedule) -> Workload:
    """Return a compute as something that can run again."""
    n = len(schedule)
    dependents: list[list[int]] = [[] for _ in range(n)]
    by = np.repeat(np.arange(n), schedule.n_needed).tolist()
    needed = schedule.needed.tolist()
    for other, task in zip(needed, by, strict=True):
        dependents[other].append(task)
    lag = schedule.lags()
    # A wait for a worker comes about by itself when it is run again.
    lag[2 * saturated_ns(schedule, schedule.start - lag, schedule.start) >= lag] = 0
    workers = [recording.lanes[lane].worker for lane in schedule.lane.tolist()]
    names = {name: i for i, name in enumerate(dict.fromkeys(workers))}
    n_lanes = len(np.unique(schedule.lane))
    threads = [
        len({lane for lane, w in zip(schedule.lane.tolist(), workers, strict=True) if w == name})
        for name in names
    ]
    is_placed = schedule.run.is_on_cluster and len(names) > 1
    seconds, cpu_s = (schedule.stop - schedule.start) / 1e9, schedule.cpu_s.astype(np.float64)
    prefix, load = number_prefixes(recording.groups)[1][schedule.group], load_of(recording, schedule)
    outside = schedule.end - schedule.begin - (int(schedule.stop.max() - schedule.start[0]) if n else 0)
    return Workload(
        run=schedule.run,
        seconds=seconds,
        cpu_s=cpu_s,
        lag_s=lag / 1e9,
        dependents=dependents,
        n_needed=schedule.n_needed.tolist(),
        needed=needed,
        prefix=prefix,
        pool=np.array([names[w] for w in workers] if is_placed else np.zeros(n), np.int64),
        threads=tuple(threads) if is_placed else (schedule.run.n_workers or max(n_lanes, 1),),
        workers=tuple(names) if is_placed else (),
        task=schedule.task,
        n_used=n_lanes,
        outside_s=outside / 1e9,
        recorded_s=(schedule.end - schedule.begin) / 1e9,
        is_stack=not schedule.run.is_on_cluster,
        load=load,
        takes_s=load.takes_s(seconds, cpu_s, prefix),
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
    def pool(self) -> NDArray[np.int64]: ...
    @property
    def threads(self) -> tuple[int, ...]: ...
    @property
    def is_stack(self) -> bool: ...
    @property
    def outside_s(self) -> float: ...


def replayed_s(  # noqa: C901, PLR0912, PLR0915 - one loop over all tasks: each call would double its time
    work: Replayable, seconds: NDArray[np.float64] | None = None
) -> float:
    """Return how long a compute takes when its tasks are run again, what is outside of them included.

    Parameters
    ----------
    work
        The compute.
    seconds
        How long its tasks take; as long as they did by default.
    """
    if not len(work.seconds):
        return work.outside_s
    ready: list[list[int]] = [[] for _ in work.threads]
    takes = (work.seconds if seconds is None else seconds).tolist()
    lag, pool, left = work.lag_s.tolist(), work.pool.tolist(), list(work.n_needed)
    dependents, is_stack = work.dependents, work.is_stack
    free = list(work.threads)
    roots = [task for task, n in enumerate(left) if not n]
    # The last of a stack runs first; ascending numbers are a heap.
    for task in reversed(roots) if is_stack else roots:
        ready[pool[task]].append(task)
    running: list[tuple[float, int]] = []
    now = 0.0
    touched: Collection[int] = range(len(free))
    while True:
        for place in touched:
            waiting = ready[place]
            while free[place] and waiting:
                task = waiting.pop() if is_stack else heappop(waiting)
                free[place] -= 1
                heappush(running, (now + lag[task] + takes[task], task))
        if not running:
            return now + work.outside_s
        now, ended = heappop(running)
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


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What the makespan would have been.

    Parameters
    ----------
    workers
        How many there are; None for as many as there were.
    recorded_s
        The makespan of the recording, in seconds.
    makespan_s, low_s, high_s
        The estimate, and between which it lies if durations scatter as they did (four times in five); None
        where nothing can be said.
    chain_s, work_s
        Bounds, in seconds: the longest chain of tasks that need each other, and all task time over the
        workers; of several computes the sums.
    limited_by
        What keeps it from being shorter; see `Limit`.
    n_replays
        From how many replays the band is.
    reason
        Why nothing can be said.
    notes
        What to know about it.
    """

    workers: int | None
    recorded_s: float
    makespan_s: float | None
    low_s: float | None
    high_s: float | None
    chain_s: float | None
    work_s: float | None
    limited_by: Limit | None
    n_replays: int
    reason: str | None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"notes": list(self.notes)}

    def __str__(self) -> str:
        """Return it as a sentence or two."""
        if self.makespan_s is None:
            return f"cannot say, because {self.reason}"
        text = (
            f"{format_duration(self.makespan_s)} ({format_duration(self.low_s)} to "
            f"{format_duration(self.high_s)}) instead of {format_duration(self.recorded_s)}"
        )
        if self.limited_by is not None:
            text += f"; limited by {_LIMITS[self.limited_by]}"
        return "; ".join([text, *self.notes])


_LIMITS: Mapping[Limit, str] = {
    "chain": "the longest chain of tasks that need each other",
    "workers": "the number of workers",
    "cores": "the number of cores",
    "interpreter-lock": "the interpreter's lock: threads take turns in running Python",
    "outside": "what is outside of tasks: graphs, results, and the program between computes",
}


def what_if(
    recording: RecordedData,
    workers: int | None = None,
    speed: Mapping[str, float] | None = None,
    without: str | Collection[str] | None = None,
    run: int | None = None,
) -> WhatIf:
    """Return what the makespan would have been with other workers, or other durations."""
    factors = _factors(recording, workers, speed or {}, without)
    runs = own_runs(recording, run)
    recorded_s = makespan_of(recording, runs)
    reason = why_not(recording, runs)
    if reason is not None:
        return WhatIf(workers, recorded_s, None, None, None, None, None, None, 0, reason)
    works = workloads(recording, runs)
    cases = [_Case.of(work, workers, factors[work.prefix]) for work in works]
    between_s = recorded_s - sum(work.recorded_s for work in works)
    takes = [case.seconds() for case in cases]
    makespan_s = between_s + sum(map(_Case.makespan_s, cases, takes))
    n_tasks = sum(len(work.seconds) for work in works)
    n_replays = min(max(_MAX_STEPS // max(n_tasks, 1), _MIN_REPLAYS), _MAX_REPLAYS)
    in_runs = _band_s(cases, takes, n_replays)
    low_s, high_s = between_s + in_runs[0], between_s + in_runs[1]
    chain_s = sum(longest_chain_s(case.work, s) for case, s in zip(cases, takes, strict=True))
    work_s = sum(float(s.sum()) / case.work.n_workers for case, s in zip(cases, takes, strict=True))
    notes = tuple(dict.fromkeys(note for case in cases for note in case.notes()))
    bounds: dict[Limit, float] = {
        "workers": work_s,
        "chain": chain_s,
        "cores": sum(case.cpu_bound_s() for case in cases if not case.work.load.is_lock_bound),
        "interpreter-lock": sum(case.cpu_bound_s() for case in cases if case.work.load.is_lock_bound),
        "outside": between_s + sum(work.outside_s for work in works),
    }
    # Tasks that share cores take longer, so that the workers seem to be too few as well.
    cause = {"cores": 1.01, "interpreter-lock": 1.01}
    limited_by = max(bounds, key=lambda name: bounds[name] * cause.get(name, 1.0)) if n_tasks else "outside"
    return WhatIf(
        workers, recorded_s, makespan_s, low_s, high_s, chain_s, work_s, limited_by, n_replays, None, notes
    )


def _band_s(
    cases: Sequence[_Case], takes: Sequence[NDArray[np.float64]], n_replays: int
) -> tuple[float, float]:
    """Return between which values computes take together, four times in five."""
    guess_s = sum(map(_Case.makespan_s, cases, takes))
    random = np.random.default_rng(0)
    drawn_s = [
        sum(
            case.makespan_s(seconds, _drawn(case.work.prefix, random))
            for case, seconds in zip(cases, takes, strict=True)
        )
        for _ in range(n_replays)
    ]
    low_s, high_s = (float(q) for q in np.quantile(drawn_s, (0.1, 0.9)))
    # How far a replay of what was recorded is from it, is how far this one may be.
    recorded_s = sum(case.recorded.recorded_s for case in cases)
    error = abs(sum(replayed_s(case.recorded) for case in cases) - recorded_s) / max(recorded_s, 1e-9)
    if any(case.is_other for case in cases):
        error += _RERUN
        # The others that used the cores may be gone then, or be twice as many.
        calm = [case.undisturbed() for case in cases]
        without_s = sum(case.makespan_s(case.seconds()) for case in calm)
        low_s, high_s = min(low_s, without_s), max(high_s, 2 * guess_s - without_s)
    low_s, high_s = min(low_s, guess_s) * (1 - error), max(high_s, guess_s) * (1 + error)
    return low_s, max(high_s, guess_s + sum(case.doubt_s(guess_s) for case in cases))


def _factors(
    recording: RecordedData,
    workers: int | None,
    speed: Mapping[str, float],
    without: str | Collection[str] | None,
) -> NDArray[np.float64]:
    """Return for each prefix what durations of its tasks are multiplied by."""
    if workers is not None and (type(workers) is not int or workers < 1):
        raise OptionError(f"workers must be a positive whole number, got {workers!r}")
    left_out = {without} if isinstance(without, str) else set(without or ())
    prefixes = number_prefixes(recording.groups)[0]
    for prefix in [*speed, *left_out]:
        if prefix not in prefixes:
            raise UnknownNameError(unknown_name("prefix", prefix, sorted(prefixes)))
    for prefix, factor in speed.items():
        if not 0 < factor < math.inf:
            raise OptionError(f"speed of {prefix!r} must be a positive number, got {factor!r}")
    return np.array([0.0 if name in left_out else 1.0 / speed.get(name, 1.0) for name in prefixes])


def makespan_of(recording: RecordedData, runs: Sequence[Run]) -> float:
    """Return how long computes took from the start of the first to the end of the last, in seconds."""
    stops = [recording.now_s if run.stop_s is None else run.stop_s for run in runs]
    return max(stops) - min(run.asked_s for run in runs) if runs else 0.0


def _outermost(runs: Sequence[Run]) -> list[Run]:
    """Return computes that are not inside of a task of another."""
    found: list[Run] = []
    for run in sorted(runs, key=lambda one: (one.start_s, -(one.stop_s or math.inf))):
        if not found or (run.stop_s or math.inf) > (found[-1].stop_s or math.inf):
            found.append(run)
    return found


def why_not(recording: RecordedData, runs: Sequence[Run]) -> str | None:
    """Return why computes cannot be replayed; None if they can."""
    if not runs:
        return "no Dask computation was recorded"
    if any(run.status != "finished" for run in runs):
        return "a compute did not finish: what was still to do is not known"
    outermost = _outermost(runs)
    if any(b.start_s < (a.stop_s or math.inf) for a, b in pairwise(outermost)):
        return "computes ran beside each other; ask for one of them with run="
    return next(filter(None, (_missing(recording, run) for run in outermost)), None)


def _missing(recording: RecordedData, run: Run) -> str | None:
    """Return what of a compute is not known."""
    tasks = [block.task for block in recording.blocks if block.run == run.run]
    n = run.n_tasks - len(np.unique(np.concatenate([np.empty(0, np.int32), *tasks])))
    if n > 0:
        return f"{format_count(n)} {plural('task', n)} of compute {run.run} have no row"
    is_known = not run.n_tasks or recording.graphs[run.run].known
    return None if is_known else f"dependencies of compute {run.run} are not known"


def workloads(recording: RecordedData, runs: Sequence[Run]) -> list[Workload]:
    """Return the computes that can be run again one after the other."""
    return [workload(recording, schedule_of(recording, run)) for run in _outermost(runs)]


def _drawn(prefix: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Return for each task whose duration it gets: one of the same prefix, drawn with replacement.

    Tasks that began one after the other are drawn together, as what slows down one slows down its neighbours.
    """
    drawn = np.arange(len(prefix))
    order = np.argsort(prefix, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(prefix[order])) + 1):
        n = len(mine)
        if n >= _MIN_SAMPLES:
            together = math.isqrt(n)
            firsts = random.integers(n, size=-(-n // together))
            drawn[mine] = mine[(firsts[:, None] + np.arange(together)).ravel()[:n] % n]
    return drawn


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """One compute under other conditions."""

    recorded: Workload
    work: Workload
    factor: NDArray[np.float64]
    is_other: bool
    """Whether it has another number of workers than it had."""

    @classmethod
    def of(cls, work: Workload, workers: int | None, factor: NDArray[np.float64]) -> _Case:
        is_other = workers is not None and workers != work.n_workers
        changed = work.with_workers(workers) if is_other and workers is not None else work
        # What takes no time needs no handing over either.
        lag_s = np.where(factor == 0, 0.0, changed.lag_s)
        return cls(work, replace(changed, lag_s=lag_s), factor, is_other)

    def undisturbed(self) -> _Case:
        return replace(self, work=self.work.undisturbed())

    def cpu_sum_s(self) -> float:
        return float(np.nansum(self.work.cpu_s * self.factor)) if self.work.load.cpu_share else 0.0

    def cpu_bound_s(self) -> float:
        """Return how long the CPU time of the tasks takes at least on the cores that they can use."""
        capacity = self.work.load.capacity
        return self.cpu_sum_s() / capacity if math.isfinite(capacity) else 0.0

    def seconds(self) -> NDArray[np.float64]:
        """Return how long each task would take."""
        load, work = self.work.load, self.work
        seconds = work.seconds * self.factor
        cpu_sum_s = self.cpu_sum_s()
        if not self.is_other or not cpu_sum_s or not math.isfinite(load.capacity):
            return seconds
        # Tasks that were in each other's way take less alone, and no less than their own CPU time.
        slowed = max(load.concurrency / load.capacity, 1.0) if self._was_contended() else 1.0
        alone = np.maximum(seconds / slowed, np.minimum(np.nan_to_num(work.cpu_s) * self.factor, seconds))
        concurrency = float(alone.sum()) / max(replayed_s(work, alone) - work.outside_s, 1e-9)
        demand = concurrency * cpu_sum_s / max(float(alone.sum()), 1e-9)
        return alone * max(demand / load.capacity, 1.0)

    def _was_contended(self) -> bool:
        load = self.work.load
        rate = load.cpu_rate or 0.0
        return load.is_lock_bound or rate >= _CONTENDED * load.capacity

    def makespan_s(self, seconds: NDArray[np.float64], drawn: NDArray[np.int64] | None = None) -> float:
        """Return how long it takes if tasks take so long, or as long as those that were drawn for them."""
        bound_s = self.cpu_bound_s() + self.work.outside_s if self.is_other else 0.0
        if drawn is None:
            return max(replayed_s(self.work, seconds), bound_s)
        return max(replayed_s(replace(self.work, lag_s=self.work.lag_s[drawn]), seconds[drawn]), bound_s)

    def doubt_s(self, guess_s: float) -> float:
        """Return how much longer it takes if tasks waited for cores, or do not let go of the lock."""
        load = self.work.load
        if self._is_wait_unknown():
            return max(self.work.recorded_s - guess_s, 0.0)
        if not self._is_lock_unknown():
            return 0.0
        serial_s = self.cpu_sum_s() / max(load.cpu_rate or 1.0, 1.0) + self.work.outside_s
        return max(serial_s - guess_s, 0.0)

    def _is_wait_unknown(self) -> bool:
        load = self.work.load
        is_more = self.is_other and self.work.n_workers > load.concurrency
        is_partly = _PARTLY[0] <= (load.cpu_share or 0.0) <= _PARTLY[1]
        return is_more and is_partly and not load.is_lock_bound and not self._was_contended()

    def _is_lock_unknown(self) -> bool:
        load = self.work.load
        is_more = self.is_other and self.work.n_workers > load.concurrency
        return is_more and load.has_lock and not load.is_lock_bound and (load.cpu_share or 0.0) >= _CPU_HEAVY

    def notes(self) -> list[str]:
        """Return what to know about another number of workers."""
        load = self.work.load
        if not self.is_other:
            return []
        if load.cpu_share is None:
            return ["CPU time of tasks is not known: it holds if further workers have cores of their own"]
        if load.is_lock_bound:
            return ["tasks took turns in running Python: more threads do not make them faster"]
        if self._is_wait_unknown():
            share = format_percent(load.cpu_share)
            text = (
                f"tasks had a core for {share} of their time: if they waited for one that others used, more "
                "workers gain nothing, which is the upper end"
            )
            return [text]
        return self._notes_of_cores(load) if load.cpu_share >= _CPU_HEAVY else []

    def _notes_of_cores(self, load: Load) -> list[str]:
        found = []
        if load.n_cores is None:
            found.append("how many cores there are is not known: it holds if there are enough")
        elif self.work.n_workers > load.n_cores:
            found.append(f"tasks burn CPU, and there are {load.n_cores} cores")
        if self._is_lock_unknown():
            found.append("whether tasks release the interpreter's lock is not known: the upper end is if not")
        return found


_CONTENDED = 0.85
_CPU_HEAVY = 0.3
_PARTLY = (0.15, 0.85)
