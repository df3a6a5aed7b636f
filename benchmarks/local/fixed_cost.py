"""What does watching cost when there is little to watch: a computation of 50 tasks that do nothing?

Everything is on in both packages. Either it is entered for that one computation, or it was on already, as
after ``%load_ext``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial

from dask.diagnostics import ResourceProfiler

import taskscope
from benchmarks.harness import Table, differences, interleaved, main, quartiles
from benchmarks.local.variants import watched_by_dask
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
        taken = interleaved(variants, repetitions=5 if quick else 25)
        more = differences(taken["taskscope"], taken["bare"], scale=1e3)
        of_each = (quartiles([s * 1e3 for s in seconds], "{:.1f}") for seconds in taken.values())
        rows.append([name, str(len(more)), *of_each, quartiles(more, "{:.1f}")])
    columns = ["watching", "rounds", *contexts, "taskscope, above bare"]
    return Table("50 tasks, everything on, ms, median (quartiles)", columns, rows)


def measure(*, quick: bool) -> list[Table]:
    return [small(quick=quick)]


if __name__ == "__main__":
    main(__doc__, measure)
