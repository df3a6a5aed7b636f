"""What does watching cost per task, and does the cost grow with the graph?

Whole runs, interleaved: without anything, with a callback that does nothing, with dask's Profiler +
CacheProfiler + ProgressBar, with taskscope. Cost is the time above the no-op run of the same round, per task;
the whole-run ratio is against the bare run. Garbage collection is on, as it is for users.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

from dask._task_spec import Task

from benchmarks.harness import Table, differences, interleaved, main, spread
from benchmarks.local.variants import VARIANTS, Variant, watched_by
from benchmarks.workloads import Scheduler, Workload, chains, qr, rechunk_matmul, tree

_PATIENCE_S = 20.0
TITLE = "Cost of watching, median (smallest to largest)"
NOTE = "Dask's bar waits up to 100 ms for its own thread: below 10,000 tasks that is most of dask's figure."
COLUMNS = [
    "graph", "tasks", "scheduler", "rounds", "bare, µs/task", "dask, µs/task more", "taskscope, µs/task more",
    "taskscope / dask", "whole run / bare",
]  # fmt: skip


def busy(seconds: float) -> None:
    until_s = time.perf_counter() + seconds
    while time.perf_counter() < until_s:
        pass


def busy_tasks(n_tasks: int) -> Workload:
    graph = {("busy", i): Task(("busy", i), busy, 0.0001) for i in range(n_tasks)}
    return Workload("100 µs tasks", graph, list(graph))


def timed(workload: Workload, scheduler: Scheduler, variant: Variant) -> float:
    """Return the seconds that the computation alone took; entering and leaving is fixed cost."""
    with watched_by(variant):
        start_s = time.perf_counter()
        workload.compute(scheduler)
        return time.perf_counter() - start_s


def compared(workload: Workload, scheduler: Scheduler, *, repetitions: int) -> list[str]:
    """Return one row of the table."""
    workload.compute(scheduler)  # unmeasured: the first run pays for pages and imports
    variants = {variant: partial(timed, workload, scheduler, variant) for variant in VARIANTS}
    seconds = interleaved(variants, repetitions=repetitions, patience_s=_PATIENCE_S)
    n_tasks = workload.n_tasks
    more = {
        variant: differences(seconds[variant], seconds["no-op"], scale=1e6 / n_tasks)
        for variant in ("dask", "taskscope")
    }
    share = statistics.median(more["taskscope"]) / statistics.median(more["dask"])
    whole = [ours / bare for ours, bare in zip(seconds["taskscope"], seconds["bare"], strict=True)]
    return [
        workload.name,
        f"{n_tasks:,}",
        scheduler,
        str(len(whole)),
        spread([s * 1e6 / n_tasks for s in seconds["bare"]], "{:.1f}"),
        spread(more["dask"]),
        spread(more["taskscope"]),
        f"{share:.2f}",
        spread(whole),
    ]


def suite(*, quick: bool) -> list[tuple[Callable[[], Workload], tuple[Scheduler, ...]]]:
    """Return how to make each workload, and with which schedulers to run it."""
    both: tuple[Scheduler, ...] = ("sync", "threads")
    if quick:
        return [
            (partial(tree, 5_000), both),
            (partial(chains, 2_000), ("sync",)),
            (partial(busy_tasks, 1_000), both),
        ]
    return [
        *((partial(tree, n), both) for n in (1_000, 10_000, 100_000)),
        *((partial(chains, n), both) for n in (2_000, 8_000, 32_000)),
        (partial(rechunk_matmul, 24), both),
        (partial(qr, 10_000), both),
        (partial(busy_tasks, 10_000), both),
    ]


def rows(*, quick: bool) -> Iterator[list[str]]:
    """Yield a row per graph and scheduler, as soon as it was measured."""
    for make, schedulers in suite(quick=quick):
        workload = make()
        for scheduler in schedulers:
            yield compared(workload, scheduler, repetitions=3 if quick else 11)


def measure(*, quick: bool) -> list[Table]:
    return [Table(TITLE, COLUMNS, rows(quick=quick), NOTE)]


if __name__ == "__main__":
    main(__doc__, measure)
