"""Sample the call stacks of threads that run tasks, on a thread of taskscope.

It is used in this process, in processes of a pool, and on workers of a cluster. Workers are sent the source
of this module, as taskscope need not be installed there: it imports the standard library only.

A sample counts for the time since the one before. The sampling thread needs the interpreter's lock, which a
thread that runs Python code releases when its task ends, or a switch interval after the request (5 ms,
`sys.getswitchinterval`). Short tasks would be seen at their ends only, if at all:

- Where one task runs at a time, threads switch after 0.1 ms while they are sampled. Of a task these first
  moments are still not seen; `stands_for_s` makes up for them.
- Where several tasks run at a time, switching so often would cost them some percent. When the sampling thread
  gets the lock, each task that runs Python code waits for the lock, at the end of a time slice. That is where
  it is most of the time, except while it has its turn. So each has one more turn, of a random length, and is
  looked at again. The first look counts for the time in which a task waits for its turn, the second for its
  turn. Where no task is seen, one has just ended, and the second look is repeated.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, chain, repeat, starmap, takewhile
from operator import attrgetter, truth
from random import Random
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias, TypeVar

try:
    import resource
except ImportError:
    resource = None  # type: ignore[assignment]  # Windows

_T = TypeVar("_T")
Stack: TypeAlias = list[tuple[CodeType, int]]
"""Calls, innermost first: the code, and the offset of the instruction that it is at."""

_COLLECTS_ANYWHERE = sys.version_info < (3, 12)
"""Whether creating any object may collect garbage first, and so let other threads run."""
_PLACE = attrgetter("f_code", "f_lasti")
_MAX_SHARE = 0.02
_GOLDEN = 0.6180339887498949
_AT_LOCK = 2.0
"""The factor of the pause after a sample for which another thread had to release the interpreter's lock."""
_MAX_BEFORE_S = 1.0
_SOONER_S = 0.0001
_MAX_HIDDEN_S = 0.0003
"""How much of a task's beginning is not seen, at most, where threads switch after `_SOONER_S`."""
_SLICE_BEGINS_S = 0.00005
"""How long this thread leaves the lock alone, so that another thread takes it."""
_MOST_TURNS = 5
"""How often the second look is repeated where it sees no task."""
_SEVERAL_S = 1.0
"""For how long after several tasks ran at a time they are taken to do so again."""
_MAX_DEPTH = 256
_CYCLE_S = 1.0
"""For how long samples are counted together."""
_OF_THREAD = 6
_THREAD: int | None = getattr(resource, "RUSAGE_THREAD", None)
"""Usage of the calling thread; only Linux has it."""


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


def calls_from(frame: FrameType | None) -> Stack:
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


class Wake(NamedTuple):
    """One time that a sampling thread woke up."""

    now: float
    elapsed_s: float
    """Since it woke up before."""
    late_s: float | None
    """How much later than due; None for the first time, as the thread may have started late."""
    is_lock_held: bool | None
    """Whether another thread held the interpreter's lock; None where it is unknown."""

    def paced_s(self, interval_s: float) -> float:
        """Return the seconds until the next sample: each takes the lock from threads that need it."""
        return interval_s * (_AT_LOCK if self.is_lock_held else 1.0)


def stands_for_s(wake: Wake, began: float) -> float:
    """Return the seconds that a sample of a task counts for, by when the task began.

    A task that ends between the moment a sample is due and the moment it is taken loses that sample. Its
    beginning is not seen: a sample that is due there is taken later. So the first moments of a task that can
    be seen count for its beginning, too, and a sample that was due before the task began only for the delay.
    """
    lasts_s = wake.now - began
    if wake.late_s is None:
        return max(wake.elapsed_s, min(lasts_s, _MAX_BEFORE_S))
    # A busy machine delays samples, too, but hides no part of a task.
    hidden_s = min(wake.late_s, _MAX_HIDDEN_S)
    waited_s = max(wake.elapsed_s - wake.late_s, 0.0)
    if lasts_s < hidden_s:
        return wake.elapsed_s - waited_s
    return wake.elapsed_s + (waited_s if lasts_s < 2 * hidden_s else 0.0)


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


class SwitchInterval:
    """Python's switch interval, shorter while samplers of this process need that.

    They share what each of them needs, also with samplers that were made of this source by other kernels.
    """

    _PLACE = "taskscope_switch_interval"

    def __init__(self) -> None:
        self._wanted_s: float | None = None
        shared = vars(threading).get(self._PLACE)
        if shared is not None and shared["pid"] != os.getpid():
            # A forked child has the interval that its parent's samplers wanted, but no such thread.
            sys.setswitchinterval(shared["before_s"])
            vars(threading).pop(self._PLACE, None)

    def want(self, seconds: float | None) -> None:
        """Shorten the interval to this; None: as it was, or as another tool has set it since."""
        while seconds != self._wanted_s:
            new = {"pid": os.getpid(), "lock": threading.Lock(), "wanted": {}, "before_s": 0.0, "set_s": 0.0}
            shared: dict[str, Any] = vars(threading).setdefault(self._PLACE, new)
            with shared["lock"]:
                if vars(threading).get(self._PLACE) is shared:
                    self._wanted_s = seconds
                    self._set(shared)

    def _set(self, shared: dict[str, Any]) -> None:
        wanted, now_s = shared["wanted"], sys.getswitchinterval()
        if not wanted or now_s != shared["set_s"]:
            shared["before_s"] = now_s
        wanted.pop(id(self), None)
        if self._wanted_s is not None:
            wanted[id(self)] = self._wanted_s
        sys.setswitchinterval(min([shared["before_s"], *wanted.values()]))
        shared["set_s"] = sys.getswitchinterval()
        if not wanted:
            del vars(threading)[self._PLACE]


