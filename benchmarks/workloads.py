"""The graphs that are computed, and how."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal

import dask
import dask.array as da
import dask.threaded
from dask._task_spec import Task, TaskRef
from dask.core import flatten

Scheduler = Literal["sync", "threads"]
Graph = dict[Any, Any]
FAN_IN = 16


@dataclass(frozen=True, slots=True)
class Workload:
    """A graph, the keys that are wanted of it, and the number of tasks."""

    name: str
    graph: Graph
    wanted: list[Any]

    @property
    def n_tasks(self) -> int:
        return sum(isinstance(node, Task) for node in self.graph.values())

    def compute(self, scheduler: Scheduler) -> object:
        return getter(scheduler)(self.graph, self.wanted)


def getter(scheduler: Scheduler) -> Callable[..., Any]:
    return dask.get if scheduler == "sync" else dask.threaded.get


def increment(number: int) -> int:
    return number + 1


def total(*numbers: int) -> int:
    return sum(numbers)


def tree(n_tasks: int) -> Workload:
    """Leaves that do nothing, summed sixteen at a time down to one."""
    width = n_tasks * (FAN_IN - 1) // FAN_IN
    level = [("leaf", i) for i in range(width)]
    graph: Graph = {key: Task(key, increment, i) for i, key in enumerate(level)}
    depth = 0
    while len(level) > 1:
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        depth += 1
        level = [(f"sum{depth}", i) for i in range(len(groups))]
        graph |= {
            key: Task(key, total, *map(TaskRef, group)) for key, group in zip(level, groups, strict=True)
        }
    return Workload(f"tree of {n_tasks:,}", graph, level)


def chains(n_tasks: int) -> Workload:
    """Pairs x -> y with every y kept, so the scheduler's cache grows to half the graph."""
    graph: Graph = {}
    for i in range(n_tasks // 2):
        graph["x", i] = Task(("x", i), increment, i)
        graph["y", i] = Task(("y", i), operator.neg, TaskRef(("x", i)))
    return Workload(
        f"{n_tasks // 2:,} chains x to y, all y kept", graph, [("y", i) for i in range(n_tasks // 2)]
    )


def rechunk_matmul(blocks: int) -> Workload:
    """Rechunk a square array and multiply it with its transpose: wide, with many dependents."""
    size = blocks * 4
    rows = da.ones((size, size), chunks=(4, size)).rechunk((size, 4))
    return collected(f"rechunk + matmul, {blocks} blocks", rows.rechunk((4, 4)) @ rows.T.rechunk((4, 4)))


def qr(n_rows: int) -> Workload:
    """The QR factorisation of dask's own documentation."""
    a = da.random.default_rng(1).random((n_rows, 1000), chunks=(1000, 1000))
    q, r = da.linalg.qr(a)
    return collected(f"QR of {n_rows:,} x 1,000", q.dot(r))


def collected(name: str, collection: Any) -> Workload:
    (optimised,) = dask.optimize(collection)
    keys: list[Hashable] = list(flatten(optimised.__dask_keys__()))
    return Workload(name, dict(optimised.__dask_graph__()), keys)
