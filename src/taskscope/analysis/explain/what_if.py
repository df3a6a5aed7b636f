"""Recorded computes run again as Dask would schedule them, with other workers or other durations."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.schedule import (
    BY_NOTHING,
    NONE,
    Load,
    Schedule,
    is_large,
    makespan_of,
    own_runs,
    place_of,
    schedules_of,
)
from taskscope.analysis.quantities import counted, format_duration, format_percent, plural
from taskscope.analysis.result import Result, Section
from taskscope.errors import OptionError, UnknownNameError, unknown_name
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import distinct
from taskscope.model.tables.records import count_runs, number_prefixes

Limit: TypeAlias = Literal["chain", "workers", "cores", "interpreter-lock", "lock", "outside"]
"""The limit of a makespan: the longest chain of tasks that need each other, the number of
workers, that of cores, that threads take turns in running Python, or at a lock of the user's own, or what is
outside of tasks."""

_LIMITS: Mapping[Limit, str] = {
    "chain": "the longest chain of tasks that need each other",
    "workers": "the number of workers",
    "cores": "the number of cores",
    "interpreter-lock": "the interpreter's lock: threads take turns in running Python",
    "lock": "a lock at which tasks take turns",
    "outside": "what is outside of tasks: graphs, results, and the program between computes",
}

_MAX_REPLAYS = 200
_MIN_REPLAYS = 10
_MAX_STEPS = 400_000
"""About so many tasks are replayed for a band: a second or two."""
_STEPS_OF_START = 100
"""To start a replay takes about as long as so many tasks."""
_RERUN = 0.05
"""Where a compute runs again, it takes so much more or less, for no reason that a recording has."""
_MIN_SAMPLES = 5
"""Durations of a prefix with fewer tasks are not drawn again."""
_NO_ANSWER = 4.0
"""A band whose ends are this factor apart is no answer."""
_CONTENDED = 0.85
_CPU_HEAVY = 0.3
_PARTLY = (0.15, 0.85)
_LOCK_UNKNOWN = "whether tasks release the interpreter's lock is not known"


@dataclass(frozen=True, slots=True, repr=False)
class WhatIf(Result):
    """A makespan under other conditions, in seconds.

    `workers` is None for as many as there were; `recorded_s` is the makespan of the recording. `makespan_s`
    is the estimate for a machine that is as busy with other programs as it was, `low_s` and `high_s` between
    which it lies if durations scatter as they did (four times in five). Bounds are `chain_s`, the longest
    chain of tasks that need each other, and `work_s`, all task time over the workers; of several computes the
    sums. `limited_by` keeps it from being shorter, see `Limit`. `reason` is why there is no answer, `notes`
    are assumptions.
    """

    workers: int | None
    recorded_s: float
    makespan_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    chain_s: float | None = None
    work_s: float | None = None
    limited_by: Limit | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()

    def table(self) -> dict[str, list[object]]:
        """Return its values as one row."""
        return {name: [value] for name, value in self.to_dict().items() if name != "notes"}

    def sections(self) -> Iterator[Section]:
        """Yield the answer, and its assumptions below it."""
        yield Section(self._answer(), notes=self.notes)

    def _answer(self) -> str:
        if self.makespan_s is None:
            return f"cannot say, because {self.reason}"
        text = (
            f"{format_duration(self.makespan_s)} ({format_duration(self.low_s)} to "
            f"{format_duration(self.high_s)}) instead of {format_duration(self.recorded_s)}"
        )
        return text + (f"; limited by {_LIMITS[self.limited_by]}" if self.limited_by else "")


def what_if(
    recording: RecordedData,
    workers: int | None = None,
    speed: Mapping[str, float] | None = None,
    without: str | Collection[str] | None = None,
    *,
    run: int | None = None,
) -> WhatIf:
    """Estimate the makespan with other workers, or with other durations.

    Parameters
    ----------
    workers
        How many tasks can run at a time; as many as could by default.
    speed
        By prefix, how many times faster its tasks are: ``{"load": 2.0}`` halves their durations.
    without
        Prefixes (or one) whose tasks take no time at all.
    run
        The number of a compute; by default all of them, with the time between them as it was.

    Returns
    -------
    WhatIf
        An estimate with a band, in seconds, bounds, and what limits it; or the reason why there is no answer.
        It prints as text.

    Raises
    ------
    OptionError
        If `workers` or a speed is not positive.
    UnknownNameError
        If there is no such prefix or compute.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> case = run.recording.what_if(speed={"sum": 2.0})
    >>> case.makespan_s <= case.recorded_s
    True

    Notes
    -----
    The recorded graph is run again in Dask's order: with its own schedulers the task runs first
    that became ready last; on a cluster tasks keep their workers where the number is the same.
    Waits that were not for a worker stay. The band is from durations drawn again within prefixes
    (up to 200 times; seeded), and wider by the error of a replay of the recording itself. Tasks
    that burn CPU get no faster by workers beyond the cores, nor, where they were seen to take
    turns, beyond the interpreter's lock; where that is not known the upper end allows for it.
    At least as many workers as there were take at most as long as was recorded.
    Memory and disks are taken to be no limit.
    """
    factors = _factors(recording, workers, speed or {}, without)
    recorded_s, reason = makespan_of(recording, run), why_not(recording, run)
    if reason is not None:
        return WhatIf(workers, recorded_s, reason=reason)
    schedules = schedules_of(recording, run)
    cases = [_Case(each, workers, factors[each.prefix]) for each in schedules]
    between_s = recorded_s - sum(each.recorded_s for each in schedules)
    takes = [case.seconds() for case in cases]
    makespan_s = between_s + sum(map(_Case.guess_s, cases, takes))
    n_tasks = sum(map(len, schedules))
    n_steps = n_tasks + _STEPS_OF_START * len(schedules)
    n_replays = min(max(_MAX_STEPS // max(n_steps, 1), _MIN_REPLAYS), _MAX_REPLAYS)
    low_s, high_s = (between_s + end_s for end_s in _band_s(cases, takes, n_replays))
    doubts = [doubt for case in cases for doubt in [case.doubt()] if doubt]
    if doubts and high_s >= _NO_ANSWER * low_s:
        ends = f"it would take {format_duration(low_s)} or {format_duration(high_s)}"
        return WhatIf(workers, recorded_s, reason=f"{doubts[0]}: {ends}")
    chain_s = sum(longest_chain_s(case.schedule, s) for case, s in zip(cases, takes, strict=True))
    work_s = sum(float(s.sum()) / case.n_workers for case, s in zip(cases, takes, strict=True))
    has_lock = any(case.load.has_held_lock for case in cases)
    cpu_s = sum(case.cpu_bound_s() for case in cases)
    bounds: dict[Limit, float] = {
        "workers": work_s,
        "chain": chain_s,
        # Tasks that share cores or a lock take longer, so that the workers seem to be too few as well.
        "interpreter-lock" if has_lock else "cores": cpu_s * 1.01,
        "lock": sum(case.load.lock_s for case in cases) * 1.01,
        "outside": between_s + sum(each.outside_s for each in schedules),
    }
    limited_by = max(bounds, key=lambda name: bounds[name]) if n_tasks else "outside"
    notes = tuple(dict.fromkeys(note for case in cases for note in case.notes()))
    return WhatIf(workers, recorded_s, makespan_s, low_s, high_s, chain_s, work_s, limited_by, None, notes)


def _band_s(
    cases: Sequence[_Case], takes: Sequence[NDArray[np.float64]], n_replays: int
) -> tuple[float, float]:
    """Return between which values computes take together, four times in five."""
    guess_s = sum(map(_Case.guess_s, cases, takes))
    random = np.random.default_rng(0)
    drawn_s = [
        sum(
            case.makespan_s(seconds, _drawn(case.schedule.prefix, random))
            for case, seconds in zip(cases, takes, strict=True)
        )
        for _ in range(n_replays)
    ]
    low_s, high_s = (float(q) for q in np.quantile(drawn_s, (0.1, 0.9)))
    # The error of a replay of the recorded computes is the least error of this one.
    recorded_s = sum(case.schedule.recorded_s for case in cases)
    error = abs(sum(replayed_s(case.schedule) for case in cases) - recorded_s) / max(recorded_s, 1e-9)
    error = min(error + (_RERUN if any(case.is_other for case in cases) else 0.0), 1.0)
    high_s = max(high_s, guess_s) * (1 + error)
    high_s = max(high_s, guess_s + sum(c.doubt_s(guess_s) for c in cases))
    if any(case.is_other for case in cases) and all(case.has_enough for case in cases):
        high_s = min(high_s, recorded_s)
    return min(low_s, guess_s) * (1 - error), high_s


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
    """Computes that overlap under other conditions; `workers` is None for as many as there were."""

    schedule: Schedule
    workers: int | None
    factor: NDArray[np.float64]

    @property
    def load(self) -> Load:
        return self.schedule.load

    @property
    def is_other(self) -> bool:
        """Whether there are more or fewer workers than there were."""
        return self.workers not in {None, self.schedule.n_threads}

    @property
    def n_workers(self) -> int:
        return self.workers or self.schedule.n_threads

    @property
    def has_enough(self) -> bool:
        """Whether there are at least as many workers as there were, and no task takes longer."""
        return self.n_workers >= self.schedule.n_threads and not (self.factor > 1).any()

    @property
    def lag_s(self) -> NDArray[np.float64]:
        # A task that takes no time needs no dispatch either.
        return np.where(self.factor == 0, 0.0, self.schedule.lag_s)

    def _replayed_s(self, seconds: NDArray[np.float64], lag_s: NDArray[np.float64]) -> float:
        return replayed_s(self.schedule, seconds, lag_s, self.workers if self.is_other else None)

    def _cpu_sum_s(self) -> float:
        return float(np.nansum(self.schedule.cpu_s * self.factor)) if self.load.cpu_share else 0.0

    def cpu_bound_s(self) -> float:
        """Return how long the CPU time of the tasks takes at least on the cores that they can use."""
        return self._cpu_sum_s() / max(self.load.capacity(is_quiet=False), 1e-3)

    def seconds(self) -> NDArray[np.float64]:
        """Return how long each task would take."""
        load, schedule = self.load, self.schedule
        if not self.is_other:
            return schedule.seconds * self.factor
        capacity = load.capacity(is_quiet=False)
        cpu_s = np.nan_to_num(schedule.cpu_s) * self.factor
        alone = schedule.takes_s * self.factor
        if load.has_held_lock or load.ready is None:
            # Tasks that were in each other's way take less alone, and no less than their own CPU time.
            slowed = max(load.concurrency / capacity, 1.0) if self._is_contended(capacity) else 1.0
            alone = np.maximum(schedule.seconds * self.factor / slowed, np.minimum(cpu_s, alone))
        if load.is_crowded:
            alone = alone + np.minimum(cpu_s, alone) * (1 / max(load.got, 1e-3) - 1)
        alone = alone * (1 - schedule.at_lock)
        cpu_sum_s, alone_s = self._cpu_sum_s(), max(float(alone.sum()), 1e-9)
        if not cpu_sum_s or not math.isfinite(capacity):
            return alone
        concurrency = alone_s / max(self._replayed_s(alone, self.lag_s) - schedule.outside_s, 1e-9)
        return alone * max(concurrency * cpu_sum_s / alone_s / capacity, 1.0)

    def _is_contended(self, capacity: float) -> bool:
        return self.load.is_lock_bound or (self.load.cpu_rate or 0.0) >= _CONTENDED * capacity

    def makespan_s(self, seconds: NDArray[np.float64], drawn: NDArray[np.int64] | None = None) -> float:
        """Return the makespan with these durations, or with the durations of drawn tasks."""
        bound_s, lag_s = 0.0, self.lag_s
        if self.is_other:
            bound_s = max(self.cpu_bound_s(), self.load.lock_s) + self.schedule.outside_s
        if drawn is not None:
            is_first = self.schedule.bound_by == BY_NOTHING
            seconds, lag_s = seconds[drawn], np.where(is_first | is_first[drawn], lag_s, lag_s[drawn])
        return max(self._replayed_s(seconds, lag_s), bound_s)

    def guess_s(self, seconds: NDArray[np.float64]) -> float:
        """Return the makespan; workers that are not needed stay idle, so it is at most as recorded."""
        makespan_s = self.makespan_s(seconds)
        return min(makespan_s, self.schedule.recorded_s) if self.has_enough else makespan_s

    def doubt(self) -> str | None:
        """Return the unknown that decides how long tasks take on more workers."""
        load, cores = self.load, self.load.n_cores or 1
        if not self.is_other or self.n_workers <= load.concurrency or self._is_contended(cores):
            return None
        share = load.cpu_share or 0.0
        if load.lock_share is None and load.shares_interpreter and share >= _CPU_HEAVY:
            return _LOCK_UNKNOWN
        is_seen = any(of for of in load.waiting.values())
        if _PARTLY[0] <= share <= _PARTLY[1] and load.ready is None and not is_seen:
            return "whether tasks waited for a core or for something else is not known"
        return None

    def doubt_s(self, guess_s: float) -> float:
        """Return how much longer it takes at most because of that."""
        return max(self.schedule.recorded_s - guess_s, 0.0) if self.doubt() else 0.0

    def notes(self) -> Iterator[str]:
        """Yield the assumptions of an estimate for more or fewer workers."""
        load = self.load
        if not self.is_other:
            return
        if load.cpu_share is None:
            yield "CPU time of tasks is not known: it holds if further workers have cores of their own"
        elif load.has_held_lock:
            yield "tasks took turns in running Python: more threads do not make them faster"
        elif load.cpu_share >= _CPU_HEAVY and load.n_cores is None:
            yield "how many cores there are is not known: it holds if there are enough"
        elif load.cpu_share >= _CPU_HEAVY and self.n_workers > (load.n_cores or 0):
            yield f"tasks burn CPU, and there are {load.n_cores} {plural('core', load.n_cores)}"
        if self.schedule.at_lock.any():
            yield "tasks took turns at a lock: more workers do not make them faster"
        if doubt := self.doubt():
            yield f"{doubt}: the upper end is the worse case"


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
        # Workers beyond the tasks have nothing to do.
        pool, threads = np.zeros(len(schedule), np.int64), (min(n_workers, len(schedule)),)
    lag_s = schedule.lag_s if lag_s is None else lag_s
    # A thread that began late did so at a time, and not so long after an earlier task of the replay.
    is_first = schedule.bound_by == BY_NOTHING
    starts_s = np.where(is_first, lag_s, 0.0)
    for at_s, tasks in schedule.arrivals:
        starts_s[tasks] += at_s * (starts_s[tasks] > 0)
    opens = np.flatnonzero(schedule.before == NONE)
    begin_s = [np.sort(starts_s[opens[pool[opens] == place]]) for place in range(len(threads))]
    return schedule.outside_s + run_again_s(
        schedule.seconds if seconds is None else seconds,
        np.where(is_first, 0.0, lag_s),
        schedule.dependents,
        schedule.n_needed,
        pool=pool,
        threads=threads,
        # With Dask's own schedulers the task that became ready last runs first.
        is_stack=not schedule.is_on_cluster,
        arrivals=schedule.arrivals,
        begin_s=[of.tolist() for of in begin_s],
    )


_LEAST_WINDOW = 3_000
_TASKS_OF_EACH_THREAD = 32
_MOST_REPLAYED = 30_000


def priced_s(
    schedule: Schedule,
    seconds: NDArray[np.float64] | None = None,
    lag_s: NDArray[np.float64] | None = None,
    n_workers: int | None = None,
) -> float:
    """Return what `replayed_s` does; in a large schedule by replays of some of the time.

    What changes is then replayed in windows of some thousand tasks: in all that have a change, or, where
    these are many, in some of them, evenly chosen. What the others save is taken to be like theirs.
    """
    n = len(schedule)
    if not is_large(schedule.recording):
        return replayed_s(schedule, seconds, lag_s, n_workers)
    width = max(_LEAST_WINDOW, _TASKS_OF_EACH_THREAD * (n_workers or schedule.n_threads))
    is_changed = np.full(n, n_workers is not None)
    for new, old in ((seconds, schedule.seconds), (lag_s, schedule.lag_s)):
        if new is not None:
            is_changed |= new != old
    changed = distinct(np.flatnonzero(is_changed) // width)
    chosen = changed[:: max(len(changed) * width // _MOST_REPLAYED, 1)]
    saved_s = 0.0
    for first in (chosen * width).tolist():
        own = slice(first, min(first + width, n))
        window = schedule.window(own.start, own.stop)
        own_lag_s = (
            None if lag_s is None else np.where(window.bound_by == BY_NOTHING, window.lag_s, lag_s[own])
        )
        own_s = None if seconds is None else seconds[own]
        saved_s += replayed_s(window) - replayed_s(window, own_s, own_lag_s, n_workers)
    return schedule.recorded_s - saved_s * len(changed) / max(len(chosen), 1)


def quiet_s(schedule: Schedule) -> float:
    """Return how long computes take if a core is free whenever one of their tasks can use one."""
    load = schedule.load
    cpu_s = float(np.nansum(schedule.cpu_s)) / load.capacity(is_quiet=True)
    again_s = priced_s(schedule, schedule.takes_s, schedule.lag_s / load.stretch)
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
    begin_s: Sequence[list[float]] = (),
) -> float:
    """Return when the last task of a graph ends; tasks of a pool run in its threads.

    `begin_s` is from when on the threads of each pool run tasks, ascending; further ones from the last of it.
    """
    ready: list[list[int]] = [[] for _ in threads]
    takes, lag, place_of, left = seconds.tolist(), lag_s.tolist(), pool.tolist(), n_needed.tolist()
    free = list(threads)
    # A negative number is an arrival, of tasks or, after those, of a thread in a pool.
    running: list[tuple[float, int]] = [(at_s, -1 - i) for i, (at_s, _) in enumerate(arrivals)]
    for place, times in enumerate(begin_s):
        late = [at_s for at_s in [*times, *times[-1:] * threads[place]][: threads[place]] if at_s > 0]
        free[place] -= len(late)
        running += [(at_s, -1 - len(arrivals) - place) for at_s in late]
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
    woken: Sequence[int]
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
        if ended < -len(arrivals):
            place = -1 - len(arrivals) - ended
            free[place] += 1
            touched, woken = (place,), ()
        elif ended < 0:
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
    until = (schedule.seconds if seconds is None else seconds).tolist()
    needed, first = schedule.needed.tolist(), 0
    for task, n in enumerate(schedule.n_needed.tolist()):
        if n:
            until[task] += max(map(until.__getitem__, needed[first : first + n]))
            first += n
    return max(until, default=0.0)


def why_not(recording: RecordedData, run: int | None) -> str | None:
    """Return why computes cannot be replayed; None if they can."""
    if run is None and (n_added := count_runs(one for one in recording.runs if one.n_runs > 1)):
        return f"the first {n_added:,} computes are added up: name one of the others by its number"
    return _why_not_replayed(recording, run)


def _why_not_replayed(recording: RecordedData, run: int | None) -> str | None:
    if not own_runs(recording, run):
        return f"no Dask computation was recorded{place_of(recording)}"
    schedules = schedules_of(recording, run)
    for schedule in schedules:
        numbers = ", ".join(str(one.run) for one in schedule.runs)
        if not schedule.is_finished:
            return "a compute did not finish: what was still to do is not known"
        if schedule.n_missing:
            have = "has" if schedule.n_missing == 1 else "have"
            missing = f"{counted(schedule.n_missing, 'task')} of compute {numbers} {have} no row"
            return missing + place_of(recording)
        if not schedule.is_graph_known and any(one.n_tasks for one in schedule.runs):
            return f"dependencies of compute {numbers} are not known{place_of(recording)}"
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
