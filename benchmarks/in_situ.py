"""What does each hook cost, measured inside the run?

Whole runs are too noisy below a few percent. So every hook of a watcher is wrapped in two clock reads, and so
is every call of a task, which is where taskscope takes its times. The same around hooks and tasks that do
nothing is taken off. Sums over the run, per task, in µs.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import dask.local
from dask._task_spec import Task

from benchmarks.harness import Table, main
from benchmarks.variants import Variant, watched_by
from benchmarks.workloads import Scheduler, Workload, chains, tree

Hook = Callable[..., object]
HOOKS = ("start", "start_state", "pretask", "posttask", "finish")
PARTS = (*HOOKS, "task")


@dataclass(slots=True)
class Stopwatch:
    """Seconds spent in each part of a run."""

    spent_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def around(self, part: str, hook: Hook | None) -> Hook | None:
        return None if hook is None else partial(self._timed, part, hook)

    def _timed(self, part: str, hook: Hook, *arguments: object) -> object:
        start_s = time.perf_counter()
        try:
            return hook(*arguments)
        finally:
            self.spent_s[part] += time.perf_counter() - start_s

    def wrap_task(self, key: Any, dsk: dict[Any, Any], _: Mapping[str, Any]) -> None:
        """Replace a task, as the watcher left it just before it runs, by one that is timed."""
        node = dsk[key]
        if isinstance(node, Task):
            dsk[key] = _TimedCall(node, self)


class _TimedCall:
    """Stand in for a task for as long as it takes to call it."""

    def __init__(self, task: Task, stopwatch: Stopwatch) -> None:
        self._task = task
        self._stopwatch = stopwatch

    def __call__(self, *arguments: Any) -> Any:
        return self._stopwatch._timed("task", self._task, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)


@contextmanager
def timed_hooks(stopwatch: Stopwatch) -> Iterator[None]:
    """Time every hook of every compute, where dask's scheduler asks which hooks there are."""
    original = dask.local.local_callbacks

    @contextmanager
    def timed(callbacks: Any = None) -> Iterator[list[tuple[Hook | None, ...]]]:
        with original(callbacks) as active:
            watchers = [tuple(map(stopwatch.around, HOOKS, hooks)) for hooks in active]
            yield [*watchers, (None, None, stopwatch.wrap_task, None, None)]

    dask.local.local_callbacks = timed
    try:
        yield
    finally:
        dask.local.local_callbacks = original


def measured(workload: Workload, scheduler: Scheduler, variant: Variant) -> dict[str, float]:
    """Run once and return the µs per task of each part."""
    stopwatch = Stopwatch()
    with watched_by(variant), timed_hooks(stopwatch):
        workload.compute(scheduler)
    return {part: stopwatch.spent_s[part] * 1e6 / workload.n_tasks for part in PARTS}


def medians(workload: Workload, scheduler: Scheduler, variant: Variant, *, runs: int) -> dict[str, float]:
    taken = [measured(workload, scheduler, variant) for _ in range(runs)]
    return {part: statistics.median(run[part] for run in taken) for part in PARTS}


def measure(*, quick: bool) -> list[Table]:
    n_tasks = 5_000 if quick else 50_000
    rows = []
    for workload in (tree(n_tasks), chains(n_tasks // 5)):
        for scheduler in ("sync", "threads"):
            nothing = medians(workload, scheduler, "no-op", runs=3)
            for variant in ("dask", "taskscope"):
                cost = medians(workload, scheduler, variant, runs=3)
                more = {part: cost[part] - nothing[part] for part in PARTS}
                cells = [f"{more[part]:.2f}" for part in PARTS]
                rows.append([workload.name, scheduler, variant, *cells, f"{sum(more.values()):.2f}"])
    columns = ["graph", "scheduler", "watched by", *PARTS, "sum"]
    return [Table("Cost inside the run, µs per task above doing nothing", columns, rows)]


if __name__ == "__main__":
    main(__doc__, measure)
