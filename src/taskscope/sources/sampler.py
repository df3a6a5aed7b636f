"""The one thread that samples this process: CPU and memory, stacks of threads, and the interpreter's lock."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import NamedTuple, TypeVar

from taskscope.model.keys import split_key
from taskscope.model.tables.records import IN_THREADS
from taskscope.model.tables.stacks import NOT_SAMPLED_WITHOUT_LOCK
from taskscope.options import DEFAULT_DT, checked_dt
from taskscope.record import LaneBuffer, Recorder
from taskscope.sources.cell import is_runner
from taskscope.sources.local.calls import task_stack
from taskscope.sources.local.timing import TimedTask
from taskscope.sources.resources import ProcessReading, high_water_bytes, read_processes
from taskscope.sources.stacks import (
    Running,
    SamplingThread,
    TaskStacks,
    Wake,
    calls_from,
    current_frames,
    has_interpreter_lock,
)

_LINGER_S = 1.0
_CYCLE_S = 1.0
"""For how long samples of stacks are counted together."""
_BETWEEN_S = 0.1
"""Most seconds between two looks while no compute runs."""
_LOCK_S = 0.02
"""Seconds between two probes of the interpreter's lock where no stacks are sampled."""
_GAP = 5.0
_SHORTEST_S = 0.02
"""A rate over less is uncertain: between reading the clock and the counters another thread may run for 5 ms
(`sys.getswitchinterval`)."""
_IN_THREADS = IN_THREADS | {None}


