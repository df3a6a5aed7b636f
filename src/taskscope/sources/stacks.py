"""Sample the call stacks of threads that run tasks, on a thread of taskscope.

A stack is cut where the task was called: it has neither taskscope's frames nor those with which Dask calls a
function. This module is imported in processes that run tasks for this one, so it imports little.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain, repeat, starmap, takewhile
from operator import attrgetter, truth
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeVar

try:
    import resource
except ImportError:
    resource = None  # type: ignore[assignment]  # Windows

from taskscope.model.guard import Guard
from taskscope.sources.line_meter import LineMeter
from taskscope.sources.local.adapter.scheduler import is_plumbing

_T = TypeVar("_T")

_COLLECTS_ANYWHERE = sys.version_info < (3, 12)
"""Whether creating any object may collect garbage first, and so let other threads run."""
_PLACE = attrgetter("f_code", "f_lasti")
_MAX_SHARE = 0.02
_GOLDEN = 0.6180339887498949
_MOST_SWITCHES = 2
_MAX_BEFORE_S = 1.0
_SOONER_S = 0.0005
_OF_THREAD = 6
_THREAD: int | None = getattr(resource, "RUSAGE_THREAD", None)
"""Usage of the calling thread; only Linux has it."""
_METER = LineMeter.begin.__code__.co_filename
_OWN = f"{Path(__file__).parents[1]}{os.sep}"


def has_interpreter_lock() -> bool:
    """Return whether one thread at a time runs Python code; else frames may be freed while they are read."""
    # Before 3.13 there is always a lock.
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def current_frames() -> dict[int, FrameType]:
    """Return the frames of the other threads; before 3.11.5 a collection of garbage in it is a deadlock.

    The frame of this thread would keep the dictionary, and with it the values of all threads, until garbage
    is collected; on Python 3.11 such a collection ends in signal 11.
    """
    (frames,) = _at_once(starmap(sys._current_frames, [()]))
    frames.pop(threading.get_ident(), None)
    return frames


def calls_from(frame: FrameType | None) -> list[tuple[CodeType, int]]:
    """Return code and instruction offset of a frame of any thread and of its callers, innermost first.

    No other thread runs during the walk. If one did, the caller of a frame could be freed while its object
    is made, and the process would crash, as it does under other samplers on Python 3.11.
    """
    if frame is None:
        return []
    outward: Iterable[Any] = accumulate(repeat("f_back"), getattr, initial=frame)
    return _at_once(map(_PLACE, takewhile(truth, outward)))


def _at_once(items: Iterable[_T]) -> list[_T]:
    """Return the items of an iterator that is all C, as one call in which no garbage is collected."""
    if not (_COLLECTS_ANYWHERE and gc.isenabled()):
        return list(items)
    try:
        return list(chain(iter(gc.disable, None), items, iter(gc.enable, None)))
    finally:
        gc.enable()


def task_stack(frame: FrameType | None, task: CodeType) -> list[tuple[CodeType, int]] | None:
    """Return the calls that a task has made, innermost first; None where the thread runs no code of a task.

    `task` is taskscope's code object that calls the task. Each call is its code and the offset of the
    instruction that it is at. An empty list means that Dask called something that is no Python function.
    """
    calls = calls_from(frame)
    n_inside = next((n for n, (code, _) in enumerate(calls) if code is task), None)
    if n_inside is None:
        return None
    stack = calls[:n_inside]
    # The line meter's frames count for the measured line.
    while stack and stack[0][0].co_filename == _METER:
        del stack[0]
    # Work of taskscope for the task, such as measuring its result, is not the task's.
    if not stack or stack[-1][0].co_filename.startswith(_OWN):
        return None
    while stack and is_plumbing(stack[-1][0]):
        stack.pop()
    return stack


def thread_cpu_s(thread: int) -> float | None:
    """Return the CPU time of another thread of this process; None where that cannot be known."""
    known = threading._active.get(thread)  # type: ignore[attr-defined]  # `threading.enumerate` makes a list
    native = None if known is None else known.native_id
    if native is None or not sys.platform.startswith("linux"):
        return None
    try:
        # The kernel's name of a thread's clock. `time.pthread_getcpuclockid` crashes where it has ended.
        return time.clock_gettime((~native << 3) | _OF_THREAD)
    except OSError:
        return None


def cpu_share(before: tuple[float, float] | None, now: tuple[float, float] | None) -> float | None:
    """Return the share of CPU time in the time between two samples, each a time and a CPU time."""
    # A new thread may have the number of one that has ended: its CPU time is less.
    if before is None or now is None or now[0] <= before[0] or now[1] < before[1]:
        return None
    return min((now[1] - before[1]) / (now[0] - before[0]), 1.0)


def stands_for_s(elapsed_s: float, late_s: float | None, lasts_s: float, *, is_new: bool) -> float:
    """Return the seconds that a sample counts for, by its distance to the one before and its delay."""
    if late_s is None:
        return max(elapsed_s, min(lasts_s, _MAX_BEFORE_S))
    if not is_new:
        return elapsed_s
    # The stack of a task cannot be read before it releases the lock. On a busy machine a sampler is late
    # anyway.
    return elapsed_s + max(min(late_s, lasts_s, _MOST_SWITCHES * sys.getswitchinterval()), 0.0)


class Pauses:
    """The pauses of a sampler: never in step with tasks, and 98% of the time.

    The cost is the smaller one of the last two samples: else one garbage collection would end sampling for
    seconds.
    """

    def __init__(self) -> None:
        self._n = 0
        self._last_cost_s = 0.0

    def after(self, interval_s: float, cost_s: float) -> float:
        """Return the seconds to wait after a sample with this cost in CPU time."""
        self._n += 1
        least_cost_s, self._last_cost_s = min(cost_s, self._last_cost_s), cost_s
        return max(interval_s * (0.5 + self._n * _GOLDEN % 1), least_cost_s / _MAX_SHARE)


class LockProbe:
    """Whether another thread had the interpreter's lock when this thread woke up from a wait of some time.

    A thread that waits sleeps once, and again where it then waits for the lock. Linux counts how often a
    thread slept, so neither a late timer nor a machine without a free core is taken for the lock.
    """

    def __init__(self) -> None:
        self._n_sleeps = _n_sleeps()

    def begin(self) -> None:
        """Note that the thread is about to wait."""
        self._n_sleeps = _n_sleeps()

    def was_held(self) -> bool | None:
        """Return the answer right after the wait; None where the system does not count."""
        n = _n_sleeps() - self._n_sleeps
        return n > 1 if n else None


def _n_sleeps() -> int:
    return resource.getrusage(_THREAD).ru_nvcsw if _THREAD is not None else 0


class SoonerSwitching:
    """Sets Python's switch interval to 0.5 ms instead of 5.

    A thread that runs Python code releases the lock that long after another requests it, so a sampler reads
    stacks with that delay.
    """

    def __init__(self) -> None:
        self._before_s: float | None = None
        self._set_s = 0.0

    def want(self, is_wanted: bool) -> None:  # noqa: FBT001 - a switch with one argument
        """Set the short interval, or the one before; a value that another tool has set since stays."""
        if is_wanted == (self._before_s is not None):
            return
        now_s = sys.getswitchinterval()
        if self._before_s is None:
            if now_s > _SOONER_S:
                sys.setswitchinterval(_SOONER_S)
                self._before_s, self._set_s = now_s, sys.getswitchinterval()
            return
        before_s, self._before_s = self._before_s, None
        if now_s == self._set_s:
            sys.setswitchinterval(before_s)


@dataclass(frozen=True, slots=True)
class Wake:
    """One time that a sampling thread woke up."""

    now: float
    elapsed_s: float
    """Since it woke up before."""
    late_s: float | None
    """How much later than due; None for the first time, as the thread may have started late."""
    is_lock_held: bool | None
    """Whether another thread held the interpreter's lock; None where it is unknown."""


