"""Cost of each diagnostic of both packages: per task, with a large cache, and per compute."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from io import StringIO
from typing import Any

import dask.diagnostics

from benchmarks.harness import Table, differences, interleaved, main, spread
from benchmarks.workloads import Scheduler, Workload, chains, tree
from taskscope import diagnostics

PACKAGES: dict[str, Any] = {"dask": dask.diagnostics, "taskscope": diagnostics}
KINDS = ("Profiler", "ResourceProfiler", "CacheProfiler", "ProgressBar", "all four")
DT_S = 0.25
PATIENCE_S = 60.0


def made(package: Any, kind: str) -> list[AbstractContextManager[object]]:
    """Return fresh diagnostics of one package: one of them, or all four."""
    options: dict[str, dict[str, Any]] = {
        "ResourceProfiler": {"dt": DT_S},
        "ProgressBar": {"out": StringIO()},
    }
    kinds = KINDS[:4] if kind == KINDS[4] else (kind,)
    return [getattr(package, name)(**options.get(name, {})) for name in kinds]


def timed(workload: Workload, scheduler: Scheduler, watchers: Callable[[], list[Any]]) -> float:
    """Return the seconds of the compute alone, with these entered around it."""
    with ExitStack() as stack:
        for watcher in watchers():
            stack.enter_context(watcher)
        start_s = time.perf_counter()
        workload.compute(scheduler)
        return time.perf_counter() - start_s


def per_task(workload: Workload, scheduler: Scheduler, kinds: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield a row for each kind of diagnostic."""
    for kind in kinds:
        variants: dict[str, Callable[[], float]] = {"bare": partial(timed, workload, scheduler, list)}
        for name, package in PACKAGES.items():
            variants[name] = partial(timed, workload, scheduler, partial(made, package, kind))
        seconds = interleaved(variants, repetitions=7, patience_s=PATIENCE_S)
        more = {
            name: differences(seconds[name], seconds["bare"], scale=1e6 / workload.n_tasks)
            for name in PACKAGES
        }
        share = statistics.median(more["taskscope"]) / statistics.median(more["dask"])
        rounds = str(len(seconds["bare"]))
        cells = [spread(more["dask"]), spread(more["taskscope"]), f"{share:.2f}"]
        yield [kind, workload.name, scheduler, rounds, *cells]


def overhead(*, quick: bool) -> Iterator[list[str]]:
    for n_tasks in (1_000, 10_000) if quick else (1_000, 10_000, 100_000, 1_000_000):
        workload = tree(n_tasks)
        # All of them at a million would take an hour.
        kinds = KINDS if n_tasks <= 100_000 else KINDS[4:]
        for scheduler in ("sync", "threads") if n_tasks <= 10_000 else ("sync",):
            yield from per_task(workload, scheduler, kinds)


def large_caches(*, quick: bool) -> Iterator[list[str]]:
    """Yield how long the cache profilers take on graphs that keep half of their results."""
    for n_tasks in (2_000, 4_000, 8_000) if quick else (10_000, 20_000, 40_000):
        workload = chains(n_tasks)
        variants: dict[str, Callable[[], float]] = {"bare": partial(timed, workload, "sync", list)}
        for name, package in PACKAGES.items():
            variants[name] = partial(timed, workload, "sync", partial(made, package, "CacheProfiler"))
        seconds = interleaved(variants, repetitions=3, patience_s=PATIENCE_S)
        micros = [
            spread(
                [s * 1e6 / n_tasks for s in differences(seconds[name], seconds["bare"], scale=1)], "{:.1f}"
            )
            for name in PACKAGES
        ]
        yield [f"{n_tasks:,}", *(spread(seconds[name]) for name in variants), *micros]


def registered(watchers: Callable[[], list[Any]], workload: Workload, n_computes: int) -> float:
    """Return the mean milliseconds of a compute while these are registered."""
    active = watchers()
    for watcher in active:
        watcher.register()
    try:
        start_s = time.perf_counter()
        for _ in range(n_computes):
            workload.compute("sync")
        return (time.perf_counter() - start_s) * 1e3 / n_computes
    finally:
        for watcher in active:
            watcher.unregister()


def per_compute(*, quick: bool) -> Iterator[list[str]]:
    """Yield the fixed cost of a compute of 50 tasks that do nothing."""
    workload = tree(50)
    for kind in ("ProgressBar", "ResourceProfiler", "Profiler", "CacheProfiler", "all four"):
        variants: dict[str, Callable[[], float]] = {"bare": partial(registered, list, workload, 5)}
        for name, package in PACKAGES.items():
            variants[name] = partial(registered, partial(made, package, kind), workload, 5)
        taken = interleaved(variants, repetitions=3 if quick else 10, patience_s=PATIENCE_S)
        yield [kind, str(len(taken["bare"])), *(spread(taken[name]) for name in variants)]


def measure(*, quick: bool) -> list[Table]:
    return [
        Table(
            "Cost of each diagnostic, µs per task above nothing, median (smallest to largest)",
            ["diagnostic", "graph", "scheduler", "rounds", "dask", "taskscope", "taskscope / dask"],
            overhead(quick=quick),
            "Dask's bar and resource profiler wait for their thread or process at the end: below 10,000 "
            "tasks that is most of their cost.",
        ),
        Table(
            "CacheProfiler, half of all results kept, seconds and µs per task above nothing",
            ["tasks", "bare, s", "dask, s", "taskscope, s", "dask, µs/task", "taskscope, µs/task"],
            large_caches(quick=quick),
        ),
        Table(
            "A compute of 50 tasks with a registered diagnostic, ms",
            ["diagnostic", "rounds of 5", "bare", "dask", "taskscope"],
            per_compute(quick=quick),
        ),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
