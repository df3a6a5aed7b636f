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
from typing import Any, Literal

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
    """What a sampler has seen: when, and how many bytes."""

    times_s: Sequence[float]
    rss_bytes: Sequence[float]


def sampled_by(peer: Peer, work: Callable[[], object]) -> Sampled:
    graph = {"work": Task("work", work)}
    if peer == "taskscope":
        with taskscope.profile(display=False, dt=INTERVAL_S) as run:
            dask.get(graph, "work")
        table = run.recording.to_pandas("resources")
        return Sampled(table["time_s"].tolist(), table["rss_bytes"].tolist())
    with ResourceProfiler(dt=INTERVAL_S) as profiler:
        dask.get(graph, "work")
    return Sampled([s.time for s in profiler.results], [s.mem * 1e6 for s in profiler.results])


def true_rss_bytes() -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def figure(gigabytes: float) -> Table:
    held = np.ones(int(gigabytes * 1e9 / 8))
    rows = []
    for peer in ("dask", "taskscope"):
        sampled = sampled_by(peer, lambda: time.sleep(1.0))
        truth = true_rss_bytes()
        seen = max(sampled.rss_bytes, default=float("nan"))
        rows.append([peer, f"{truth / 1e9:.3f}", f"{seen / 1e9:.3f}", f"{seen / truth - 1:+.1%}"])
    assert held[0] == 1.0
    return Table("Resident memory of one process", ["recorded by", "true, GB", "recorded, GB", "error"], rows)


def first_write_s(peer: Peer, n_bytes: int) -> float:
    """Return the seconds that the first in-place change of an array takes while sampling is on."""
    values = np.ones(n_bytes // 8)
    with sampling(peer):
        dask.get({"wait": Task("wait", time.sleep, 4 * INTERVAL_S)}, "wait")
        start_s = time.perf_counter()
        values += 1.0
        return time.perf_counter() - start_s


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


def hold_the_lock(seconds: float) -> Callable[[], Any]:
    """Return one call into C that holds the interpreter lock for about this long."""
    start_s = time.perf_counter()
    sum(range(3_000_000))
    per_second = 3_000_000 / (time.perf_counter() - start_s)
    return lambda: sum(range(int(seconds * per_second)))


def gaps() -> Table:
    rows = []
    for peer in ("dask", "taskscope"):
        times_s = sorted(sampled_by(peer, hold_the_lock(1.0)).times_s)
        longest_s = max((b - a for a, b in pairwise(times_s)), default=float("nan"))
        rows.append([peer, str(len(times_s)), f"{longest_s:.3f}", f"{longest_s / INTERVAL_S:.1f}"])
    columns = ["sampled by", "samples", "longest gap, s", f"in intervals of {INTERVAL_S} s"]
    return Table("While one call into C holds the interpreter lock for 1 s", columns, rows)


def measure(*, quick: bool) -> list[Table]:
    penalty = write_penalty(0.4 if quick else 2.0, repetitions=3 if quick else 5)
    return [figure(0.5 if quick else 4.0), penalty, gaps()]


if __name__ == "__main__":
    main(__doc__, measure)