class Sampler:
    """Samples while computes run and while blocks are open.

    The thread that computes, or that runs the block, takes the first and the last sample of CPU and memory
    itself. `open_lanes` returns the runs' numbers with the lanes that belong to them. The thread begins with
    the pump's next tick, which `wake` brings about: what is over before costs no thread.

    CPU percent is the mean since the previous sample, 100 per core; the first sample has none. CPU counters
    are cumulative, so the mean is right however late a sample is: a C call that holds the interpreter's lock
    for seconds leaves a gap, which is marked. The most memory between two samples is known where the process
    never had more before: the kernel's mark is read, and not reset, as other tools read it, too.
    """

    def __init__(
        self,
        recorder: Recorder,
        open_lanes: Callable[[], Iterable[tuple[int, LaneBuffer]]],
        wake: Callable[[], None],
        *,
        own_natives: Callable[[], Collection[int]] = tuple,
        is_safe: Callable[[], bool] = has_interpreter_lock,
    ) -> None:
        self.dt = checked_dt(DEFAULT_DT)
        self.interval_s: float | None = None
        """Seconds between samples of stacks; None: there are none."""
        self.is_at_once = False
        """Whether stacks of a compute are sampled from its beginning, not only once it has lasted 0.1 s."""
        self.probes_lock = True
        """Whether the interpreter's lock is probed while computes run."""
        self._recorder = recorder
        self._open_lanes = open_lanes
        self._wake = wake
        self._is_safe = is_safe
        self._lock = threading.RLock()
        self._computes: set[object] = set()
        self._blocks: dict[int, int | None] = {}
        """The threads of open blocks, by the identity of the block; None: it is not sampled."""
        self._resources = _Resources(recorder, own_natives)
        self._due_s = 0.0
        """When the next sample of CPU and memory is due."""
        self._cycle_s = -math.inf
        """When stacks were last counted together."""
        self._stacks = TaskStacks(
            lambda: _running_tasks(self._open_lanes()),
            lambda frame: task_stack(frame, TimedTask.__call__.__code__),
        )
        self._worker = str(os.getpid())
        self._thread = SamplingThread(
            "taskscope-sampler",
            self._look,
            self._is_wanted,
            lambda error: recorder.fault("the sampler", error),
            _LINGER_S,
            first=self._sample_due,
        )

    def compute_started(self, compute: object) -> None:
        """Take the first sample of a compute."""
        with self._lock:
            self._start()
            self._computes.add(compute)
            self._stacks.switch(is_on=True)
            if self.interval_s is not None:
                self._note_stacks()
                if self.is_at_once:
                    self._thread.begin(self.interval_s)

    def compute_stopped(self, compute: object, *, is_here: bool = True) -> None:
        """Take the last sample of a compute, which need not have started; elsewhere only if one is due."""
        with self._lock:
            self._computes.discard(compute)
            if not self._computes:
                # Before the user's next statement.
                self._stacks.switch(is_on=False)
            if is_here or self._recorder.now_s() >= self._due_s:
                self._sample()

    def block_started(self, block: object, *, with_client: bool = False) -> None:
        """Sample until `block_stopped`, also between computes; with this thread's stack if `with_client`."""
        with self._lock:
            if with_client and not any(self._blocks.values()):
                self._recorder.stacks.begin_client(self._recorder.next_run)
            self._start()
            self._blocks[id(block)] = threading.get_ident() if with_client else None
            if self.interval_s is not None:
                self._note_stacks()
        self._wake()

    def block_stopped(self, block: object) -> None:
        """Take the last sample of a block, which need not have started."""
        with self._lock:
            if id(block) in self._blocks:
                self._sample()
                self._blocks.pop(id(block), None)

    def sample(self) -> None:
        """Take a sample of CPU and memory now."""
        with self._lock:
            self._sample()

    def tick(self) -> None:
        """Start the thread for a compute or a block that has lasted a tick of the pump."""
        with self._lock:
            if self._is_wanted():
                self._thread.begin(self.interval_s or self._pause_s())

    def stop(self) -> None:
        """End the thread and wait for it."""
        with self._lock:
            # A tick that is under way must not begin again.
            self._computes.clear()
            self._blocks.clear()
        self._thread.stop()
        self._stacks.switch(is_on=False)
        self._recorder.stacks.end_cycle()

    def _is_wanted(self) -> bool:
        return bool(self._computes or self._blocks)

    def _start(self) -> None:
        if not self._is_wanted():
            self._resources.begin()
            self._sample()

    def _note_stacks(self) -> None:
        if self._is_safe():
            self._recorder.stacks.note(self.interval_s or _LOCK_S, _CYCLE_S)
        else:
            self._recorder.warn(NOT_SAMPLED_WITHOUT_LOCK)

    def _sample(self, *, with_ready: bool = False) -> None:
        self._due_s = self._recorder.now_s() + self.dt
        lanes = [lane for _, lane in self._open_lanes()]
        of_tasks = {lane.key.thread for lane in lanes}
        has_pool = any(log.scheduler not in _IN_THREADS for log in self._recorder.going())
        self._resources.sample(self.dt, of_tasks, has_pool=has_pool, with_ready=with_ready)

    def _sample_due(self) -> None:
        """Take a sample of CPU and memory if one is due; with many threads it takes milliseconds."""
        with self._lock:
            if self._is_wanted() and self._recorder.now_s() >= self._due_s:
                self._sample(with_ready=True)

    def _look(self, wake: Wake) -> float:
        """Sample stacks and probe the interpreter's lock; return the seconds until the next sample."""
        interval_s = self.interval_s
        if self._is_safe():
            if wake.is_lock_held is not None and self._computes and self.probes_lock:
                self._recorder.note_lock(wake.now - wake.elapsed_s, is_held=wake.is_lock_held)
            if interval_s is not None:
                self._look_at_stacks(wake)
                return wake.paced_s(interval_s)
        return self._pause_s()

    def _pause_s(self) -> float:
        return _LOCK_S if self._computes and self.probes_lock else min(self.dt, _BETWEEN_S)

    def _look_at_stacks(self, wake: Wake) -> None:
        log = self._recorder.stacks
        samples = self._stacks.look(wake)
        for sample in samples:
            prefix = split_key(sample.task.key)[1]
            log.add(sample.task.run, prefix, self._worker, sample.stack, sample.seconds, sample.cpu_s)
        if not self._computes and not samples:
            self._look_at_clients(wake)
        if wake.now - self._cycle_s >= _CYCLE_S:
            log.end_cycle()
            self._cycle_s = wake.now

    def _look_at_clients(self, wake: Wake) -> None:
        threads = {thread for thread in list(self._blocks.values()) if thread is not None}
        if not threads:
            return
        frames = current_frames()
        run = self._recorder.next_run
        for thread in threads:
            stack = _of_user(calls_from(frames.pop(thread, None)))
            if stack and not is_runner(stack[0][0].co_filename):
                self._recorder.stacks.add_client(run, self._worker, stack, wake.elapsed_s)


class _OpenTask(NamedTuple):
    """A task that a thread of this process runs."""

    run: int
    key: object


def _running_tasks(lanes: Iterable[tuple[int, LaneBuffer]]) -> dict[int, Running]:
    tasks: dict[int, Running] = {}
    for run, lane in lanes:
        task, thread = lane.running(), lane.key.thread
        # Of computes that are nested in one thread, the innermost began last.
        if task is not None and (thread not in tasks or tasks[thread].began < task[1]):
            tasks[thread] = Running(task[1], _OpenTask(run, task[0]))
    return tasks


def _of_user(stack: list[tuple[CodeType, int]]) -> list[tuple[CodeType, int]]:
    """Return a client's calls without the outer frames of the kernel and of taskscope."""
    while stack and is_runner(stack[-1][0].co_filename):
        stack.pop()
    return stack


