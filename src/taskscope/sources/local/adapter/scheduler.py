"""Which scheduler a compute runs on, read from the frame of Dask's scheduler loop.

Hooks do not get the scheduler, the number of workers, the requested keys or which task failed, so they are
looked up in the locals of ``dask.local.get_async``, which called the hook. This is the only module that knows
those names; ``tests/unit/sources/local/adapter/test_scheduler.py`` fails when Dask changes them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from types import FrameType
from typing import Any

import dask.local
from dask.local import MultiprocessingPoolExecutor, SynchronousExecutor

_MAX_FRAMES = 8


@dataclass(frozen=True, slots=True)
class Scheduler:
    """How a compute is run: scheduler or executor's class, tasks at a time, and the requested keys."""

    name: str | None = None
    n_workers: int | None = None
    requested: frozenset[object] | None = None

    @property
    def is_local(self) -> bool:
        """Whether tasks run where taskscope is; an executor of another kind may be a cluster's."""
        return self.name in {"synchronous", "threads", "processes"}


def find_scheduler() -> Scheduler:
    """Return the scheduler whose hook is being called."""
    names = _scheduler_locals()
    executor = getattr(names.get("submit"), "__self__", None)
    requested = names.get("results")
    return Scheduler(
        _name(executor),
        names.get("num_workers"),
        None if requested is None else frozenset(requested),
    )


def find_callbacks() -> Collection[tuple[Any, ...]]:
    """Return the callbacks of the compute whose hook is being called."""
    callbacks: Collection[tuple[Any, ...]] = _scheduler_locals().get("callbacks") or ()
    return callbacks


def find_state() -> Mapping[str, Any]:
    """Return the state of the compute that is ending; it is empty if its start-up failed."""
    state: Mapping[str, Any] = _scheduler_locals().get("state", {})
    return state


def in_compute() -> bool:
    """Return whether the caller is called, at whatever depth, by a compute of this thread."""
    loops = {dask.local.get_async.__code__, dask.local.batch_execute_tasks.__code__}
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code not in loops:
        frame = frame.f_back
    return frame is not None


def is_nested() -> bool:
    """Return whether the compute that is starting was started by a task, or by a hook, of another one."""
    loops = 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        loops += frame.f_code is dask.local.get_async.__code__
        if loops == 2 or frame.f_code is dask.local.batch_execute_tasks.__code__:
            return True
        frame = frame.f_back
    return False


def find_culprit(error: BaseException, in_flight: Collection[object]) -> list[object]:
    """Return, in a list, the key of the task whose failure ended the compute, if that is known."""
    names = _scheduler_locals()
    if names.get("failed") is True:
        return [names["key"]]
    # A bare pool raises from the call for a result, and does not name its task.
    outermost = error.__traceback__
    raised = outermost and outermost.tb_next
    by_pool = raised is not None and raised.tb_frame.f_code is Future.result.__code__
    return list(in_flight) if by_pool and len(in_flight) == 1 else []


def _scheduler_locals() -> Mapping[str, Any]:
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            break
        if frame.f_code is dask.local.get_async.__code__:
            return frame.f_locals
        frame = frame.f_back
    return {}


def _name(executor: object) -> str | None:
    if isinstance(executor, SynchronousExecutor):
        return "synchronous"
    if isinstance(executor, ThreadPoolExecutor):
        return "threads"
    if isinstance(executor, (ProcessPoolExecutor, MultiprocessingPoolExecutor)):
        return "processes"
    return type(executor).__name__ if isinstance(executor, Executor) else None
