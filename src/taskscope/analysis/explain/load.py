"""How busy computes kept workers and cores, and what tasks lacked: the interpreter's lock, or a core."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.waits import Kind, Stacks
from taskscope.analysis.totals import stop_of, union_s

if TYPE_CHECKING:
    from taskscope.analysis.explain.schedule import Schedule

COUNTED_S = 1.0
"""In less time without samples of ready threads, tasks that wait and tasks that lack a core look the same."""

_LEAST_S = 1e-9
_MAX_UNKNOWN = 0.05
_LOCK_SHARE = 0.55
"""Measured with two to four threads on two cores: 0.75 to 1 where tasks are Python, else 0 to 0.45."""
_ONE_CORE = 1.25
"""Threads that take turns at one lock keep no more cores busy."""
_READY = 3.0
"""Threads that wait for the lock are not ready for a core: where many are, they do not wait for it."""
_IN_PYTHON = 1.5
_MOST_CORES = 0.75
_BLOCKED = 0.2
"""A smaller part of the time without a core may be an error of the mean."""


@dataclass(frozen=True, slots=True)
class Load:
    """How busy computes kept workers and cores; None where it is not known.

    `concurrency` is the mean number of tasks at a time; `cpu_rate` and `process_rate` are the cores that the
    tasks' threads and the whole process kept busy; `cpu_share` is the CPU time of tasks over their durations;
    `n_interpreters` is how many processes ran tasks; `ready` is how many threads of the process ran or could
    have run; `got` is the part of the cores they could have used that other programs left them.
    """

    concurrency: float
    cpu_rate: float | None
    cpu_share: float | None
    n_cores: int | None
    n_interpreters: int
    lock_share: float | None
    shares_interpreter: bool
    """Whether several tasks may run in one interpreter."""
    has_held_lock: bool
    """Whether the interpreter's lock was held nearly always."""
    is_lock_bound: bool
    """Whether several threads took turns at it."""
    stacks: Stacks
    ready: float | None = None
    process_rate: float | None = None
    got: float = 1.0
    lock_s: float = 0.0
    """For how long tasks took turns at a lock of the user's."""
    waiting: Mapping[str, Mapping[Kind, float]] = field(default_factory=dict)
    """Which part of the samples of each prefix saw which wait."""

    @property
    def stretch(self) -> float:
        """Return how many times as long as they ran the threads of the process could have run."""
        return max(self.ready / self.process_rate, 1.0) if self.ready and self.process_rate else 1.0

    @property
    def is_crowded(self) -> bool:
        """Whether other programs had cores that threads of the process could have used."""
        return self.got <= _MOST_CORES

    @property
    def beside_share(self) -> float:
        """Return the part of the tasks' time without a core in which further threads of the process ran."""
        if self.process_rate is None or self.cpu_rate is None:
            return 0.0
        beside, without = self.process_rate - self.cpu_rate, self.concurrency - self.cpu_rate
        return min(max(beside, 0.0) / without, 1.0) if without > 0 else 0.0

    def capacity(self, *, is_quiet: bool) -> float:
        """Return how many cores tasks can use at a time, on a machine as busy as it was or on a quiet one."""
        if self.has_held_lock:
            return float(self.n_interpreters) * (1.0 if is_quiet else self.got)
        return (self.n_cores or math.inf) * (1.0 if is_quiet else self.got)

    def takes_s(
        self, seconds: NDArray[np.float64], cpu_s: NDArray[np.float64], prefix: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how long tasks would have taken if a core had always been free for them.

        Tasks are taken to have queued for a core in proportion to their CPU time, as all threads of the
        process did: an estimate for a prefix as a whole. Unknown CPU time is taken to be like the others'.
        """
        is_unknown = np.isnan(cpu_s)
        cpu_s = on_core_s(seconds, cpu_s)
        without_core_s = np.bincount(prefix, seconds - cpu_s)
        queued_s = np.bincount(prefix, np.where(is_unknown, 0.0, cpu_s)) * (self.stretch - 1)
        blocked = 1 - np.minimum(queued_s / np.maximum(without_core_s, _LEAST_S), 1.0)
        blocked[blocked < _BLOCKED] = 0.0
        takes_s: NDArray[np.float64] = seconds - (seconds - cpu_s) * (1 - blocked)[prefix]
        whole_s = np.bincount(prefix, np.where(is_unknown, 0.0, seconds))
        part_s = np.bincount(prefix, np.where(is_unknown, 0.0, takes_s))
        share = np.where(whole_s > 0, part_s / np.maximum(whole_s, _LEAST_S), 1.0)[prefix]
        return np.where(is_unknown, seconds * share, takes_s)


def on_core_s(seconds: NDArray[np.float64], cpu_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for how much of their time tasks had a core: for all of it where that is not known."""
    return np.minimum(np.where(np.isnan(cpu_s), seconds, cpu_s), seconds)


def load_of(schedule: Schedule) -> Load:
    """Return how busy workers and cores were."""
    recording = schedule.recording
    start, stop = schedule.start / 1e9, schedule.stop / 1e9
    busy_s, task_s = union_s(start, stop), float((stop - start).sum())
    concurrency = task_s / busy_s if busy_s else 0.0
    workers = {recording.lanes[lane].worker for lane in np.unique(schedule.lane).tolist()}
    is_here = not schedule.is_on_cluster or all(
        "://127.0.0.1:" in name or name.startswith("inproc://") for name in workers
    )
    n_cores = recording.metadata.get("n_cores") if is_here else None
    ready, process_rate = _ready_of(schedule) if is_here else (None, None)
    cores = int(n_cores) if isinstance(n_cores, int | float) and n_cores >= 1 else None
    is_known = task_s > 0 and np.isnan(schedule.cpu_s).mean() <= _MAX_UNKNOWN
    cpu_s = float(np.nansum(schedule.cpu_s)) if is_known else None
    stacks = _stacks(schedule, max(ready / process_rate, 1.0) if ready and process_rate else 1.0)
    waiting, waiting_share, lock_s = _waiting(schedule, stacks, busy_s, concurrency)
    # A process pool's tasks share no interpreter, inproc workers share that of this process.
    n_interpreters = len({"" if name.startswith("inproc://") else name for name in workers}) or 1
    lock_share = _lock_share(schedule)
    in_python = concurrency * (1 - waiting_share) / n_interpreters
    shares_interpreter = schedule.scheduler in ("threads", None) or schedule.is_on_cluster
    has_lock = shares_interpreter and (cores is None or cores > 1) and (lock_share or 0.0) >= _LOCK_SHARE
    # A thread that has the lock may itself lack a core, where threads that need no lock use all of them.
    has_lock &= cpu_s is None or cpu_s / busy_s <= _ONE_CORE * n_interpreters
    has_lock &= ready is None or ready <= max(_READY, concurrency / 2)
    is_free = ready is None or process_rate is None or not cores
    return Load(
        concurrency=concurrency,
        cpu_rate=None if cpu_s is None else cpu_s / busy_s,
        cpu_share=None if cpu_s is None else cpu_s / task_s,
        n_cores=cores,
        n_interpreters=n_interpreters,
        lock_share=lock_share,
        shares_interpreter=shares_interpreter,
        has_held_lock=has_lock,
        is_lock_bound=has_lock and in_python >= _IN_PYTHON,
        ready=ready,
        process_rate=process_rate,
        got=1.0 if is_free else min((process_rate or 0.0) / max(min(ready or 0.0, cores or 1), 1e-9), 1.0),
        lock_s=lock_s,
        waiting=waiting,
        stacks=stacks,
    )


def _lock_share(schedule: Schedule) -> float | None:
    """Return the mean of what was measured of the computes, each for as long as it took."""
    known = [(run.lock_share, run) for run in schedule.runs if run.lock_share is not None]
    seconds = [max(stop_of(schedule.recording, run) - run.start_s, _LEAST_S) for _, run in known]
    return float(np.average([share for share, _ in known], weights=seconds)) if known else None


def _stacks(schedule: Schedule, stretch: float) -> Stacks:
    """Return samples of the computes, with which part of their time tasks of each prefix had a core."""
    names = schedule.names
    seconds = np.where(np.isnan(schedule.cpu_s), 0.0, schedule.seconds)
    whole_s = np.bincount(schedule.prefix, seconds, len(names))
    cpu_s = np.bincount(schedule.prefix, np.nan_to_num(schedule.cpu_s), len(names))
    shares = {name: float(cpu_s[i] / whole_s[i]) for i, name in enumerate(names) if whole_s[i]}
    return Stacks(schedule.recording, [run.run for run in schedule.runs], cpu_shares=shares, stretch=stretch)


def _waiting(
    schedule: Schedule, stacks: Stacks, busy_s: float, concurrency: float
) -> tuple[dict[str, dict[Kind, float]], float, float]:
    """Return what samples saw tasks wait for by prefix, as a part of all, and the time of turns at a lock."""
    sums = np.bincount(schedule.prefix, schedule.seconds, len(schedule.names)).tolist()
    by_prefix = {name: seconds for name, seconds in zip(schedule.names, sums, strict=True) if seconds}
    waiting = {prefix: stacks.waiting(prefix) for prefix in by_prefix}
    whole_s = max(sum(by_prefix.values()), _LEAST_S)
    waited_s = sum(min(sum(waiting[prefix].values()), 1.0) * own for prefix, own in by_prefix.items())
    at_lock = sum(waiting[prefix].get("lock", 0.0) * own for prefix, own in by_prefix.items()) / whole_s
    # While one task or more waited for it, another one had it.
    return waiting, waited_s / whole_s, busy_s * min(at_lock * concurrency, 1.0)


def _ready_of(schedule: Schedule) -> tuple[float | None, float | None]:
    """Return how many threads were ready while tasks ran, and how many cores they had."""
    if not len(schedule):
        return None, None
    recording = schedule.recording
    first_s, last_s = (float(t) / 1e9 + recording.zero_s for t in (schedule.start[0], schedule.stop.max()))
    samples = recording.resources
    seconds = np.diff(samples.time, prepend=samples.time[:1])
    known = ~np.isnan(samples.ready_threads) & ~np.isnan(samples.cpu_percent) & (seconds > 0)
    known &= (samples.time >= first_s) & (samples.time <= last_s)
    if not known.any():
        return None, None
    ready, percent = (
        float(np.average(values[known], weights=seconds[known]))
        for values in (samples.ready_threads, samples.cpu_percent)
    )
    return ready, percent / 100
