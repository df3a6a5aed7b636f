"""Are the sampled lines of tasks true, on threads, processes and a cluster?

Tasks call two functions and read the clock around each. Beside that stand the shares of the sampled lines,
how far they should be off by chance, and lines' seconds over the tasks' measured time.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from typing import Any, TypeAlias

import dask
from dask import delayed
from distributed import Client, LocalCluster

import taskscope
from benchmarks.harness import Table, main, spread

Compute: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]


def first(spinning_s: float) -> tuple[float, float]:
    return held(spinning_s)


def second(spinning_s: float) -> tuple[float, float]:
    return held(spinning_s)


def held(spinning_s: float) -> tuple[float, float]:
    """Compute for a time of this thread's CPU; return when that was."""
    start_s, until_s = time.perf_counter(), time.thread_time() + spinning_s
    while time.thread_time() < until_s:
        pass
    return start_s, time.perf_counter()


def timed(seconds: tuple[float, float], _: int) -> tuple[float, float]:
    """Call two functions; return how long each took."""
    a, b = first(seconds[0]), second(seconds[1])
    return a[1] - a[0], b[1] - b[0]


@contextmanager
def threads(n: int) -> Iterator[Compute]:
    yield lambda tasks: dask.compute(*tasks, scheduler="threads", num_workers=n)


@contextmanager
def processes(n: int) -> Iterator[Compute]:
    with ProcessPoolExecutor(n, mp_context=get_context("spawn")) as pool:
        yield lambda tasks: dask.compute(*tasks, scheduler="processes", pool=pool)


@contextmanager
def cluster(n_workers: int, n_threads: int) -> Iterator[Compute]:
    with ExitStack() as stack:
        made = LocalCluster(n_workers=n_workers, threads_per_worker=n_threads, dashboard_address=":0")
        client = stack.enter_context(Client(stack.enter_context(made)))
        yield lambda tasks: client.gather(client.compute(list(tasks)))


PLACES: dict[str, Callable[[], Any]] = {
    "1 thread": lambda: threads(1),
    "4 threads": lambda: threads(4),
    "2 processes": lambda: processes(2),
    "cluster, 2 workers with 1 thread": lambda: cluster(2, 1),
    "cluster, 1 worker with 2 threads": lambda: cluster(1, 2),
}


def truth(place: str, compute: Compute, seconds: tuple[float, float], n_tasks: int, rounds: int) -> list[str]:
    off: list[float] = []
    expected: list[float] = []
    sums: list[float] = []
    n_samples: list[float] = []
    for _ in range(rounds):
        with taskscope.profile(display=False, lines=True) as run:
            spent = compute([delayed(timed, pure=False)(seconds, n) for n in range(n_tasks)])
        true = sum(a for a, _ in spent) / sum(a + b for a, b in spent)
        lines, tasks = run.recording.lines(), run.recording.tasks
        seen = {each.function.name: each.seconds for each in lines.functions}
        both_s = seen.get("first", 0.0) + seen.get("second", 0.0)
        off.append(100 * (seen.get("first", 0.0) / both_s - true) if both_s else math.nan)
        expected.append(100 * math.sqrt(true * (1 - true) / max(lines.n_samples, 1)))
        sums.append(lines.seconds / float((tasks.stop - tasks.start).sum()))
        n_samples.append(lines.n_samples)
    error = statistics.stdev(off) / math.sqrt(rounds) if rounds > 1 else math.nan
    return [
        place,
        f"{1000 * seconds[0]:g} + {1000 * seconds[1]:g} ms",
        str(rounds),
        spread(n_samples, "{:.0f}"),
        spread(sums, "{:.3f}"),
        f"{statistics.mean(off):+.2f} ± {error:.2f}",
        spread(expected, "{:.1f}"),
    ]


def truths(*, quick: bool) -> Table:
    def rows() -> Iterator[list[str]]:
        for place, opened in PLACES.items():
            with opened() as compute:
                for seconds, n_tasks in (((0.005, 0.015), 200), ((0.06, 0.02), 50)):
                    yield truth(place, compute, seconds, n_tasks // (4 if quick else 1), 2)

    columns = [
        "where",
        "first + second function",
        "rounds",
        "samples",
        "lines' seconds / tasks' measured time",
        "mean error of the first's share, points",
        "of one run by chance",
    ]
    return Table("Lines against what the tasks measured", columns, rows())


def measure(*, quick: bool) -> list[Table]:
    return [truths(quick=quick)]


if __name__ == "__main__":
    main(__doc__, measure)
