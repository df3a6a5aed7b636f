"""How far computes are, and an estimate of how long they will still take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taskscope.analysis.intervals import union_s
from taskscope.analysis.status import State, state_of
from taskscope.model.records import PrefixProgress, Run

__all__ = ["PrefixCount", "Progress", "measure_progress"]


@dataclass(frozen=True, slots=True)
class PrefixCount:
    """How many tasks of one prefix are in which state."""

    prefix: str
    total: int
    finished: int
    running: int
    erred: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the computes of a window are.

    Parameters
    ----------
    total, finished, running, erred, interrupted
        Numbers of tasks.
    fraction
        `finished` of `total`, 0 without any tasks.
    elapsed_s
        Seconds during which at least one compute ran.
    eta_s
        An estimate of the seconds that are left; None without evidence, and when nothing runs.
    state
        One word for all computes, see `taskscope.analysis.status`.
    prefixes
        The same counts per prefix, by first appearance.
    """

    total: int
    finished: int
    running: int
    erred: int
    interrupted: int
    fraction: float
    elapsed_s: float
    eta_s: float | None
    state: State
    prefixes: tuple[PrefixCount, ...]


def measure_progress(rows: Sequence[PrefixProgress], runs: Sequence[Run], now_s: float) -> Progress:
    """Return how far these computes are.

    Parameters
    ----------
    rows
        Counts per compute and prefix.
    runs
        The computes.
    now_s
        The present, on the same axis as the computes' times.

    Notes
    -----
    The estimate takes the mean duration of each prefix's ended tasks (of all tasks, where none of a prefix
    has ended) and the concurrency reached so far. It knows nothing of the graph's shape, so it is too low
    before a serial tail and too high while workers warm up.
    """
    planned = {run.run: run.n_tasks for run in runs}
    counted: dict[int, int] = dict.fromkeys(planned, 0)
    for row in rows:
        counted[row.run] = counted.get(row.run, 0) + row.total
    total = sum(max(counted[run], n) for run, n in planned.items())
    finished = sum(row.finished for row in rows)
    return Progress(
        total=total,
        finished=finished,
        running=sum(row.running for row in rows),
        erred=sum(row.erred for row in rows),
        interrupted=sum(row.interrupted for row in rows),
        fraction=finished / total if total else 0.0,
        elapsed_s=_elapsed_s(runs, now_s),
        eta_s=_eta_s(rows, [run for run in runs if run.status == "running"], now_s),
        state=state_of(runs),
        prefixes=_by_prefix(rows),
    )


def _elapsed_s(runs: Sequence[Run], now_s: float) -> float:
    starts = np.array([run.start_s for run in runs])
    stops = np.array([now_s if run.stop_s is None else run.stop_s for run in runs])
    return union_s(starts, stops)


def _by_prefix(rows: Sequence[PrefixProgress]) -> tuple[PrefixCount, ...]:
    sums: dict[str, list[int]] = {}
    for row in rows:
        entry = sums.setdefault(row.prefix, [0, 0, 0, 0])
        for place, n in enumerate((row.total, row.finished, row.running, row.erred)):
            entry[place] += n
    return tuple(PrefixCount(prefix, *entry) for prefix, entry in sums.items())


def _eta_s(rows: Sequence[PrefixProgress], active: Sequence[Run], now_s: float) -> float | None:
    ids = {run.run for run in active}
    rows = [row for row in rows if row.run in ids]
    ended = sum(_ended(row) for row in rows)
    spent_s = sum(row.duration_s for row in rows)
    elapsed_s = _elapsed_s(active, now_s)
    if not ended or spent_s <= 0 or elapsed_s <= 0:
        return None
    mean_s = spent_s / ended
    ahead_s = sum(_remaining(row) * (row.duration_s / _ended(row) if _ended(row) else mean_s) for row in rows)
    uncounted = sum(run.n_tasks for run in active) - sum(row.total for row in rows)
    ahead_s += max(uncounted, 0) * mean_s
    # Tasks in flight are no evidence yet; without them the first tick would look almost serial.
    concurrency = max(spent_s / elapsed_s, min(1.0, float(sum(row.running for row in rows))))
    return ahead_s / concurrency


def _ended(row: PrefixProgress) -> int:
    return row.finished + row.erred + row.interrupted


def _remaining(row: PrefixProgress) -> int:
    return max(row.total - _ended(row), 0)
