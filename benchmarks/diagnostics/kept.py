"""What the profilers of both packages hold on to when the computation is over and its graph is gone."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.diagnostics.cost import PACKAGES
from benchmarks.harness import Table, main
from benchmarks.local.retained import compute_large
from benchmarks.workloads import tree


def traced_bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def profiled(package: Any, kind: str, compute: Callable[[], object]) -> object:
    with getattr(package, kind)() as profiler:
        compute()
    return profiler


def bytes_per_task(package: Any, kind: str, n_tasks: int) -> float:
    profiled(package, kind, lambda: tree(100).compute("sync"))
    tracemalloc.start()
    before = traced_bytes()
    kept = profiled(package, kind, lambda: tree(n_tasks).compute("sync"))
    after = traced_bytes()
    tracemalloc.stop()
    assert kept is not None
    return (after - before) / n_tasks


def per_task(*, quick: bool) -> Iterator[list[str]]:
    for n_tasks in (10_000,) if quick else (10_000, 100_000):
        for kind in ("Profiler", "CacheProfiler"):
            values = [bytes_per_task(package, kind, n_tasks) for package in PACKAGES.values()]
            yield [kind, f"{n_tasks:,}", *(f"{value:,.0f}" for value in values)]


def alive(package: Any, kind: str) -> str:
    """Return which of the large arrays of a computation are still there."""
    refs: list[weakref.ref[np.ndarray[Any, Any]]] = []
    kept = profiled(package, kind, partial(compute_large, 10, refs))
    gc.collect()
    assert kept is not None
    return ", ".join("alive" if ref() is not None else "gone" for ref in refs)


def arrays() -> Iterator[list[str]]:
    for kind in ("Profiler", "CacheProfiler"):
        yield [kind, *(alive(package, kind) for package in PACKAGES.values())]


def measure(*, quick: bool) -> list[Table]:
    return [
        Table(
            "Retained by a profiler, bytes per task",
            ["diagnostic", "tasks", "dask", "taskscope"],
            per_task(quick=quick),
        ),
        Table(
            "Arrays after the computation: argument, result of a literal, result of a key",
            ["diagnostic", "dask", "taskscope"],
            arrays(),
        ),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
