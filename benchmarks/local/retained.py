"""What stays in memory when the computation is over and its graph is gone?

Bytes per recorded task, by tracemalloc, with keys that are tuples of a name and integers. Then the proof with
large arrays: one that a task got as its argument, one that it made. Both must die with the graph.
"""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import dask
import dask.threaded
import numpy as np
import psutil
from dask._task_spec import DataNode, Task, TaskRef
from dask.diagnostics import CacheProfiler, Profiler

import taskscope
from benchmarks.harness import Table, main
from benchmarks.workloads import tree
from taskscope.session import current

MEGABYTE = 1_000_000


def traced_bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def kept_by_taskscope(compute: Callable[[], object]) -> object:
    with taskscope.profile(display=False) as run:
        compute()
    current().recorder.pull(60.0)
    return run


def kept_by_dask(compute: Callable[[], object]) -> object:
    with Profiler() as profiler, CacheProfiler() as cache_profiler:
        compute()
    return profiler, cache_profiler


PEERS: dict[str, Callable[[Callable[[], object]], object]] = {
    "dask": kept_by_dask,
    "taskscope": kept_by_taskscope,
}


def bytes_per_task(n_tasks: int, watch: Callable[[Callable[[], object]], object]) -> float:
    """Return what a watcher holds on to, as long as it is referred to, for each task."""
    watch(lambda: tree(100).compute("sync"))
    tracemalloc.start()
    before = traced_bytes()
    kept = watch(lambda: tree(n_tasks).compute("sync"))
    after = traced_bytes()
    tracemalloc.stop()
    assert kept is not None
    return (after - before) / n_tasks


def per_task(*, quick: bool) -> Table:
    sizes = (10_000,) if quick else (10_000, 100_000)
    rows = [
        [f"{n:,}", name, f"{bytes_per_task(n, watch):,.0f}"] for n in sizes for name, watch in PEERS.items()
    ]
    return Table("Retained per recorded task", ["tasks", "watched by", "bytes"], rows)


def doubled(values: Any) -> Any:
    return values * 2


def compute_large(megabytes: int, refs: list[weakref.ref[Any]]) -> None:
    """Compute with large arrays, and leave only weak references to them."""
    argument = np.ones(megabytes * MEGABYTE // 8)
    graph: dict[Any, Any] = {
        ("large", 0): DataNode(("large", 0), argument),
        ("literal", 0): Task(("literal", 0), doubled, argument),
        ("double", 0): Task(("double", 0), doubled, TaskRef(("large", 0))),
    }
    results = dask.threaded.get(graph, [("literal", 0), ("double", 0)])
    refs += map(weakref.ref, [argument, *results])


def large_arrays(megabytes: int, watch: Callable[[Callable[[], object]], object]) -> list[str]:
    """Return whether argument and result are alive, and the growth of resident memory, in MB."""
    process = psutil.Process()
    gc.collect()
    before = process.memory_info().rss
    refs: list[weakref.ref[Any]] = []
    kept = watch(partial(compute_large, megabytes, refs))
    gc.collect()
    grown = (process.memory_info().rss - before) / MEGABYTE
    assert kept is not None
    states = ["alive" if ref() is not None else "gone" for ref in refs]
    return [*states, f"{grown:,.0f}"]


def measure(*, quick: bool) -> list[Table]:
    megabytes = 100 if quick else 400
    rows = [[name, *large_arrays(megabytes, watch)] for name, watch in PEERS.items()]
    columns = ["watched by", "argument", "result of a literal", "result of a key", "resident memory, MB more"]
    return [per_task(quick=quick), Table(f"Arrays of {megabytes} MB after the computation", columns, rows)]


if __name__ == "__main__":
    main(__doc__, measure)
