"""Is the memory figure right, and does looking at memory disturb it?

The resident memory of a large process as recorded, beside what the kernel says in /proc. The first write to a
large array while memory is sampled, against the same without sampling: a sampler that forks makes each page
be copied. The longest gap between two samples while one call into C holds the interpreter lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal

import dask
import numpy as np
from dask._task_spec import Task
from dask.diagnostics import ResourceProfiler

import taskscope
from benchmarks.harness import Table, interleaved, main, spread

INTERVAL_S = 0.05
Peer = Literal["nothing", "dask", "taskscope"]


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a sampler has seen: when, how many bytes, how often it knew that it had missed some time."""

    times_s: Sequence[float]
    rss_bytes: Sequence[float]
    gaps_marked: int
    work_gave: float


def sampled_by(peer: Peer, work: Callable[[], float]) -> Sampled:
    graph = {"work": Task("work", work)}
    if peer == "taskscope":
        with taskscope.profile(display=False, dt=INTERVAL_S) as run:
            gave = dask.get(graph, "work")
        table = run.recording.to_pandas("resources")
        return Sampled(table["time_s"].tolist(), table["rss_bytes"].tolist(), int(table["gap"].sum()), gave)
    with ResourceProfiler(dt=INTERVAL_S) as profiler:
        gave = dask.get(graph, "work")
    samples = profiler.results
    return Sampled([s.time for s in samples], [s.mem * 1e6 for s in samples], 0, gave)


def true_rss_bytes() -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def true_rss_bytes_after_a_second() -> float:
    time.sleep(1.0)
    return true_rss_bytes()


def figure(gigabytes: float) -> Table:
    held = np.ones(int(gigabytes * 1e9 / 8))
    rows = []
    for peer in ("dask", "taskscope"):
        sampled = sampled_by(peer, true_rss_bytes_after_a_second)
        truth = sampled.work_gave
        seen = max(sampled.rss_bytes, default=float("nan"))
        rows.append([peer, f"{truth / 1e9:.3f}", f"{seen / 1e9:.3f}", f"{seen / truth - 1:+.1%}"])
    assert held[0] == 1.0
    return Table("Resident memory of one process", ["recorded by", "true, GB", "recorded, GB", "error"], rows)


def first_write_s(peer: Peer, n_bytes: int) -> float:
    """Return the seconds that the first in-place change of an array takes in a task that is being sampled."""
    values = np.ones(n_bytes // 8)

    def write() -> float:
        time.sleep(4 * INTERVAL_S)
        start_s = time.perf_counter()
        values.__iadd__(1.0)
        return time.perf_counter() - start_s

    with sampling(peer):
        seconds: float = dask.get({"write": Task("write", write)}, "write")
    return seconds


def sampling(peer: Peer) -> AbstractContextManager[object]:
    match peer:
        case "nothing":
            return ExitStack()
        case "dask":
            return ResourceProfiler(dt=INTERVAL_S)
        case "taskscope":
            return taskscope.profile(display=False, dt=INTERVAL_S)


def write_penalty(gigabytes: float, *, repetitions: int) -> Table:
    peers: tuple[Peer, ...] = ("nothing", "dask", "taskscope")
    n_bytes = int(gigabytes * 1e9)
    variants: dict[Peer, Callable[[], float]] = {
        peer: partial(first_write_s, peer, n_bytes) for peer in peers
    }
    taken = interleaved(variants, repetitions=repetitions)
    bare = taken["nothing"]
    rows = [
        [peer, spread(taken[peer]), spread([s / b for s, b in zip(taken[peer], bare, strict=True)])]
        for peer in peers
    ]
    return Table(f"First in-place write of {gigabytes} GB", ["sampled by", "s", "against not sampled"], rows)


def sum_up_to(n: int, *, wait_s: float = 0.0) -> float:
    """Return the seconds of one call into C, during which no other thread gets the interpreter lock."""
    time.sleep(wait_s)
    start_s = time.perf_counter()
    sum(range(n))
    return time.perf_counter() - start_s


def gaps() -> Table:
    rows = []
    n = int(10_000_000 / min(sum_up_to(10_000_000) for _ in range(3)))
    for peer in ("dask", "taskscope"):
        sampled = sampled_by(peer, partial(sum_up_to, n, wait_s=0.5))
        longest_s = max((b - a for a, b in pairwise(sorted(sampled.times_s))), default=float("nan"))
        rows.append(
            [
                peer,
                f"{sampled.work_gave:.3f}",
                str(len(sampled.times_s)),
                f"{longest_s:.3f}",
                f"{longest_s / INTERVAL_S:.1f}",
                str(sampled.gaps_marked),
            ]
        )
    columns = [
        "sampled by",
        "lock held, s",
        "samples",
        "longest gap, s",
        f"in intervals of {INTERVAL_S} s",
        "marked as a gap",
    ]
    note = "The call begins half a second into the computation."
    return Table("While one call into C holds the interpreter lock", columns, rows, note)


def measure(*, quick: bool) -> list[Table]:
    penalty = write_penalty(0.4 if quick else 2.0, repetitions=3 if quick else 5)
    return [figure(0.5 if quick else 4.0), penalty, gaps()]


if __name__ == "__main__":
    main(__doc__, measure)