class SamplingThread:
    """Calls `look` until there has been no task for a while; `begin` starts it again.

    `look` returns the seconds until the next call, longer ones where it took more than 2% of them. `first` is
    called before it, and has a pace of its own.
    """

    def __init__(
        self,
        name: str,
        look: Callable[[Wake], float],
        is_wanted: Callable[[], bool],
        fault: Callable[[BaseException], None],
        linger_s: float,
        first: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._first = first
        self._look = look
        self._is_wanted = is_wanted
        self._fault = fault
        self._linger_s = linger_s
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, first_s: float) -> None:
        """Start the thread unless it runs; its first sample is after this many seconds."""
        with self._lock:
            if self._thread is None:
                self._stop.set()
                stop = self._stop = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(stop, first_s), name=self._name, daemon=True
                )
                self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it."""
        with self._lock:
            self._stop.set()
            thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self, stop: threading.Event, first_s: float) -> None:
        try:
            with Guard("sampling", lambda _where, error: self._fault(error)):
                self._look_until(stop, first_s, LockProbe())
        finally:
            with self._lock:
                if self._stop is stop:
                    self._thread = None

    def _look_until(self, stop: threading.Event, pause_s: float, probe: LockProbe) -> None:
        pauses, is_first = Pauses(), True
        before = active = time.perf_counter()
        while True:
            due = time.perf_counter() + pause_s
            probe.begin()
            if stop.wait(pause_s):
                return
            is_held, now = probe.was_held(), time.perf_counter()
            self._first()
            busy = time.thread_time()
            interval_s = self._look(Wake(now, now - before, None if is_first else now - due, is_held))
            if self._is_wanted():
                active = now
            elif now - active > self._linger_s and self._leave(stop):
                return
            before, is_first = now, False
            pause_s = pauses.after(interval_s, time.thread_time() - busy)

    def _leave(self, stop: threading.Event) -> bool:
        with self._lock:
            # Computes that began since then rely on this thread.
            if self._is_wanted():
                return False
            if self._stop is stop:
                self._thread = None
            return True


class Sample(NamedTuple):
    """One sample of a thread's call stack."""

    thread: int
    stack: list[tuple[CodeType, int]]
    """Code and instruction offset, innermost first."""
    seconds: float
    """The seconds that it counts for."""
    cpu_s: float | None
    """CPU time of the thread in that time."""


