"""Sample the tasks that this process runs for another one, while it runs any.

A thread begins with the first task and ends half a second after the last one, or when the process forks; its
samples of a task are taken when that ends, to go with its times. This module is imported in worker processes,
so it imports little.
"""

from __future__ import annotations

import os
import threading
import time
from types import CodeType
from typing import Any, TypeAlias

from taskscope.model.source_lines import line_at
from taskscope.sources.frames import has_interpreter_lock
from taskscope.sources.stacks import Sample, SamplingThread, TaskStacks, Wake

_LINGER_S = 0.5
_CYCLE_S = 1.0
_MAX_DEPTH = 256
_MAX_STACKS = 2_000

Sampled: TypeAlias = dict[str, Any]
"""Samples of a task as JSON.

``functions`` have name, file and first line each. ``stacks`` have the start of their second, calls (function
and line, innermost first), number of samples, their seconds, the squares of these, CPU time, and the seconds
for which that is known.
"""
_Call: TypeAlias = tuple[str, str, int, int]
_Sums: TypeAlias = dict[tuple[float, tuple[_Call, ...]], list[float]]


class _Running:
    """A task that runs: since when, and its samples."""

    __slots__ = ("began", "sums")

    def __init__(self, began: float) -> None:
        self.began = began
        self.sums: _Sums = {}


class ProcessSampler:
    """Samples tasks of this process, which taskscope's code `task` runs."""

    def __init__(self, task: CodeType) -> None:
        self._task = task
        self._interval_s = 0.0
        self._forget()
        self._follows_forks = False

    def _forget(self) -> None:
        self._running: dict[int, _Running] = {}
        self._calls: dict[tuple[int, int], tuple[CodeType, _Call]] = {}
        """The call at an instruction, by the identity of the code, which is kept so that it stays."""
        self._stacks = TaskStacks(self._task)
        self._thread = SamplingThread(
            "taskscope-sampler",
            self._look,
            lambda: bool(self._running),
            lambda _error: self._running.clear(),
            _LINGER_S,
        )

    def _end_thread(self) -> None:
        self._thread.stop()

    def begin(self, interval_s: float) -> None:
        """Sample the task that this thread begins."""
        if not has_interpreter_lock():
            return
        if not self._follows_forks and hasattr(os, "register_at_fork"):
            self._follows_forks = True
            # A process with threads cannot fork safely, and Python 3.12 and later warn of it.
            os.register_at_fork(before=self._end_thread, after_in_child=self._forget)
        self._interval_s = interval_s
        self._running[threading.get_ident()] = _Running(time.perf_counter())
        self._thread.begin(interval_s)

    def end(self) -> Sampled | None:
        """Return the samples of this thread's task, which is over; None if there are none."""
        running = self._running.pop(threading.get_ident(), None)
        if not self._running:
            self._stacks.switching.want(False)
            # Functions that are sent as code are new ones in each task.
            self._calls.clear()
        return _sampled(running.sums) if running is not None and running.sums else None

    def _look(self, wake: Wake) -> float:
        running = dict(self._running)
        self._stacks.switching.want(len(running) == 1)
        tasks = {thread: (task, task.began) for thread, task in running.items()}
        for sample in self._stacks.look(wake, tasks, lambda of, task: self._running.get(of) is task):
            calls = tuple(self._call(code, offset) for code, offset in sample.stack[-_MAX_DEPTH:])
            _count(running[sample.thread].sums, wake.now, calls, sample)
        return self._interval_s

    def _call(self, code: CodeType, offset: int) -> _Call:
        known = self._calls.get((id(code), offset))
        if known is None:
            place = code.co_qualname, code.co_filename, code.co_firstlineno, line_at(code, offset)
            known = self._calls[id(code), offset] = code, place
        return known[1]


def _count(sums: _Sums, now: float, calls: tuple[_Call, ...], sample: Sample) -> None:
    key = now // _CYCLE_S * _CYCLE_S, calls
    if len(sums) >= _MAX_STACKS and key not in sums:
        # Further stacks count for the task's own function, without a time.
        key = 0.0, calls[-1:]
    found = sums.setdefault(key, [0, 0.0, 0.0, 0.0, 0.0])
    found[0] += 1
    found[1] += sample.seconds
    found[2] += sample.seconds * sample.seconds
    if sample.cpu_s is not None:
        found[3] += sample.cpu_s
        found[4] += sample.seconds


def _sampled(sums: _Sums) -> Sampled:
    functions: dict[tuple[str, str, int], int] = {}
    stacks = [
        (at, [(functions.setdefault(call[:3], len(functions)), call[3]) for call in calls], *values)
        for (at, calls), values in sums.items()
    ]
    return {"functions": list(functions), "stacks": stacks}
