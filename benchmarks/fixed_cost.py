"""What does watching cost when there is little to watch, and at the end of much?

First a computation of 50 tasks that do nothing, with everything on. Then the stall at the end of a large one:
from the moment the last task ends to the moment the caller has the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial

import dask
from dask._task_spec import Task, TaskRef
from dask.diagnostics import ResourceProfiler

import taskscope
from benchmarks.harness import Table, interleaved, main, spread
from benchmarks.variants import Variant, watched_by, watched_by_dask
from benchmarks.workloads import Workload, tree

RESOURCE_INTERVAL_S = 0.25


@contextmanager
def everything_of_dask() -> Iterator[None]:
    with watched_by_dask(), ResourceProfiler(dt=RESOURCE_INTERVAL_S):
        yield


def everything_of_taskscope() -> AbstractContextManager[object]:
    return taskscope.profile(display=False, dt=RESOURCE_INTERVAL_S)


def entered_each_time(context: Callable[[], AbstractContextManager[object]], workload: Workload) -> float:
    start_s = time.perf_counter()
    with context():
        workload.compute("threads")
    return time.perf_counter() - start_s


def entered_once(context: Callable[[], AbstractContextManager[object]], workload: Workload) -> float:
    """Return the seconds of a second computation in one context, as after ``%load_ext``."""
    with context():
        workload.compute("threads")
        start_s = time.perf_counter()
        workload.compute("threads")
        return time.perf_counter() - start_s


def small(*, quick: bool) -> Table:
    workload = tree(50)
    contexts: dict[str, Callable[[], AbstractContextManager[object]]] = {
        "bare": ExitStack,
        "dask": everything_of_dask,
        "taskscope": everything_of_taskscope,
    }
    rows = []
    for name, timed in (("entered for it", entered_each_time), ("already on", entered_once)):
        variants = {variant: partial(timed, context, workload) for variant, context in contexts.items()}
        taken = interleaved(variants, repetitions=5 if quick else 30)
        rows += [[name, variant, milliseconds(seconds)] for variant, seconds in taken.items()]
    return Table("50 tasks, everything on, ms", ["watching", "by", "ms, median (smallest to largest)"], rows)


def ended_at(*_: object) -> float:
    return time.perf_counter()


def with_last_task(workload: Workload) -> Workload:
    last = Task("last", ended_at, *map(TaskRef, workload.wanted))
    return Workload(workload.name, {**workload.graph, "last": last}, ["last"])


def stall(workload: Workload, variant: Variant, left_s: list[float]) -> float:
    """Return the seconds until the result is there; note those until the block is left as well."""
    ended_s: float
    with watched_by(variant):
        (ended_s,) = dask.get(workload.graph, workload.wanted)
        result_s = time.perf_counter() - ended_s
    left_s.append(time.perf_counter() - ended_s)
    return result_s


def finish(*, quick: bool) -> Table:
    workload = with_last_task(tree(50_000 if quick else 1_000_000))
    peers: tuple[Variant, ...] = ("bare", "dask", "taskscope")
    left_s: dict[Variant, list[float]] = {variant: [] for variant in peers}
    variants = {variant: partial(stall, workload, variant, left_s[variant]) for variant in peers}
    taken = interleaved(variants, repetitions=3)
    rows = [[variant, milliseconds(taken[variant]), milliseconds(left_s[variant])] for variant in peers]
    title = f"After the end of the last of {workload.n_tasks:,} tasks, ms, median (smallest to largest)"
    return Table(title, ["watched by", "until the result", "until the block is left"], rows)


def milliseconds(seconds: list[float]) -> str:
    return spread([s * 1000 for s in seconds], "{:.1f}")


def measure(*, quick: bool) -> list[Table]:
    return [small(quick=quick), finish(quick=quick)]


if __name__ == "__main__":
    main(__doc__, measure)
