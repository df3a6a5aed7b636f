"""What does each of `taskscope.diagnostics` cost alone, beside the same class of ``dask.diagnostics``?

The same graph, in turn without anything and with each: CPU time of the process, and time that passed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from io import StringIO
from typing import Any

import dask.diagnostics

from benchmarks.harness import Table, differences, interleaved, main, quartiles
from benchmarks.local.variants import Spent, spent
from benchmarks.workloads import Scheduler, tree
from taskscope import diagnostics

PACKAGES: dict[str, Any] = {"dask": dask.diagnostics, "taskscope": diagnostics}
KINDS = ("Profiler", "CacheProfiler", "ResourceProfiler", "ProgressBar")
_OPTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "ResourceProfiler": lambda: {"dt": 0.25},
    "ProgressBar": lambda: {"out": StringIO()},
}


def entered(package: str, kind: str) -> ExitStack:
    """Return a context that is watched by a fresh diagnostic of one package."""
    stack = ExitStack()
    stack.enter_context(getattr(PACKAGES[package], kind)(**_OPTIONS.get(kind, dict)()))
    return stack


def rows(*, quick: bool) -> Iterator[list[str]]:
    workload = tree(2_000 if quick else 10_000)
    schedulers: tuple[Scheduler, ...] = ("sync", "threads")
    for scheduler in schedulers:
        workload.compute(scheduler)  # unmeasured: the first run pays for pages and imports
        contexts: dict[tuple[str, str], Callable[[], Any]] = {("", "bare"): ExitStack}
        for kind in KINDS:
            contexts |= {(kind, package): partial(entered, package, kind) for package in PACKAGES}
        runs: dict[Any, Callable[[], Spent]] = {
            name: partial(spent, workload, scheduler, context) for name, context in contexts.items()
        }
        taken = interleaved(runs, repetitions=3 if quick else 15)
        bare = taken["", "bare"]
        for kind in KINDS:
            cells, of = [], []
            for clock in ("cpu_s", "wall_s"):
                for package in PACKAGES:
                    seconds = [getattr(one, clock) for one in taken[kind, package]]
                    without = [getattr(one, clock) for one in bare]
                    more = differences(seconds, without, scale=1e6 / workload.n_tasks)
                    of.append(statistics.median(more))
                    cells.append(quartiles(more))
            ratios = [f"{ours / theirs:.2f}" if theirs > 0 else "–" for theirs, ours in (of[:2], of[2:])]
            yield [kind, scheduler, str(len(bare)), *cells[:2], ratios[0], *cells[2:], ratios[1]]


def measure(*, quick: bool) -> list[Table]:
    columns = ["diagnostic", "scheduler", "rounds"]
    for clock in ("CPU", "passed"):
        columns += [f"dask, {clock}", f"taskscope, {clock}", f"taskscope / dask, {clock}"]
    return [
        Table(
            f"Each diagnostic alone on a tree of {2_000 if quick else 10_000:,} tasks, µs a task above bare",
            columns,
            rows(quick=quick),
            "Dask's bar and resource profiler wait for their thread or process at the end, which takes time "
            "but little CPU; what dask's resource profiler takes in its own process is in neither.",
        )
    ]


if __name__ == "__main__":
    main(__doc__, measure)