class _Resources:
    """Samples of CPU and memory, made of readings of counters."""

    def __init__(self, recorder: Recorder, own_natives: Callable[[], Collection[int]]) -> None:
        self._recorder = recorder
        self._own_natives = own_natives
        self.begin()

    def begin(self) -> None:
        """Reset: the next sample has neither a rate nor a peak since the one before."""
        self._latest_s: float | None = None
        self._high_water = math.nan, 0
        """The most memory that this process ever had, and that of its children, at the last sample."""
        self._base: _Base | None = None
        self._base_before: _Base | None = None
        self._ready: tuple[float, Mapping[str, float]] | None = None
        self._before = {thread.ident for thread in threading.enumerate()}
        """The threads that were there before: they are not the tasks' own."""

    def sample(self, dt: float, of_tasks: set[int], *, has_pool: bool, with_ready: bool) -> None:
        """Append a sample; `of_tasks` are threads that run tasks, `has_pool` whether children do."""
        with self._recorder.guard("the resource sampler"):
            now_s = self._recorder.now_s()
            reading = read_processes(self._own_natives(), with_ready=with_ready)
            self._add(dt, now_s, reading, self._base_of(now_s, reading, of_tasks, has_pool=has_pool))

    def _base_of(self, now_s: float, reading: ProcessReading, of_tasks: set[int], *, has_pool: bool) -> _Base:
        beside = {
            thread: seconds
            for thread, seconds in reading.threads_s.items()
            if thread in self._before and thread not in of_tasks
        }
        if not has_pool:
            beside.update({-pid: s for pid, s in reading.cpu_s.items() if pid != os.getpid()})
        return _Base(now_s, reading.cpu_s, reading.own_s, beside)

    def _add(self, dt: float, now_s: float, reading: ProcessReading, base: _Base) -> None:
        if self._latest_s is not None and now_s <= self._latest_s:
            return
        gap = self._latest_s is not None and now_s - self._latest_s > _GAP * dt
        self._latest_s = now_s
        percent, beside = self._percents(dt, base)
        ready, peak_bytes = self._ready_threads(now_s, reading.ready_s), self._peak_bytes(reading)
        rss_bytes, n_processes = reading.rss_bytes + reading.children_bytes, len(reading.cpu_s)
        self._recorder.note_sample((now_s, percent, rss_bytes, n_processes, gap, ready, peak_bytes, beside))

    def _peak_bytes(self, reading: ProcessReading) -> float:
        """Return the most memory since the sample before, which only a mark that has grown shows."""
        (before, children_before), now = self._high_water, high_water_bytes()
        self._high_water = now, reading.children_bytes
        # What children had at that moment is not known: no more than is certain.
        return now + min(children_before, reading.children_bytes) if now > before else math.nan

    def _percents(self, dt: float, base: _Base) -> tuple[float, float]:
        """Return the rates since the base, which moves here unless it is too near: no CPU time is lost."""
        before = self._base
        if before is not None and base.now_s - before.now_s < min(_SHORTEST_S, dt / 2):
            before = self._base_before or before
        else:
            self._base, self._base_before = base, before
        if before is None:
            return math.nan, math.nan
        used_s = _growth(base.cpu_s, before.cpu_s) - _growth(base.own_s, before.own_s)
        # A thread that has run tasks was not beside them before; a child that is new was.
        threads_before = {thread: s for thread, s in base.beside_s.items() if thread > 0}
        beside_s = _growth(base.beside_s, {**threads_before, **before.beside_s})
        seconds = base.now_s - before.now_s
        return 100 * max(used_s, 0.0) / seconds, 100 * min(max(beside_s, 0.0), max(used_s, 0.0)) / seconds

    def _ready_threads(self, now_s: float, ready_s: Mapping[str, float]) -> float:
        if not ready_s:
            return math.nan
        before, self._ready = self._ready, (now_s, ready_s)
        if before is None or now_s <= before[0]:
            return math.nan
        return _growth(ready_s, before[1]) / (now_s - before[0])


@dataclass(frozen=True, slots=True)
class _Base:
    """Counters from which rates are taken."""

    now_s: float
    cpu_s: Mapping[int, float]
    own_s: Mapping[int, float]
    beside_s: Mapping[int, float]


_Key = TypeVar("_Key", int, str)


def _growth(now: Mapping[_Key, float], before: Mapping[_Key, float]) -> float:
    """Return how much counters grew in all; new ones began at zero."""
    return sum(value - before.get(of, 0.0) for of, value in now.items())
