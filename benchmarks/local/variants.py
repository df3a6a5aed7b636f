"""The peers: nothing, a callback that does nothing, dask.diagnostics, taskscope; and what a run takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from io import StringIO
from typing import Any, Final, Literal, NamedTuple

from dask.callbacks import Callback
from dask.diagnostics import CacheProfiler, Profiler, ProgressBar

import taskscope
from benchmarks.workloads import Scheduler, Workload

Variant = Literal["bare", "no-op", "dask", "taskscope"]
VARIANTS: Final[tuple[Variant, ...]] = ("bare", "no-op", "dask", "taskscope")


def _nothing(*_: object) -> None:
    pass


@contextmanager
def watched_by_dask() -> Iterator[None]:
    """Profile with what dask offers for the same information; the bar writes into memory."""
    with ExitStack() as stack:
        for diagnostic in (Profiler(), CacheProfiler(), ProgressBar(out=StringIO())):
            stack.enter_context(diagnostic)
        yield


def watched_by(variant: Variant) -> AbstractContextManager[object]:
    """Return the context in which a computation is watched by the named variant."""
    match variant:
        case "bare":
            return ExitStack()
        case "no-op":
            return Callback(_nothing, _nothing, _nothing, _nothing, _nothing)
        case "dask":
            return watched_by_dask()
        case "taskscope":
            return taskscope.profile(display=False)


class Spent(NamedTuple):
    """Seconds that a computation took; `left_s` is the time after it until its block was left."""

    wall_s: float
    cpu_s: float
    ended_s: float
    """When the result was there."""
    left_s: float
    result: Any


def spent(
    workload: Workload, scheduler: Scheduler, context: Callable[[], AbstractContextManager[object]]
) -> Spent:
    """Compute within a context; CPU time is that of all threads of the process, until the result is there."""
    with context() as watched:
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        result = workload.compute(scheduler)
        ended_s, cpu_s = time.perf_counter(), time.process_time() - cpu_s
    left_s = time.perf_counter() - ended_s
    if isinstance(watched, taskscope.profile):
        # The thread that completes it would take its time from the next run.
        watched.recording.wait()
    return Spent(ended_s - wall_s, cpu_s, ended_s, left_s, result)
