"""Are the recorded times true?

Every task reads the clock itself when it starts and when it stops, and returns both. Beside that we lay
what taskscope and `dask.diagnostics.Profiler` recorded about the same run. 1.00 is the truth.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dask.multiprocessing
import dask.threaded
import numpy as np
from dask._task_spec import Task
from dask.diagnostics import Profiler

import taskscope
from benchmarks.harness import Table, main
from taskscope.session import current

Span = tuple[float, float]
TOUCHING_S = 1e-9  # what float64 keeps of a time since boot


@dataclass(frozen=True, slots=True)
class Recorded:
    """One bar: which task, in which lane, from when to when on the ``perf_counter`` axis."""

    key: str
    lane: object
    start_s: float
    stop_s: float


def spin(steps: int) -> Span:
    """Hold the interpreter lock for a fixed amount of work."""
    start_s = time.perf_counter()
    for _ in range(steps):
        pass
    return start_s, time.perf_counter()


def sleep(seconds: float) -> Span:
    start_s = time.perf_counter()
    time.sleep(seconds)
    return start_s, time.perf_counter()


def multiply(size: int) -> Span:
    """Compute in numpy, which releases the interpreter lock."""
    start_s = time.perf_counter()
    square = np.ones((size, size))
    square @ square
    return start_s, time.perf_counter()


def steps_per_second() -> float:
    start_s, stop_s = min((spin(1_000_000) for _ in range(5)), key=lambda span: span[1] - span[0])
    return 1_000_000 / (stop_s - start_s)


def graph(work: Callable[[Any], Span], argument: float, n_tasks: int) -> dict[Any, Any]:
    return {("work", i): Task(("work", i), work, argument) for i in range(n_tasks)}


def seen_by_taskscope(get: Callable[..., Any], dsk: dict[Any, Any]) -> tuple[dict[str, Span], list[Recorded]]:
    with taskscope.profile(display=False) as run:
        spans = get(dsk, list(dsk))
    tasks = run.recording.to_pandas("tasks")
    origin_s = current().recorder.origin + run.recording.zero_s
    columns = zip(tasks["key"], tasks["lane"], tasks["start_s"], tasks["stop_s"], strict=True)
    recorded = [Recorded(key, lane, start + origin_s, stop + origin_s) for key, lane, start, stop in columns]
    return dict(zip(map(str, dsk), spans, strict=True)), recorded


def seen_by_dask(get: Callable[..., Any], dsk: dict[Any, Any]) -> tuple[dict[str, Span], list[Recorded]]:
    with Profiler() as profiler:
        spans = get(dsk, list(dsk))
    recorded = [Recorded(str(t.key), t.worker_id, t.start_time, t.end_time) for t in profiler.results]
    return dict(zip(map(str, dsk), spans, strict=True)), recorded


def overlaps(recorded: Iterable[Recorded]) -> int:
    """Count the bars that start before the one to their left in the same lane has stopped."""
    lanes: defaultdict[object, list[Recorded]] = defaultdict(list)
    for bar in recorded:
        lanes[bar.lane].append(bar)
    ordered = (sorted(lane, key=lambda bar: bar.start_s) for lane in lanes.values())
    return sum(b.start_s < a.stop_s - TOUCHING_S for lane in ordered for a, b in pairwise(lane))


def compared(truth: dict[str, Span], recorded: Sequence[Recorded]) -> list[str]:
    """Return recorded/expected tasks, ratio of summed durations, p99 of edge errors, overlaps."""
    seen_s = sum(bar.stop_s - bar.start_s for bar in recorded)
    ratio = seen_s / sum(stop - start for start, stop in truth.values())
    edges = [
        abs(seen - true)
        for bar in recorded
        for seen, true in zip((bar.start_s, bar.stop_s), truth[bar.key], strict=True)
    ]
    p99_ms = float(np.quantile(edges, 0.99)) * 1000
    return [f"{len(recorded)}/{len(truth)}", f"{ratio:.3f}", f"{p99_ms:.3f}", str(overlaps(recorded))]


def threads(n_workers: int) -> Callable[..., Any]:
    return lambda dsk, keys: dask.threaded.get(dsk, keys, num_workers=n_workers)


def processes(n_workers: int) -> Callable[..., Any]:
    return lambda dsk, keys: dask.multiprocessing.get(dsk, keys, num_workers=n_workers)


def measure(*, quick: bool) -> list[Table]:
    per_second = steps_per_second()
    share = 4 if quick else 1
    kinds: list[tuple[str, Callable[[Any], Span], float, int]] = [
        ("GIL-bound 0.1 ms", spin, int(per_second * 0.0001), 3000 // share),
        ("GIL-bound 1 ms", spin, int(per_second * 0.001), 1000 // share),
        ("GIL-bound 10 ms", spin, int(per_second * 0.01), 200 // share),
        ("sleeping 5 ms", sleep, 0.005, 1000 // share),
        ("numpy, about 1 ms", multiply, 256, 1000 // share),
    ]
    runs = [
        (f"{name}, {n_threads} threads", threads(n_threads), graph(work, argument, n_tasks))
        for name, work, argument, n_tasks in kinds
        for n_threads in (4, 8)
    ]
    runs += [("GIL-bound 50 ms, 2 processes", processes(2), graph(spin, int(per_second * 0.05), 80 // share))]
    rows = []
    for name, get, dsk in runs:
        for peer, seen in (("taskscope", seen_by_taskscope), ("dask", seen_by_dask)):
            rows.append([name, peer, *compared(*seen(get, dsk))])
    columns = [
        "workload",
        "recorded by",
        "tasks",
        "durations / true",
        "p99 edge error, ms",
        "overlapping bars",
    ]
    return [Table("Recorded against true times", columns, rows)]


if __name__ == "__main__":
    main(__doc__, measure)
