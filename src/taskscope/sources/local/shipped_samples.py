"""Sample the tasks that this process runs for another one, while it runs any.

A thread begins with the first task and ends half a second after the last one, or when the process forks;
what it has seen of a task is taken when that ends, to go with its times. This module is imported in worker
processes, so it imports little.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from itertools import count
from types import CodeType
from typing import Any, TypeAlias

from taskscope.model.source_lines import line_at
from taskscope.sources.frames import (
    SoonerSwitching,
    cpu_share,
    has_interpreter_lock,
    stands_for_s,
    task_stack,
    thread_cpu_s,
)

__all__ = ["ProcessSampler", "Sampled"]

_MAX_SHARE = 0.02
_LINGER_S = 0.5
_CYCLE_S = 1.0
_MAX_DEPTH = 256
_MAX_STACKS = 2_000
_GOLDEN = 0.6180339887498949

Sampled: TypeAlias = dict[str, Any]
"""What was seen of a task, as JSON can hold it: ``functions``, each with its name, file and first line, and
``stacks``: when their second began, calls (function and line, innermost first), how many samples, for how
long they stand, the squares of that, CPU time, and the time of which that is known."""
_Call: TypeAlias = tuple[str, str, int, int]
_Sums: TypeAlias = dict[tuple[float, tuple[_Call, ...]], list[float]]


class _Running:
    """A task that goes on: since when, and what was seen of it."""

    __slots__ = ("began", "cpu", "is_new", "sums")

    def __init__(self, began: float) -> None:
        self.began = began
        self.is_new = True
        self.cpu: tuple[float, float] | None = None
        self.sums: _Sums = {}


class ProcessSampler:
    """Samples tasks of this process.

    Parameters
    ----------
    task
        The code of ours that runs a task.
    """

    def __init__(self, task: CodeType) -> None:
        self._task = task
        self._running: dict[int, _Running] = {}
        self._calls: dict[tuple[int, int], tuple[CodeType, _Call]] = {}
        """What is called at an instruction, by the identity of the code, which is kept so that it stays."""
        self._switching = SoonerSwitching()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._knows_forks = False

    def begin(self, interval_s: float) -> None:
        """Sample what this thread does from now on."""
        if not has_interpreter_lock():
            return
        with self._lock:
            self._running[threading.get_ident()] = _Running(time.perf_counter())
            if self._thread is None:
                self._start(interval_s)

    def end(self) -> Sampled | None:
        """Return what was seen of the task of this thread, which is over; None if nothing was."""
        running = self._running.pop(threading.get_ident(), None)
        return _sampled(running.sums) if running is not None and running.sums else None

    def _start(self, interval_s: float) -> None:
        if not self._knows_forks and hasattr(os, "register_at_fork"):
            self._knows_forks = True
            os.register_at_fork(before=self._end_thread, after_in_child=self._forget)
        stop = self._stop = threading.Event()
        thread = threading.Thread(
            target=self._run, args=(stop, interval_s), name="taskscope-stacks", daemon=True
        )
        thread.start()
        self._thread = thread

    def _end_thread(self) -> None:
        # A process with threads cannot fork safely, and Python 3.12 and later warn of it.
        self._stop.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._thread = None
        self._running.clear()

    def _run(self, stop: threading.Event, interval_s: float) -> None:
        try:
            self._sample_until(stop, interval_s)
        except Exception:  # noqa: BLE001 - sampling must not end the user's task, and there is nobody to tell
            self._running.clear()
        finally:
            with self._lock:
                self._end_sampling(stop)

    def _end_sampling(self, stop: threading.Event) -> None:
        if self._stop is stop:
            self._thread = None
            self._calls.clear()
            self._switching.want(False)

    def _sample_until(self, stop: threading.Event, interval_s: float) -> None:
        before = active = time.perf_counter()
        pause = interval_s
        for n in count(1):
            due = time.perf_counter() + pause
            if stop.wait(pause):
                return
            now, busy = time.perf_counter(), time.thread_time()
            if self._running:
                self._sample(now, now - before, now - due if n > 1 else None)
                active = now
            elif now - active > _LINGER_S and self._is_over(stop):
                return
            before = now
            cost = time.thread_time() - busy
            pause = max(interval_s * (0.5 + n * _GOLDEN % 1), cost / _MAX_SHARE)

    def _is_over(self, stop: threading.Event) -> bool:
        with self._lock:
            if self._running:
                return False
            # Whoever begins a task from now on starts another thread.
            self._end_sampling(stop)
            return True

    def _sample(self, now: float, elapsed_s: float, late_s: float | None) -> None:
        tasks = dict(self._running)
        self._switching.want(len(tasks) < 2)
        frames = sys._current_frames()
        for thread, running in tasks.items():
            cpu_s = thread_cpu_s(thread)
            before, running.cpu = running.cpu, None if cpu_s is None else (now, cpu_s)
            # One that has ended meanwhile is not what the stack is about.
            is_same = self._running.get(thread) is running
            stack = task_stack(frames.pop(thread, None), self._task) if is_same else None
            if stack is not None:
                seconds = stands_for_s(elapsed_s, late_s, now - running.began, is_new=running.is_new)
                running.is_new = False
                calls = tuple(self._call(code, offset) for code, offset in stack[-_MAX_DEPTH:])
                _count(running.sums, now, calls, seconds, cpu_share(before, running.cpu))

    def _call(self, code: CodeType, offset: int) -> _Call:
        known = self._calls.get((id(code), offset))
        if known is None:
            place = code.co_qualname, code.co_filename, code.co_firstlineno, line_at(code, offset)
            known = self._calls[id(code), offset] = code, place
        return known[1]


def _count(sums: _Sums, now: float, calls: tuple[_Call, ...], seconds: float, share: float | None) -> None:
    key = now // _CYCLE_S * _CYCLE_S, calls
    if len(sums) >= _MAX_STACKS and key not in sums:
        # What is beyond counts for the task's own function, without a time.
        key = 0.0, calls[-1:]
    found = sums.setdefault(key, [0, 0.0, 0.0, 0.0, 0.0])
    found[0] += 1
    found[1] += seconds
    found[2] += seconds * seconds
    if share is not None:
        found[3] += share * seconds
        found[4] += seconds


def _sampled(sums: _Sums) -> Sampled:
    functions: dict[tuple[str, str, int], int] = {}
    stacks = [
        (at, [(functions.setdefault(call[:3], len(functions)), call[3]) for call in calls], *values)
        for (at, calls), values in sums.items()
    ]
    return {"functions": list(functions), "stacks": stacks}