class SamplingThread:
    """Calls `look` until there has been no task for a while; `begin` starts it again.

    `look` returns the seconds until the next call, longer ones where it took more than 2% of them. `first` is
    called before it, and has a pace of its own; `ended` when the thread ends, unless another one has begun.
    """

    def __init__(
        self,
        name: str,
        look: Callable[[Wake], float],
        is_wanted: Callable[[], bool],
        fault: Callable[[Exception], None],
        linger_s: float,
        *,
        first: Callable[[], None] = lambda: None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._first = first
        self._look = look
        self._is_wanted = is_wanted
        self._fault = fault
        self._linger_s = linger_s
        self._ended = ended
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._has_begun = False
        """Whether `begin` was called since the last look."""

    def begin(self, first_s: float) -> None:
        """Start the thread unless it runs; its first sample is after this many seconds."""
        with self._lock:
            self._has_begun = True
            if self._thread is None:
                self._stop.set()
                stop = self._stop = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(stop, first_s), name=self._name, daemon=True
                )
                self._thread.start()

    def stop(self, *, wait: bool = True) -> None:
        """End the thread, and wait for it."""
        with self._lock:
            self._stop.set()
            thread, self._thread = self._thread, None
        if wait and thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self, stop: threading.Event, first_s: float) -> None:
        try:
            self._look_until(stop, first_s, LockProbe())
        except Exception as error:  # noqa: BLE001 - the tasks have nothing to do with it
            self._fault(error)
        finally:
            with self._lock:
                self._end(stop)

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
            has_begun, self._has_begun = self._has_begun, False
            if has_begun or self._is_wanted():
                active = now
            elif now - active > self._linger_s and self._leave(stop):
                return
            before, is_first = now, False
            pause_s = pauses.after(interval_s, time.thread_time() - busy)

    def _leave(self, stop: threading.Event) -> bool:
        with self._lock:
            # Tasks that began since then rely on this thread.
            if self._has_begun or self._is_wanted():
                return False
            self._end(stop)
            return True

    def _end(self, stop: threading.Event) -> None:
        if self._stop is stop:
            self._thread = None
            self._ended()


class Running(NamedTuple):
    """A task that a thread runs."""

    began: float
    """By `time.perf_counter`; no two tasks of a thread begin at one time."""
    task: Any


class Sample(NamedTuple):
    """One sample of a task's calls."""

    task: Any
    """As in `Running`."""
    stack: Stack
    seconds: float
    """The seconds that it counts for."""
    cpu_s: float | None
    """CPU time of the thread in that time."""


