"""How long does the end of a large computation take, from the end of the last task?

Until the caller has the result, and until the block that watches is left as well.
"""

from __future__ import annotations

import time
from functools import partial

import dask
from dask._task_spec import Task, TaskRef

from benchmarks.harness import Table, interleaved, main
from benchmarks.local.fixed_cost import milliseconds
from benchmarks.local.variants import Variant, watched_by
from benchmarks.workloads import Workload, tree


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
    workload = with_last_task(tree(10_000 if quick else 1_000_000))
    peers: tuple[Variant, ...] = ("bare", "dask", "taskscope")
    left_s: dict[Variant, list[float]] = {variant: [] for variant in peers}
    variants = {variant: partial(stall, workload, variant, left_s[variant]) for variant in peers}
    taken = interleaved(variants, repetitions=3)
    rows = [[variant, milliseconds(taken[variant]), milliseconds(left_s[variant])] for variant in peers]
    title = f"After the end of the last of {workload.n_tasks:,} tasks, ms, median (smallest to largest)"
    return Table(title, ["watched by", "until the result", "until the block is left"], rows)


def measure(*, quick: bool) -> list[Table]:
    return [finish(quick=quick)]


if __name__ == "__main__":
    main(__doc__, measure)
