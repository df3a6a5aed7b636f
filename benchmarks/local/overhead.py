"""What does watching cost per task, does that grow with the graph, and how long does the end take?

Whole runs in turn: without anything, with a callback that does nothing, with dask's Profiler, CacheProfiler
and ProgressBar, with taskscope, everything on. Cost is CPU time of all threads of the process above the no-op
run of the same round, per task; entering and leaving a block is not in it. The whole-run ratio is of the
time that passed, against the bare run. The last task notes when it ends: from there until the caller has the
result, and until the block that watches is left as well. Garbage collection is on, as it is for users.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from dask._task_spec import Task, TaskRef

from benchmarks.harness import Table, differences, interleaved, main, quartiles
from benchmarks.local.variants import VARIANTS, Spent, Variant, spent, watched_by
from benchmarks.workloads import Scheduler, Workload, chains, rechunk_matmul, tree

_BOTH: tuple[Scheduler, ...] = ("sync", "threads")
_ROUNDS = 15
_PATIENCE_S = 20.0
_COLUMNS = [
    "graph", "scheduler", "rounds", "bare, µs CPU/task", "dask, µs CPU/task more",
    "taskscope, µs CPU/task more", "taskscope / dask", "whole run / bare",
]  # fmt: skip
_WATCHERS: tuple[Variant, ...] = ("bare", "dask", "taskscope")


def ended_at(*_: object) -> float:
    return time.perf_counter()


def with_last_task(workload: Workload) -> Workload:
    """Return the graph with a task at its end that returns when it ended."""
    last = Task("last", ended_at, *map(TaskRef, workload.wanted))
    return Workload(workload.name, {**workload.graph, "last": last}, ["last"])


def busy(seconds: float) -> None:
    until_s = time.perf_counter() + seconds
    while time.perf_counter() < until_s:
        pass


def busy_tasks(n_tasks: int) -> Workload:
    graph = {("busy", i): Task(("busy", i), busy, 0.0001) for i in range(n_tasks)}
    return Workload(f"{n_tasks:,} tasks of 100 µs", graph, list(graph))


@dataclass(slots=True)
class Compared:
    """A graph on a scheduler, in all variants."""

    workload: Workload
    scheduler: Scheduler
    taken: dict[Variant, list[Spent]]
    more: dict[Variant, list[float]] = field(init=False)
    """µs of CPU time a task above the run without a watcher."""

    def __post_init__(self) -> None:
        without = self.taken.get("no-op", self.taken["bare"])
        self.more = {
            variant: differences(
                [one.cpu_s for one in runs],
                [one.cpu_s for one in without],
                scale=1e6 / self.workload.n_tasks,
            )
            for variant, runs in self.taken.items()
        }

    def row(self) -> list[str]:
        bare = [one.cpu_s * 1e6 / self.workload.n_tasks for one in self.taken["bare"]]
        pairs = zip(self.taken["taskscope"], self.taken["bare"], strict=True)
        theirs, ours = (statistics.median(self.more[variant]) for variant in ("dask", "taskscope"))
        return [
            self.workload.name,
            self.scheduler,
            str(len(bare)),
            quartiles(bare, "{:.1f}"),
            quartiles(self.more["dask"]),
            quartiles(self.more["taskscope"]),
            f"{ours / theirs:.2f}" if theirs > 0 else "–",
            quartiles([watched.wall_s / plain.wall_s for watched, plain in pairs], "{:.3f}"),
        ]


def compared(
    workload: Workload,
    scheduler: Scheduler,
    *,
    rounds: int,
    patience_s: float = _PATIENCE_S,
    variants: Sequence[Variant] = VARIANTS,
) -> Compared:
    if workload.n_tasks < _MANY:
        workload.compute(scheduler)  # unmeasured: the first run pays for pages and imports
    runs = {
        variant: partial(spent, workload, scheduler, partial(watched_by, variant)) for variant in variants
    }
    return Compared(workload, scheduler, interleaved(runs, repetitions=rounds, patience_s=patience_s))


# ------------------------------------------------------------------ trees of growing size

_MANY = 1_000_000


@dataclass(slots=True)
class Trees:
    """Trees of growing size; the later tables show other sides of the same runs."""

    quick: bool
    done: list[Compared] = field(default_factory=list)

    def costs(self) -> Iterator[list[str]]:
        for n_tasks in (1_000, 5_000) if self.quick else (10_000, 100_000, _MANY):
            workload = with_last_task(tree(n_tasks))
            for scheduler in _BOTH:
                if n_tasks == _MANY:
                    # One run of each variant takes minutes.
                    one = compared(workload, scheduler, rounds=1, variants=_WATCHERS)
                else:
                    one = compared(workload, scheduler, rounds=3 if self.quick else _ROUNDS)
                yield one.row()
                self.done.append(one)

    def growth(self) -> Iterator[list[str]]:
        for scheduler in _BOTH:
            of = [statistics.median(one.more["taskscope"]) for one in self.done if one.scheduler == scheduler]
            yield [
                scheduler,
                *(f"{more:.2f}" for more in of),
                f"{max(of) / min(of):.2f}" if min(of) > 0 else "–",
            ]

    def ends(self) -> Iterator[list[str]]:
        largest = [one for one in self.done if one.scheduler == "sync"][-1]
        for name, with_leaving in (("until the result", 0), ("until the block is left", 1)):
            found = {
                variant: [
                    1e3 * (one.ended_s - one.result[0] + with_leaving * one.left_s)
                    for one in largest.taken[variant]
                ]
                for variant in _WATCHERS
            }
            yield [name, *(quartiles(ms, "{:.0f}") for ms in found.values())]


def others(*, quick: bool) -> Iterator[list[str]]:
    """Yield rows of wide graphs, and of tasks that do something."""
    suite: list[Callable[[], Workload]] = (
        [partial(chains, 2_000), partial(busy_tasks, 1_000)]
        if quick
        else [
            partial(busy_tasks, 5_000),
            partial(chains, 8_000),
            partial(rechunk_matmul, 16),
        ]
    )
    for make in suite:
        workload = make()
        for scheduler in _BOTH:
            rounds = 3 if quick else _ROUNDS
            yield compared(workload, scheduler, rounds=rounds).row()


def measure(*, quick: bool) -> list[Table]:
    trees = Trees(quick)
    sizes = ["first size", "second"] if quick else ["10,000", "100,000", "1,000,000"]
    return [
        Table(
            "Cost of watching trees of tasks that do nothing, median (quartiles)",
            _COLUMNS,
            trees.costs(),
            "At a million tasks fewer rounds, as each takes minutes, and above the bare run instead.",
        ),
        Table(
            "Cost of watching by size of the tree, µs CPU/task more",
            ["scheduler", *sizes, "largest / smallest"],
            trees.growth(),
        ),
        Table(
            "After the last task of the largest tree, synchronous, ms, median (quartiles)",
            ["what", *_WATCHERS],
            trees.ends(),
        ),
        Table(
            "Cost of watching wide graphs, and tasks of 100 µs, median (quartiles)",
            _COLUMNS,
            others(quick=quick),
        ),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
