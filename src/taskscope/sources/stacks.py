"""Sample what the threads that run tasks are doing: a thread that looks at them, and what it sees.

A stack is cut where the task was called: it has neither taskscope's frames nor those with which Dask calls a
function. This module is imported in processes that run tasks for this one, so it imports little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import NamedTuple

from taskscope.model.guard import Guard
from taskscope.sources.frames import (
    LockProbe,
    Pauses,
    SoonerSwitching,
    cpu_share,
    current_frames,
    stands_for_s,
    task_stack,
    thread_cpu_s,
)


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
    """Calls `look` until there has been nothing to look at for a while, and starts again with `begin`.

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
        """Start the thread unless it runs; its first look is after so many seconds."""
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
            if stop.wait(pause_s):
                return
            now = time.perf_counter()
            is_held = probe.was_held(now - due)
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
            # What began since then relies on this thread.
            if self._is_wanted():
                return False
            if self._stop is stop:
                self._thread = None
            return True


class Sample(NamedTuple):
    """What a thread was doing."""

    thread: int
    stack: list[tuple[CodeType, int]]
    """Code and instruction offset, innermost first."""
    seconds: float
    """The time that it stands for."""
    cpu_s: float | None
    """CPU time of the thread in that time."""


class TaskStacks:
    """The stacks of threads that run tasks.

    Every sample stands for the time since the one before: with many threads that need the interpreter, a
    sampler gets its lock late, and what it then sees went on for longer. A task that holds the lock releases
    it after 5 ms (`sys.getswitchinterval`) or when it ends, so the first milliseconds of such a task are
    never seen; the first sample in a task stands for them, too. Where one task runs at a time, threads
    therefore switch after 0.5 ms while they are sampled; where several compute in Python, they switch anyway,
    and doing it more often would cost them some percent.
    """

    def __init__(self, task: CodeType) -> None:
        self._task = task
        self._seen: dict[int, object] = {}
        self._spent: dict[int, tuple[float, float]] = {}
        """When each thread was looked at last, and its CPU time then."""
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
            # The stack may be that of the next task.
            stack = task_stack(frames.pop(thread, None), self._task) if is_running(thread, task) else None
            if stack is None:
                continue
            is_new = seen.get(thread) is not task
            seconds = stands_for_s(wake.elapsed_s, wake.late_s, wake.now - began, is_new=is_new)
            # What a thread did since the last look stands for the task that it is seen in.
            share = cpu_share(spent.get(thread), self._spent.get(thread))
            yield Sample(thread, stack, seconds, None if share is None else share * seconds)
