"""What of a recording is of other clients of its scheduler, and what is not; they are never added up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from taskscope.model.recording import Recording
from taskscope.model.records import ERRED, RUNNING, PrefixProgress, Run

__all__ = ["OthersTotals", "count_others", "measure_others", "own_part", "runs_of_others"]


@dataclass(frozen=True, slots=True)
class OthersTotals:
    """What is known of other clients' tasks; how many are ahead of them nobody knows.

    Parameters
    ----------
    n_ended, n_erred
        How many came to an end, and how many of those raised.
    n_running
        How many workers have.
    duration_s
        Sum of the durations of those that came to an end.
    """

    n_ended: int
    n_erred: int
    n_running: int
    duration_s: float


def runs_of_others(runs: Iterable[Run]) -> set[int]:
    """Return the numbers of those runs that are tasks of other clients."""
    return {run.run for run in runs if run.is_of_others}


def own_part(recording: Recording) -> Recording:
    """Return the recording without the tasks of other clients."""
    others = runs_of_others(recording.runs)
    if not others:
        return recording
    activities = recording.activities
    return replace(
        recording,
        runs=tuple(run for run in recording.runs if run.run not in others),
        blocks=tuple(block for block in recording.blocks if block.run not in others),
        graphs={run: graph for run, graph in recording.graphs.items() if run not in others},
        activities=replace(
            activities, rows=activities.rows.part(~np.isin(activities.rows.run, list(others)))
        ),
    )


def measure_others(recording: Recording) -> OthersTotals | None:
    """Return what a recording has of other clients' tasks; None if it is not about them."""
    others = runs_of_others(recording.runs)
    if not others:
        return None
    tasks = recording.tasks
    mine = np.isin(tasks.run, list(others))
    is_running = tasks.status[mine] == RUNNING
    return OthersTotals(
        n_ended=int((~is_running).sum()),
        n_erred=int((tasks.status[mine] == ERRED).sum()),
        n_running=int(is_running.sum()),
        duration_s=float((tasks.stop - tasks.start)[mine][~is_running].sum()),
    )


def count_others(rows: Iterable[PrefixProgress], runs: Iterable[Run]) -> OthersTotals | None:
    """Return the same from the counts of a live recorder; None if none of these runs is about them."""
    others = runs_of_others(runs)
    if not others:
        return None
    mine = [row for row in rows if row.run in others]
    return OthersTotals(
        n_ended=sum(row.finished + row.erred + row.interrupted for row in mine),
        n_erred=sum(row.erred for row in mine),
        n_running=sum(row.running for row in mine),
        duration_s=sum(row.duration_s for row in mine),
    )
