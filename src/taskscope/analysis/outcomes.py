"""What became of the tasks of a recording: each counts once, however often it ran."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskscope.analysis.ended import NO_ROW, task_statuses
from taskscope.model.recording import Recording
from taskscope.model.records import ERRED, FINISHED, Run

__all__ = ["Outcomes", "measure_outcomes"]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Numbers of tasks.

    Parameters
    ----------
    n_erred
        Tasks that raised.
    n_unfinished
        Tasks that were interrupted, lost or never ran, and did not run again.
    n_spared
        Tasks that did not have to run, because a cluster had their results, or those of what needs them; they
        are in none of the other numbers.
    n_done
        Tasks of the computes that finished.
    n_unrecorded
        Those of them of which nothing is recorded, so that it is not known whether they ran.
    """

    n_erred: int
    n_unfinished: int
    n_spared: int
    n_done: int
    n_unrecorded: int


def measure_outcomes(recording: Recording) -> Outcomes:
    """Return what became of the tasks of a recording; those that are no longer held are not left over."""
    runs = [_of_run(recording, run) for run in recording.runs]
    n_unrecorded = sum(run.n_unrecorded for run in runs)
    n_dropped_later = max(recording.dropped - n_unrecorded, 0)
    return Outcomes(
        n_erred=sum(run.n_erred for run in runs),
        n_unfinished=max(sum(run.n_unfinished for run in runs) - n_dropped_later, 0),
        n_spared=sum(run.n_spared for run in runs),
        n_done=sum(run.n_done for run in runs),
        n_unrecorded=max(n_unrecorded - recording.dropped, 0),
    )


def _of_run(recording: Recording, run: Run) -> Outcomes:
    is_done = run.status == "finished"
    n_done = run.n_tasks if is_done else 0
    if run.run not in recording.graphs:
        return Outcomes(0, 0 if is_done else run.n_tasks, 0, n_done, n_done)
    statuses = task_statuses(recording, run.run)
    n_recorded = int((statuses != NO_ROW).sum())
    n_ended_well = int(np.isin(statuses, (FINISHED, ERRED)).sum())
    n_planned = n_recorded if is_done else max(run.n_tasks, n_recorded)
    spared = recording.graphs[run.run].spared
    return Outcomes(
        n_erred=int((statuses == ERRED).sum()),
        n_unfinished=n_planned - n_ended_well,
        n_spared=int((statuses[spared] == NO_ROW).sum()),
        n_done=n_done,
        n_unrecorded=max(n_done - n_recorded, 0),
    )