class TaskStacks:
    """Samples of the threads that run tasks.

    `running` returns these threads with their tasks. `stack_of` returns the calls of a task by the frame of
    its thread, None where that runs no code of a task.
    """

    def __init__(
        self,
        running: Callable[[], Mapping[int, Running]],
        stack_of: Callable[[FrameType | None], Stack | None],
    ) -> None:
        self._running = running
        self._stack_of = stack_of
        self._spent: dict[int, tuple[float, float]] = {}
        """The last sample of each thread: its time, and the thread's CPU time."""
        self._several_until = 0.0
        self._random = Random().random  # noqa: S311 - lengths of time slices
        self._lock = threading.Lock()
        self._is_on = False
        self._interval = SwitchInterval()

    def switch(self, *, is_on: bool) -> None:
        """Allow the switch interval to be shortened at the next look, or set the one before now."""
        with self._lock:
            self._is_on = is_on
            if not is_on:
                self._interval.want(None)

    def look(self, wake: Wake) -> list[Sample]:
        """Return a sample of each task that runs."""
        seen = self._seen()
        if len(seen) > 1:
            self._several_until = wake.now + _SEVERAL_S
        is_alone = wake.now >= self._several_until
        self._want(_SOONER_S if is_alone else None)
        if is_alone or wake.is_lock_held is False or not self._is_on:
            return self._sampled_once(wake, seen)
        return self._sampled_twice(wake, seen)

    def _sampled_once(self, wake: Wake, seen: Mapping[int, tuple[Running, Stack]]) -> list[Sample]:
        cpu, samples = self._cpu_shares(wake.now, seen), []
        for thread, (running, stack) in seen.items():
            seconds, share = stands_for_s(wake, running.began), cpu[thread]
            samples.append(Sample(running.task, stack, seconds, None if share is None else seconds * share))
        return samples

    def _sampled_twice(self, wake: Wake, waiting: Mapping[int, tuple[Running, Stack]]) -> list[Sample]:
        within: dict[int, tuple[Running, Stack]] = {}
        for _ in range(_MOST_TURNS):
            self._want(self._random() * sys.getswitchinterval())
            time.sleep(_SLICE_BEGINS_S)
            self._want(None)
            within = self._seen()
            if within:
                break
        cpu = self._cpu_shares(wake.now, {**waiting, **within})
        turn = 1 / max(len(waiting), len(within), 1)
        samples = []
        for seen, share, before in ((within, turn, 0.0), (waiting, 1 - turn, turn)):
            for thread, (running, stack) in seen.items() if share else ():
                all_s = wake.elapsed_s if wake.late_s is not None else stands_for_s(wake, running.began)
                # A thread computes in its turn first.
                known = cpu[thread]
                cpu_s = None if known is None else all_s * min(max(known - before, 0.0), share)
                samples.append(Sample(running.task, stack, all_s * share, cpu_s))
        return samples

    def _seen(self) -> dict[int, tuple[Running, Stack]]:
        tasks, seen = self._running(), {}
        frames = current_frames() if tasks else {}
        for thread, running in tasks.items():
            stack = self._stack_of(frames.pop(thread, None))
            if stack is not None:
                seen[thread] = running, stack
        # The next task may have begun before its thread's stack was read.
        now = self._running() if seen else {}
        return {
            thread: (running, stack)
            for thread, (running, stack) in seen.items()
            if thread in now and now[thread].began == running.began
        }

    def _cpu_shares(self, now: float, threads: Iterable[int]) -> dict[int, float | None]:
        before, self._spent = self._spent, {}
        for thread in threads:
            cpu_s = thread_cpu_s(thread)
            if cpu_s is not None:
                self._spent[thread] = now, cpu_s
        return {thread: cpu_share(before.get(thread), self._spent.get(thread)) for thread in threads}

    def _want(self, interval_s: float | None) -> None:
        with self._lock:
            self._interval.want(interval_s if self._is_on else None)


Call: TypeAlias = tuple[str, str, int, int]
"""Qualified name, file and first line of a function, and the line that it is at; 0 if lines are not kept."""


class StackCounts:
    """Counts samples by task, second and calls; any message can contain these plain values."""

    def __init__(self, most: int, *, has_lines: bool = True) -> None:
        self._most = most
        self.has_lines = has_lines
        self._lock = threading.Lock()
        self._sums: dict[tuple[Any, float, tuple[Call, ...]], list[float]] = {}
        self._calls: dict[tuple[int, int], tuple[CodeType, Call]] = {}
        """The call at an instruction, by the identity of the code, which is kept so that it stays."""

    def add(self, key: Any, now: float, sample: Sample) -> None:  # noqa: ANN401 - keys may be anything
        """Count a sample of a task."""
        calls = tuple(self._call(code, offset) for code, offset in sample.stack[-_MAX_DEPTH:])
        at = key, now // _CYCLE_S * _CYCLE_S, calls
        with self._lock:
            if len(self._sums) >= self._most and at not in self._sums:
                # Further stacks count for the task's own function, without a time.
                at = key, 0.0, calls[-1:]
            sums = self._sums.setdefault(at, [0, 0.0, 0.0, 0.0, 0.0])
            sums[0] += 1
            sums[1] += sample.seconds
            sums[2] += sample.seconds * sample.seconds
            if sample.cpu_s is not None:
                sums[3] += sample.cpu_s
                sums[4] += sample.seconds

    def take(self) -> dict[str, Any]:
        """Return ``functions`` and ``stacks`` since the last call; nothing if there are none.

        A function has name, file and first line. A row of ``stacks`` has the task, the start of its second,
        calls (place among the functions, and line; innermost first), the number of samples, their seconds,
        the squares of these, CPU time, and the seconds with a known CPU time.
        """
        with self._lock:
            found, self._sums = self._sums, {}
            # Functions that are sent as code are new ones in each task.
            self._calls.clear()
        functions: dict[tuple[str, str, int], int] = {}
        stacks = [
            (key, at, [(functions.setdefault(call[:3], len(functions)), call[3]) for call in calls], *sums)
            for (key, at, calls), sums in found.items()
        ]
        return {"functions": list(functions), "stacks": stacks} if stacks else {}

    def _call(self, code: CodeType, offset: int) -> Call:
        place = id(code), offset if self.has_lines else -1
        known = self._calls.get(place)
        if known is None:
            # Before Python 3.11 code has no qualified name.
            name: str = getattr(code, "co_qualname", code.co_name)
            line = _line_at(code, offset) if self.has_lines else 0
            known = self._calls[place] = code, (name, code.co_filename, code.co_firstlineno, line)
        return known[1]


def _line_at(code: CodeType, offset: int) -> int:
    """Return the line of an instruction: that of the definition where a frame has none yet."""
    for first, stop, line in code.co_lines():
        if first <= offset < stop:
            return line or code.co_firstlineno
    return code.co_firstlineno
