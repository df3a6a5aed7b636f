"""Are the sampled shares of a short task's functions true, whatever runs it?

Tasks call two functions, the first for 30 % of their CPU time, and read the clock around each. The profile's
share of the first is compared with that, in tasks of pure Python, which hold the interpreter's lock, and of
NumPy, which releases it.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
import numpy as np
from dask import delayed

import taskscope
from benchmarks.harness import Table, main
from benchmarks.inside.lines import Compute, cluster, held, processes, threads
from taskscope.analysis.calls import CallNode

_FIRST = 0.3
_LENGTHS_MS = (2, 5, 12, 24, 50)
_SQUARE = np.ones((96, 96))


def multiplied(computing_s: float) -> tuple[float, float]:
    """Multiply matrices for a time of this thread's CPU; return when that was."""
    start_s, until_s = time.perf_counter(), time.thread_time() + computing_s
    while time.thread_time() < until_s:
        _SQUARE @ _SQUARE
    return start_s, time.perf_counter()


def first(work: Callable[[float], tuple[float, float]], seconds: float) -> tuple[float, float]:
    return work(seconds)


def second(work: Callable[[float], tuple[float, float]], seconds: float) -> tuple[float, float]:
    return work(seconds)


def timed(work: Callable[[float], tuple[float, float]], seconds: float, _: int) -> tuple[float, float]:
    """Call two functions; return how long each took."""
    a, b = first(work, _FIRST * seconds), second(work, (1 - _FIRST) * seconds)
    return a[1] - a[0], b[1] - b[0]


@contextmanager
def synchronous() -> Iterator[Compute]:
    yield lambda tasks: dask.compute(*tasks, scheduler="synchronous")


PLACES: dict[str, tuple[Callable[[], Any], int]] = {
    "synchronous": (synchronous, 1),
    "1 thread": (lambda: threads(1), 1),
    "2 threads": (lambda: threads(2), 2),
    "4 threads": (lambda: threads(4), 2),
    "2 processes": (lambda: processes(2), 2),
    "cluster, 1 worker with 1 thread": (lambda: cluster(1, 1), 1),
    "cluster, 1 worker with 2 threads": (lambda: cluster(1, 2), 2),
    "cluster, 1 worker with 4 threads": (lambda: cluster(1, 4), 2),
}
"""How each is opened, and how many cores it can use."""


def seconds_in(nodes: Iterable[CallNode], name: str) -> float:
    """Return the seconds of the calls of a function."""
    return sum(
        node.seconds if node.name.rpartition(".")[2] == name else seconds_in(node.children, name)
        for node in nodes
    )


def error(compute: Compute, work: Any, task_s: float, cpu_s: float) -> tuple[float, int]:
    """Return by how many points the first function's share is off, and the number of samples."""
    n_tasks = max(round(cpu_s / task_s), 4)
    with taskscope.profile(display=False) as run:
        spent = compute([delayed(timed, pure=False)(work, task_s, n) for n in range(n_tasks)])
    true = sum(a for a, _ in spent) / sum(a + b for a, b in spent)
    profile = run.recording.profile()
    a_s, b_s = (seconds_in(profile.root.children, name) for name in ("first", "second"))
    return (100 * (a_s / (a_s + b_s) - true) if a_s + b_s else math.nan), profile.n_samples


def row(place: str, kind: str, compute: Compute, work: Any, cpu_s: float, rounds: int) -> list[str]:
    cells, n_samples = [], []
    for length_ms in _LENGTHS_MS:
        found = [error(compute, work, length_ms / 1000, cpu_s) for _ in range(rounds)]
        off = [points for points, _ in found]
        cells.append(f"{statistics.mean(off):+.1f} ({min(off):+.1f} to {max(off):+.1f})")
        n_samples += [n for _, n in found]
    return [place, kind, str(rounds), *cells, f"{statistics.median(n_samples):.0f}"]


def rows(*, quick: bool) -> Iterator[list[str]]:
    held_s, free_s, rounds = (1.0, 1.0, 1) if quick else (2.25, 0.75, 2)
    for place, (opened, n_cores) in PLACES.items():
        with opened() as compute:
            # Where tasks hold the interpreter's lock, samples are fewer.
            yield row(place, "pure Python", compute, held, held_s, rounds)
            yield row(place, "NumPy", compute, multiplied, free_s * n_cores, rounds)


def measure(*, quick: bool) -> list[Table]:
    columns = ["where", "tasks", "rounds", *(f"{ms} ms" for ms in _LENGTHS_MS), "samples of a round"]
    note = (
        "Asked for: at most 3 points, for tasks of each length in CPU time. A round of 200 samples is 3 "
        "points off by chance, one of 400 is 2. The machine should be quiet."
    )
    title = "Error of the first function's share in points: mean of the rounds (smallest to largest)"
    return [Table(title, columns, rows(quick=quick), note)]


if __name__ == "__main__":
    main(__doc__, measure)
