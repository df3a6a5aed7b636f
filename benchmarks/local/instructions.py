"""How many machine instructions does watching cost the threads that compute?

A task that does nothing takes tens of µs, so what watching adds is lost in what the machine does besides.
Instructions are nearly the same each time, whatever the load: valgrind's callgrind counts them. What twice as
many tasks take more is divided by their number, so that what a run takes once falls out.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from benchmarks.harness import Table, main
from benchmarks.local.diagnostics import KINDS, PACKAGES, entered
from benchmarks.local.variants import watched_by
from benchmarks.workloads import Scheduler, Workload, chains, tree

_GRAPHS: dict[str, Callable[[int], Workload]] = {"tree": tree, "chains": chains}
_WATCHERS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    **{variant: partial(watched_by, variant) for variant in ("no-op", "dask", "taskscope")},
    **{f"{package} {kind}": partial(entered, package, kind) for kind in KINDS for package in PACKAGES},
}
_PROGRAM = (
    "import sys; from benchmarks.local.instructions import compute_counted; compute_counted(*sys.argv[1:])"
)
_N_THREADS = 2
_AT_ONCE = 2


def compute_counted(graph: str, n_tasks: str, scheduler: Scheduler, watcher: str) -> None:
    """Compute once with valgrind's counter on; run by `counted` in a process of its own."""
    workload = _GRAPHS[graph](int(n_tasks))
    workload.compute(scheduler)  # starts the pool's threads: the next ones after the main thread
    gc.collect()
    with _WATCHERS[watcher]():
        _counter("on")
        workload.compute(scheduler)
        _counter("off")


def _counter(state: str) -> None:
    subprocess.run(["callgrind_control", "-i", state, str(os.getpid())], check=True, capture_output=True)


def counted(graph: str, n_tasks: int, scheduler: Scheduler, watcher: str) -> int:
    """Return the instructions of the main thread of a run, and of the pool's threads."""
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes"]
        program = [sys.executable, "-c", _PROGRAM, graph, str(n_tasks), scheduler, watcher]
        command = [*tool, f"--callgrind-out-file={folder}/out", *program]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "DASK_NUM_WORKERS": str(_N_THREADS)}
        subprocess.run(command, check=True, capture_output=True, env=environment)
        threads = range(1, 2 + (_N_THREADS if scheduler == "threads" else 0))
        texts = [Path(folder, f"out-{number:02}").read_text() for number in threads]
    found = [re.search(r"^totals: (\d+)$", text, re.MULTILINE) for text in texts]
    return sum(int(one[1]) for one in found if one)


def per_task(
    graph: str, scheduler: Scheduler, watchers: Sequence[str], *, quick: bool
) -> tuple[str, dict[str, float]]:
    """Return the sizes of the graphs, and the instructions a task of each watcher."""
    sizes = (300, 600) if quick else (2_000, 4_000)
    runs = [(watcher, n_tasks) for watcher in watchers for n_tasks in sizes]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda run: counted(graph, run[1], scheduler, run[0]), runs)
        counts = dict(zip(runs, found, strict=True))
    small, large = (_GRAPHS[graph](n_tasks).n_tasks for n_tasks in sizes)
    of = {
        watcher: (counts[watcher, sizes[1]] - counts[watcher, sizes[0]]) / (large - small)
        for watcher in watchers
    }
    return f"{graph} of {small:,} and {large:,}", of


def everything(*, quick: bool) -> Iterator[list[str]]:
    cases: list[tuple[str, Scheduler]] = [("tree", "sync"), ("tree", "threads"), ("chains", "sync")]
    for graph, scheduler in cases:
        name, of = per_task(graph, scheduler, ("no-op", "dask", "taskscope"), quick=quick)
        dask, ours = of["dask"] - of["no-op"], of["taskscope"] - of["no-op"]
        yield [name, scheduler, *(f"{n:,.0f}" for n in (of["no-op"], dask, ours)), f"{ours / dask:.2f}"]


def each_alone(*, quick: bool) -> Iterator[list[str]]:
    watchers = [f"{package} {kind}" for kind in KINDS for package in PACKAGES]
    _, of = per_task("tree", "sync", ("no-op", *watchers), quick=quick)
    for kind in KINDS:
        dask, ours = (of[f"{package} {kind}"] - of["no-op"] for package in PACKAGES)
        yield [kind, f"{dask:,.0f}", f"{ours:,.0f}", f"{ours / dask:.2f}" if dask > 0 else "–"]


def measure(*, quick: bool) -> list[Table]:
    can_count = shutil.which("valgrind") is not None
    note = (
        f"Tasks that do nothing. With threads: the thread that schedules and {_N_THREADS} of the pool; what "
        "other threads and processes of both packages do besides is in CPU time, see `overhead`."
        if can_count
        else "Not counted: valgrind is not installed."
    )
    return [
        Table(
            "Instructions a task, all on",
            ["graph", "scheduler", "no-op", "dask, more", "taskscope, more", "taskscope / dask"],
            everything(quick=quick) if can_count else (),
            note,
        ),
        Table(
            "Instructions a task, each diagnostic alone, more than no-op",
            ["diagnostic", "dask", "taskscope", "taskscope / dask"],
            each_alone(quick=quick) if can_count else (),
        ),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
