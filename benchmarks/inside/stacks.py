"""What does sampling call stacks cost?

Whole runs of a fixed amount of work, interleaved, with and without the sampling thread, which also measures
how often the interpreter's lock is held; everything else is recorded in both.
"""

from __future__ import annotations

import gc
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from dask._task_spec import Task

import taskscope
from benchmarks.harness import Table, main, spread
from benchmarks.local.truth import spin, steps_per_second, threads
from benchmarks.workloads import Workload, getter, tree
from taskscope.sources.stacks import SamplingThread

_DEEP = 60


def deep(steps: int, depth: int = _DEEP) -> None:
    """Do the same work below many calls, as in pandas."""
    if depth:
        deep(steps, depth - 1)
    else:
        spin(steps)


def multiply(repetitions: int) -> None:
    """Compute in numpy, which releases the interpreter lock."""
    square = np.ones((256, 256))
    for _ in range(repetitions):
        square @ square


def tasks(work: Callable[[int], Any], argument: int, n_tasks: int) -> dict[Any, Any]:
    return {("work", i): Task(("work", i), work, argument) for i in range(n_tasks)}


@dataclass(frozen=True, slots=True)
class Spent:
    """What one run took."""

    wall_s: float
    cpu_s: float
    sampler_s: float
    """CPU time of the sampling thread alone."""


def run_once(compute: Callable[[], object], *, sampled: bool) -> Spent:
    """Record a compute with the sampling thread, which measures the lock as well, or without it."""
    begin = SamplingThread.begin if sampled else _no_thread
    with patch.object(SamplingThread, "begin", begin), taskscope.profile(display=False):
        before_s, wall_s, cpu_s = _sampler_s(), time.perf_counter(), time.process_time()
        compute()
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        return Spent(wall_s, cpu_s, _sampler_s() - before_s)


def _no_thread(_thread: SamplingThread, _first_s: float) -> None:
    return None


def _sampler_s() -> float:
    """Return the CPU time of the sampling threads that are alive, as the kernel counts it."""
    found = [thread.native_id for thread in threading.enumerate() if thread.name == "taskscope-sampler"]
    files = [Path(f"/proc/self/task/{number}/schedstat") for number in found]
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


def cost(name: str, compute: Callable[[], object], repetitions: int) -> list[str]:
    compute()
    bare: list[Spent] = []
    sampled: list[Spent] = []
    for n in range(repetitions):
        for one in (sampled, bare) if n % 2 else (bare, sampled):
            gc.collect()
            one.append(run_once(compute, sampled=one is sampled))
    pairs = list(zip(sampled, bare, strict=True))
    return [
        name,
        str(repetitions),
        spread([one.wall_s for one in bare], "{:.2f}"),
        quartiles([one.wall_s / without.wall_s for one, without in pairs]),
        quartiles([one.cpu_s / without.cpu_s for one, without in pairs]),
        spread([100 * one.sampler_s / one.wall_s for one in sampled], "{:.1f}"),
    ]


def quartiles(values: list[float]) -> str:
    low, _, high = statistics.quantiles(values, n=4)
    return f"{statistics.median(values):.3f} ({low:.3f} to {high:.3f})"


def costs(*, quick: bool) -> Table:
    per_ms = steps_per_second() / 1000
    n = 20 if quick else 50
    four = threads(4)
    spins = tasks(spin, int(20 * per_ms), n)
    deeps = tasks(deep, int(20 * per_ms), n)
    arrays = tasks(multiply, 20, n)
    trivial: Workload = tree(10_000 if quick else 20_000)
    kinds: list[tuple[str, Callable[[], object]]] = [
        ("GIL-bound 20 ms, synchronous", lambda: getter("sync")(spins, list(spins))),
        ("GIL-bound 20 ms, 4 threads", lambda: four(spins, list(spins))),
        (f"the same {_DEEP} calls deep, 4 threads", lambda: four(deeps, list(deeps))),
        ("numpy, 4 threads", lambda: four(arrays, list(arrays))),
        ("empty tasks, synchronous", lambda: trivial.compute("sync")),
        ("empty tasks, threads", lambda: trivial.compute("threads")),
    ]
    rows = (cost(name, compute, 3 if quick else 15) for name, compute in kinds)
    columns = [
        "workload",
        "rounds",
        "without, s",
        "time with / without",
        "CPU time with / without",
        "CPU time of the sampling thread, % of a core",
    ]
    note = "Asked for: at most 2 % of a core, and no compute slower by more than 2 %."
    return Table("Cost of sampling stacks and the lock, median (quartiles)", columns, rows, note)


def measure(*, quick: bool) -> list[Table]:
    return [costs(quick=quick)]


if __name__ == "__main__":
    main(__doc__, measure)
