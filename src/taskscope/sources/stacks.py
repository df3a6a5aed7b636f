"""Sample what the worker threads of this process are doing, while computes last.

One thread looks at the stacks of those threads that run a task, by ``sys._current_frames``. A stack is cut
where the task was called: neither our own frames nor those with which Dask calls a function are in it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from itertools import count

from taskscope.model.keys import split_key
from taskscope.model.tables.stacks import NOT_SAMPLED_WITHOUT_LOCK
from taskscope.options import DEFAULT_CYCLE_S
from taskscope.record import LaneBuffer, Recorder
from taskscope.sources.frames import (
    LockProbe,
    SoonerSwitching,
    cpu_share,
    has_interpreter_lock,
    stands_for_s,
    task_stack,
    thread_cpu_s,
)
from taskscope.sources.local.timing import TimedTask

__all__ = ["StackSampler"]

_MAX_SHARE = 0.02
_LINGER_S = 1.0
_LOCK_S = 0.02
"""Between looks at the interpreter's lock alone, where no stacks are sampled."""
_GOLDEN = 0.6180339887498949
_TASK = TimedTask.__call__.__code__


class StackSampler:
    """Samples while computes run; unless asked to begin at once, shorter ones than 0.1 s cost nothing.

    Parameters
    ----------
    recorder
        Where samples go.
    open_lanes
        Gives the runs' numbers with the lanes that belong to them.
    is_safe
        Whether the frames of other threads may be walked while these run.

    Notes
    -----
    Every sample stands for the time since the one before: with many threads that need the interpreter, a
    sampler gets it late, and what it then sees went on for longer. A task that holds the lock gives it away
    after 5 ms (`sys.getswitchinterval`) or when it ends, so the first milliseconds of such a task are never
    seen; the first sample in a task stands for them, too. Where one task runs at a time, threads therefore
    switch after 0.5 ms while they are sampled; where several compute in Python, they hand the lock to each
    other anyway, and doing it more often would cost them some percent.
    On a busy machine it takes this thread some tenths of a second to begin; its first sample stands for all
    that the tasks which then run have done before, for one second at most.
    The pauses vary around `interval_s`, so that tasks of the same rhythm are not always met at the same
    place. Sampling takes at most 2% of the time: where there are many threads, there are fewer samples.
    """

    def __init__(
        self,
        recorder: Recorder,
        open_lanes: Callable[[], Iterable[tuple[int, LaneBuffer]]],
        is_safe: Callable[[], bool] = has_interpreter_lock,
    ) -> None:
        self.interval_s: float | None = None
        """Seconds between samples; None: there are none."""
        self.is_at_once = False
        """Whether a compute is sampled from its beginning, not only one that lasts."""
        self.cycle_s = DEFAULT_CYCLE_S
        self._recorder = recorder
        self._open_lanes = open_lanes
        self._is_safe = is_safe
        self._worker = str(os.getpid())
        self._seen: dict[int, tuple[object, float]] = {}
        self._spent: dict[int, tuple[float, float]] = {}
        """When each thread was looked at last, and its CPU time then."""
        self._switching = SoonerSwitching()
        self._lock = threading.Lock()
        self._active: set[object] = set()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def compute_started(self, compute: object) -> None:
        """Note that a compute began."""
        with self._lock:
            self._active.add(compute)
            if self.interval_s is None:
                return
            if not self._is_safe():
                self._recorder.warn(NOT_SAMPLED_WITHOUT_LOCK)
                return
            self._recorder.stacks.note(self.interval_s, self.cycle_s)
            if self.is_at_once:
                self._begin()

    def compute_stopped(self, compute: object) -> None:
        """Note that a compute ended; it need not have begun."""
        with self._lock:
            self._active.discard(compute)

    def tick(self) -> None:
        """See to it that a compute that lasts is sampled."""
        with self._lock:
            if self._active and self._is_safe():
                self._begin()

    def _begin(self) -> None:
        if self._thread is not None:
            return
        # An interrupt on the user's thread may have left one that is not known here.
        self._stop.set()
        self._stop = threading.Event()
        thread = threading.Thread(target=self._run, args=(self._stop,), name="taskscope-stacks", daemon=True)
        thread.start()
        self._thread = thread

    def stop(self) -> None:
        """End the thread and wait for it."""
        with self._lock:
            self._stop.set()
            self._active.clear()
            thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._switching.want(False)

    def forget_thread(self) -> None:
        """Start over in a child process, where the thread does not exist."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = None
        self._active.clear()
        self._switching.want(False)
        self._worker = str(os.getpid())

    def _run(self, stop: threading.Event) -> None:
        try:
            with LockProbe() as probe:
                self._sample_until(stop, probe)
        except Exception as error:  # noqa: BLE001 - sampling must not end the user's compute
            self._recorder.fault("sampling call stacks", error)
        finally:
            self._switching.want(False)
            self._recorder.stacks.end_cycle()
            with self._lock:
                # However it ended, the next tick can start another.
                if self._stop is stop:
                    self._thread = None

    def _sample_until(self, stop: threading.Event, probe: LockProbe) -> None:
        log, clock = self._recorder.stacks, self._recorder.clock
        before = cycle = active = clock.perf_counter()
        pause = self.interval_s or _LOCK_S
        for n in count(1):
            due = clock.perf_counter() + pause
            interval = self.interval_s
            if stop.wait(pause):
                return
            now, busy = clock.perf_counter(), clock.thread_time()
            is_held = probe.was_held(now - due)
            if is_held is not None:
                self._recorder.note_lock(due - pause, is_held=is_held)
            if now - active > _LINGER_S and not self._active:
                return
            late_s = now - due if n > 1 else None
            if (interval is not None and self._sample(now, now - before, late_s)) or self._active:
                active = now
            before = now
            if now - cycle >= self.cycle_s:
                log.end_cycle()
                cycle = now
            cost = clock.thread_time() - busy
            pause = max((interval or _LOCK_S) * (0.5 + n * _GOLDEN % 1), cost / _MAX_SHARE)

    def _sample(self, now: float, elapsed_s: float, late_s: float | None) -> bool:
        """Look at all threads once; True if one was running a task."""
        tasks: dict[int, tuple[int, LaneBuffer, tuple[object, float]]] = {}
        for run, lane in self._open_lanes():
            task = lane.open
            thread = lane.key.thread
            # Of computes that are nested in one thread, the innermost began last.
            if task is not None and (thread not in tasks or tasks[thread][2][1] < task[1]):
                tasks[thread] = run, lane, task
        self._switching.want(len(tasks) < 2)
        seen, self._seen = self._seen, {thread: task for thread, (_, _, task) in tasks.items()}
        if not tasks:
            return False
        frames = sys._current_frames()
        spent, self._spent = self._spent, {}
        for thread, (run, lane, task) in tasks.items():
            cpu_s = thread_cpu_s(thread)
            if cpu_s is not None:
                self._spent[thread] = now, cpu_s
            # One that has ended meanwhile is not what the stack is about.
            stack = task_stack(frames.pop(thread, None), _TASK) if lane.open is task else None
            if stack is not None:
                is_new = seen.get(thread) is not task
                seconds = stands_for_s(elapsed_s, late_s, now - task[1], is_new=is_new)
                # What a thread did since the look before stands for the task that it is seen in.
                share = cpu_share(spent.get(thread), self._spent.get(thread))
                cpu = None if share is None else share * seconds
                prefix = split_key(task[0])[1]
                self._recorder.stacks.add(run, prefix, self._worker, stack, seconds, cpu)
        return True
