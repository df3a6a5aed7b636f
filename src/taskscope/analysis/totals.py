"""What a recording amounts to: makespan, task time, busy share, memory, and the same per prefix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskscope.analysis.intervals import union_s
from taskscope.analysis.others import OthersTotals, measure_others, own_part
from taskscope.analysis.outcomes import Outcomes, measure_outcomes
from taskscope.analysis.status import State, state_of
from taskscope.model.activities import FAILED_ATTEMPT
from taskscope.model.recording import Recording
from taskscope.model.records import ERRED, TaskBlock

__all__ = ["PrefixTotal", "Totals", "measure_totals"]


@dataclass(frozen=True, slots=True)
class PrefixTotal:
    """Totals of one prefix.

    Parameters
    ----------
    prefix
        The prefix.
    n_tasks, n_erred
        How many of its tasks came to an end, and how many of those raised.
    duration_s
        Sum of their durations.
    share
        That sum as a share of all task time, 0 if there is none.
    """

    prefix: str
    n_tasks: int
    n_erred: int
    duration_s: float
    share: float


@dataclass(frozen=True, slots=True)
class Totals:
    """What a recording amounts to; None is unknown.

    Parameters
    ----------
    state
        One word for all computes.
    schedulers
        Names of the schedulers, by first appearance. This and all that follows is of this process's
        computes, not of other clients' tasks.
    n_workers
        The most workers that any compute had.
    n_runs, n_tasks
        Computes, and tasks of their graphs.
    outcomes
        What became of these tasks.
    n_failed_attempts
        Attempts of tasks with ``retries`` that raised and were followed by others: neither tasks nor in any
        sum.
    dropped
        Tasks that are no longer held; sums below do not contain them.
    makespan_s
        From the start of the first compute to the end of the last.
    task_s
        Sum of all task durations.
    cpu_s
        Sum of the CPU time of the tasks for which it is known.
    n_cpu_unknown
        Tasks of which the CPU time is not known.
    busy_fraction
        Share of the workers' time, while computes ran, in which they ran tasks. Threads inside of a task
        (BLAS, for instance) do not count.
    peak_rss_bytes
        The largest sample of resident memory; peaks between two samples are not seen.
    prefixes
        Totals per prefix, most time first.
    errors
        What went wrong, one text per compute.
    others
        What other clients had the scheduler do meanwhile; None where that was not recorded.
    """

    state: State
    schedulers: tuple[str, ...]
    n_workers: int | None
    n_runs: int
    n_tasks: int
    outcomes: Outcomes
    n_failed_attempts: int
    dropped: int
    makespan_s: float | None
    task_s: float
    cpu_s: float | None
    n_cpu_unknown: int
    busy_fraction: float | None
    peak_rss_bytes: float | None
    prefixes: tuple[PrefixTotal, ...]
    errors: tuple[str, ...]
    others: OthersTotals | None = None


def measure_totals(recording: Recording) -> Totals:
    """Return what a recording amounts to."""
    others, recording = measure_others(recording), own_part(recording)
    runs, tasks = recording.runs, recording.tasks
    workers = [run.n_workers for run in runs if run.n_workers is not None]
    known_cpu = tasks.cpu[~np.isnan(tasks.cpu)].astype(np.float64)
    rss = recording.resources.rss_bytes
    return Totals(
        state=state_of(runs),
        schedulers=tuple(dict.fromkeys(run.scheduler for run in runs if run.scheduler is not None)),
        n_workers=max(workers, default=None),
        n_runs=len(runs),
        n_tasks=sum(run.n_tasks for run in runs),
        outcomes=measure_outcomes(recording),
        n_failed_attempts=int((recording.activities.rows.kind == FAILED_ATTEMPT).sum()),
        dropped=recording.dropped,
        makespan_s=_makespan_s(recording),
        task_s=float((tasks.stop - tasks.start).sum()),
        cpu_s=float(known_cpu.sum()) if len(known_cpu) else None,
        n_cpu_unknown=len(tasks) - len(known_cpu),
        busy_fraction=_busy_fraction(recording, tasks, max(workers, default=None)),
        peak_rss_bytes=float(np.nanmax(rss)) if np.isfinite(rss).any() else None,
        prefixes=_prefixes(recording, tasks),
        errors=tuple(dict.fromkeys(run.error for run in runs if run.error)),
        others=others,
    )


def _stops(recording: Recording) -> list[float]:
    return [recording.now_s if run.stop_s is None else run.stop_s for run in recording.runs]


def _makespan_s(recording: Recording) -> float | None:
    if not recording.runs:
        return None
    return max(_stops(recording)) - min(run.start_s for run in recording.runs)


def _busy_fraction(recording: Recording, tasks: TaskBlock, n_workers: int | None) -> float | None:
    starts = np.array([run.start_s for run in recording.runs])
    computing_s = union_s(starts, np.array(_stops(recording)))
    if not n_workers or computing_s <= 0 or not len(tasks) or recording.dropped:
        return None
    # By thread, not by lane: a task that computes inside itself is one busy worker, not two.
    threads = [(lane.worker, lane.thread) for lane in recording.lanes]
    places = {thread: place for place, thread in enumerate(dict.fromkeys(threads))}
    place = np.array([places[thread] for thread in threads])[tasks.lane]
    busy_s = sum(union_s(tasks.start[place == p], tasks.stop[place == p]) for p in np.unique(place))
    return min(busy_s / (computing_s * n_workers), 1.0)


def _prefixes(recording: Recording, tasks: TaskBlock) -> tuple[PrefixTotal, ...]:
    names = list(dict.fromkeys(group.prefix for group in recording.groups))
    places = {name: place for place, name in enumerate(names)}
    place = np.array([places[group.prefix] for group in recording.groups], np.int64)
    place = place[tasks.group] if len(tasks) else np.empty(0, np.int64)
    counts = np.bincount(place, minlength=len(names))
    erred = np.bincount(place[tasks.status == ERRED], minlength=len(names))
    seconds = np.bincount(place, tasks.stop - tasks.start, len(names))
    all_s = float(seconds.sum())
    rows = [
        PrefixTotal(name, int(n), int(e), float(s), float(s) / all_s if all_s else 0.0)
        for name, n, e, s in zip(names, counts, erred, seconds, strict=True)
        if n
    ]
    return tuple(sorted(rows, key=lambda row: -row.duration_s))