class TaskStacks:
    """The stacks of threads that run tasks.

    Every sample counts for the time since the one before: with many threads that need the interpreter, a
    sampler gets its lock late, and the stack has lasted longer. A task that holds the lock releases it after
    5 ms (`sys.getswitchinterval`) or when it ends, so the first milliseconds of such a task are never seen;
    the first sample in a task stands for them, too. Where one task runs at a time, threads therefore switch
    after 0.5 ms while they are sampled; where several compute in Python, they switch anyway, and doing it
    more often would cost them some percent.
    """

    def __init__(self, task: CodeType) -> None:
        self._task = task
        self._seen: dict[int, object] = {}
        self._spent: dict[int, tuple[float, float]] = {}
        """The last sample of each thread: its time, and the thread's CPU time."""
        self.switching = SoonerSwitching()

    def look(
        self,
        wake: Wake,
        tasks: Mapping[int, tuple[object, float]],
        is_running: Callable[[int, object], bool],
    ) -> Iterator[Sample]:
        """Yield a sample of each thread in `tasks`, which has its task and when that began."""
        seen, self._seen = self._seen, {thread: task for thread, (task, _) in tasks.items()}
        if not tasks:
            return
        frames = current_frames()
        spent, self._spent = self._spent, {}
        for thread, (task, began) in tasks.items():
            cpu_s = thread_cpu_s(thread)
            if cpu_s is not None:
                self._spent[thread] = wake.now, cpu_s
            # The next task may have begun since.
            stack = task_stack(frames.pop(thread, None), self._task) if is_running(thread, task) else None
            if stack is None:
                continue
            is_new = seen.get(thread) != task
            seconds = stands_for_s(wake.elapsed_s, wake.late_s, wake.now - began, is_new=is_new)
            # The time since the last sample counts for the task of this one.
            share = cpu_share(spent.get(thread), self._spent.get(thread))
            yield Sample(thread, stack, seconds, None if share is None else share * seconds)
