"""How far computes are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from taskscope.analysis.quantities import format_duration, plural
from taskscope.analysis.time_left import TimeLeft, time_left
from taskscope.analysis.totals import State, state_of, union_s
from taskscope.model.tables.records import Estimate, PrefixProgress, Run
from taskscope.model.tables.workers import Scheduled, sum_scheduled


@dataclass(frozen=True, slots=True)
class PrefixCount:
    """How many tasks of one prefix are in which state; `skipped` ones, see `Progress`, are not in `total`."""

    prefix: str
    total: int
    finished: int
    running: int
    erred: int
    scheduled: Scheduled | None = None
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the computes of a window are.

    `fraction` is `finished` of `total`, 0 while the total is not known; `elapsed_s` are the seconds during
    which at least one compute ran; `left` is the estimate of the seconds that are left, None without evidence
    and when nothing runs. `prefixes` have the same counts, by first appearance. `scheduled` is the state of
    tasks without a worker as a cluster's scheduler reported it. `skipped` tasks do not have to run and are in
    no other number. `starting` says of a pool of processes that runs no task yet "starting 2 processes,
    3.3 s". With `is_on_cluster` running tasks were given to workers, which may not have begun them.
    """

    total: int
    finished: int
    running: int
    erred: int
    interrupted: int
    fraction: float
    elapsed_s: float
    left: TimeLeft | None
    state: State
    prefixes: tuple[PrefixCount, ...]
    scheduled: Scheduled | None = None
    skipped: int = 0
    is_on_cluster: bool = False
    starting: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether it is known how many tasks there are."""
        return self.fraction > 0 or not self.finished


def headline(runs: Sequence[Run]) -> list[Run]:
    """Return the computes that run, else the one that ended last."""
    running = [run for run in runs if run.status == "running"]
    if running or not runs:
        return running
    return [max(runs, key=lambda run: (run.start_s if run.stop_s is None else run.stop_s, run.run))]


def measure_progress(
    rows: Sequence[PrefixProgress],
    runs: Sequence[Run],
    now_s: float,
    estimates: Mapping[int, Estimate] = MappingProxyType({}),
) -> Progress:
    """Return how far these computes are; `now_s` is on the axis of their times."""
    planned = {run.run: run.n_tasks for run in runs}
    counted: dict[int, int] = dict.fromkeys(planned, 0)
    for row in rows:
        counted[row.run] = counted.get(row.run, 0) + row.total
    skipped = {row.run for row in rows if row.skipped}
    on_cluster = {run.run for run in runs if run.is_on_cluster}
    is_counted = all(run.n_tasks or run.status != "running" or run.run in skipped for run in runs)
    total = sum(max(counted[run], n) for run, n in planned.items())
    finished = sum(row.finished for row in rows)
    running = [estimates.get(run.run) for run in runs if run.status == "running"]
    return Progress(
        total=total,
        finished=finished,
        running=sum(row.running for row in rows),
        erred=sum(row.erred for row in rows),
        interrupted=sum(row.interrupted for row in rows),
        fraction=finished / total if total and is_counted else 0.0,
        elapsed_s=_elapsed_s(runs, now_s),
        left=time_left(running, now_s),
        state=state_of(runs),
        prefixes=_by_prefix(rows),
        scheduled=_scheduled(rows),
        skipped=sum(row.skipped for row in rows),
        is_on_cluster=any(row.running and row.run in on_cluster for row in rows),
        starting=_starting(rows, runs, now_s),
    )


def _starting(rows: Sequence[PrefixProgress], runs: Sequence[Run], now_s: float) -> str:
    going = [run for run in runs if run.status == "running"]
    begun = {row.run for row in rows if row.finished or row.erred}
    if not going or not all(run.is_starting and run.run not in begun for run in going):
        return ""
    n = sum(run.n_workers or 0 for run in going)
    processes = f"{n:,} {plural('process', n)}" if n else "processes"
    return f"starting {processes}, {format_duration(max(now_s - min(run.start_s for run in going), 0.0))}"


def _elapsed_s(runs: Sequence[Run], now_s: float) -> float:
    starts = np.array([run.start_s for run in runs])
    stops = np.array([now_s if run.stop_s is None else run.stop_s for run in runs])
    return union_s(starts, stops)


def _by_prefix(rows: Sequence[PrefixProgress]) -> tuple[PrefixCount, ...]:
    same: dict[str, list[PrefixProgress]] = {}
    for row in rows:
        same.setdefault(row.prefix, []).append(row)
    return tuple(
        PrefixCount(
            prefix,
            total=sum(row.total for row in parts),
            finished=sum(row.finished for row in parts),
            running=sum(row.running for row in parts),
            erred=sum(row.erred for row in parts),
            scheduled=_scheduled(parts),
            skipped=sum(row.skipped for row in parts),
        )
        for prefix, parts in same.items()
        if any(row.total for row in parts)
    )


def _scheduled(rows: Iterable[PrefixProgress]) -> Scheduled | None:
    return sum_scheduled(row.scheduled for row in rows if row.ahead)
