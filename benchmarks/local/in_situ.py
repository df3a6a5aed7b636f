"""What does watching cost the process that computes?

A task that does nothing takes tens of µs, so what watching adds to a run is lost in what the machine does
besides: medians of whole runs tell nothing below a few percent. So the first table has the CPU time of the
process, of whole runs with everything in them, the least of many interleaved rounds; the second counts the
machine instructions of the thread that computes, which are nearly the same each time.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.harness import Table, interleaved, main
from benchmarks.local.variants import VARIANTS, Variant, watched_by
from benchmarks.workloads import Scheduler, Workload, chains, tree

_PATIENCE_S = 120.0
_ROUNDS = 12
_GRAPHS: dict[str, Callable[[int], Workload]] = {"tree": tree, "chains": chains}
_PROGRAM = "import sys; from benchmarks.local.in_situ import compute_counted; compute_counted(*sys.argv[1:])"
_COLUMNS = [*VARIANTS[:2], *(f"{variant}, more than no-op" for variant in VARIANTS[2:])]


def cpu_s(workload: Workload, scheduler: Scheduler, variant: Variant) -> float:
    """Return the CPU time of all threads of this process while the graph is computed."""
    with watched_by(variant):
        start_s = time.process_time()
        workload.compute(scheduler)
        return time.process_time() - start_s


def least(workload: Workload, scheduler: Scheduler, *, rounds: int) -> tuple[int, dict[Variant, float]]:
    """Return the number of rounds, and the least µs of CPU time a task of each variant."""
    workload.compute(scheduler)  # unmeasured: the first run pays for pages and imports
    runs = {variant: partial(cpu_s, workload, scheduler, variant) for variant in VARIANTS}
    taken = interleaved(runs, repetitions=rounds, patience_s=_PATIENCE_S)
    scale = 1e6 / workload.n_tasks
    return len(taken["bare"]), {variant: min(times) * scale for variant, times in taken.items()}


def cells(of: dict[Variant, float], form: str) -> list[str]:
    """Return the bare and the no-op run as they are, and of the others what is above the no-op one."""
    more = (of[variant] - of["no-op"] for variant in VARIANTS[2:])
    return [form.format(value) for value in (of["bare"], of["no-op"], *more)]


def times(*, quick: bool) -> Iterator[list[str]]:
    n_tasks = 2_000 if quick else 20_000
    for workload in (tree(n_tasks), chains(n_tasks // 5)):
        schedulers: tuple[Scheduler, ...] = ("sync", "threads")
        for scheduler in schedulers:
            rounds, of = least(workload, scheduler, rounds=_ROUNDS)
            yield [workload.name, scheduler, str(rounds), *cells(of, "{:.2f}")]


# ------------------------------------------------------------------ instructions


def compute_counted(graph: str, n_tasks: str, variant: Variant) -> None:
    """Compute once with valgrind's counter on; run by `counted` in a process of its own."""
    workload = _GRAPHS[graph](int(n_tasks))
    workload.compute("sync")
    gc.collect()
    with watched_by(variant):
        _counter("on")
        workload.compute("sync")
        _counter("off")


def _counter(state: str) -> None:
    subprocess.run(["callgrind_control", "-i", state, str(os.getpid())], check=True, capture_output=True)


def counted(graph: str, n_tasks: int, variant: Variant) -> int:
    """Return the instructions of the main thread of a run."""
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes"]
        program = [sys.executable, "-c", _PROGRAM, graph, str(n_tasks), variant]
        command = [*tool, f"--callgrind-out-file={folder}/out", *program]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "0"})
        found = re.search(r"^totals: (\d+)$", Path(folder, "out-01").read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"valgrind wrote no totals for {graph} of {n_tasks} tasks watched by {variant}")
    return int(found[1])


def instructions(*, quick: bool) -> Iterator[list[str]]:
    """Yield instructions a task: what twice the tasks take more, so that what a run takes once falls out."""
    n_tasks = 500 if quick else 2_000
    for graph, make in _GRAPHS.items():
        sizes = make(n_tasks).n_tasks, make(2 * n_tasks).n_tasks
        of = {
            variant: (counted(graph, 2 * n_tasks, variant) - counted(graph, n_tasks, variant))
            / (sizes[1] - sizes[0])
            for variant in VARIANTS
        }
        yield [f"{graph} of {sizes[0]:,} and {sizes[1]:,}", *cells(of, "{:,.0f}")]


def measure(*, quick: bool) -> list[Table]:
    note = (
        "dask: Profiler, CacheProfiler and ProgressBar; taskscope: `profile(display=False)`. All threads of "
        "the process count; entering and leaving the block does not, nor does taskscope's helper process."
    )
    title = "CPU time, µs a task, least of the rounds"
    found = [Table(title, ["graph", "scheduler", "rounds", *_COLUMNS], times(quick=quick), note)]
    can_count = shutil.which("valgrind") is not None
    rows = instructions(quick=quick) if can_count else iter(())
    note = (
        "valgrind's callgrind, synchronous scheduler, in the thread that computes: what twice as many tasks "
        "take more, divided by their number."
        if can_count
        else "Not counted: valgrind is not installed."
    )
    return [*found, Table("Instructions a task", ["graph", *_COLUMNS], rows, note)]


if __name__ == "__main__":
    main(__doc__, measure)
