"""The counts of a recording per compute and prefix, as a live recorder gives them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import split_flags
from taskscope.model.recording import Recording
from taskscope.model.records import ERRED, FINISHED, INTERRUPTED, LOST, RUNNING, STATUSES, PrefixProgress

__all__ = ["NO_ROW", "prefix_progress", "task_statuses"]

NO_ROW = 255


def task_statuses(recording: Recording, run: int) -> NDArray[np.uint8]:
    """Return what became of each key of a run's graph: a code into `STATUSES`, or `NO_ROW`.

    On a cluster a task whose worker died, or whose result was lost, runs again: its last row counts.
    """
    found = np.full(len(recording.graphs[run].group), NO_ROW, np.uint8)
    blocks = [block for block in recording.blocks if block.run == run]
    if not blocks:
        return found
    task = np.concatenate([block.task for block in blocks])
    status, _ = split_flags(np.concatenate([block.flags for block in blocks]))
    if np.bincount(task).max(initial=0) > 1:
        order = np.argsort(np.concatenate([block.start + block.duration for block in blocks]), kind="stable")
        task, status = task[order], status[order]
    found[task] = status
    return found


def prefix_progress(recording: Recording) -> list[PrefixProgress]:
    """Return one row per compute and prefix, in the order in which a live recorder gives them."""
    return [row for run in recording.graphs for row in _rows(recording, run)]


def _rows(recording: Recording, run: int) -> list[PrefixProgress]:
    graph, n = recording.graphs[run], len(recording.groups)

    def count(keys: NDArray[np.generic]) -> NDArray[np.int64]:
        return np.bincount(graph.group[keys], minlength=n)

    statuses = task_statuses(recording, run)
    counts = np.array([count(np.flatnonzero(statuses == code)) for code in range(len(STATUSES))])
    blocks = [block for block in recording.blocks if block.run == run]
    task = np.concatenate([np.empty(0, np.int32), *(block.task for block in blocks)])
    seconds = np.bincount(graph.group[task], np.concatenate([np.empty(0), *(b.duration for b in blocks)]), n)
    is_spared = np.zeros(len(graph.group), bool)
    is_spared[graph.spared] = True
    spared = count(np.flatnonzero(is_spared & (statuses == NO_ROW)))
    planned = np.bincount(graph.group, minlength=n) - count(graph.data)
    total = planned - spared if graph.known else np.maximum(planned - spared, counts.sum(axis=0))
    again = count(task) - counts.sum(axis=0)
    places: dict[str, list[int]] = {}
    for i in np.flatnonzero(total + spared).tolist():
        places.setdefault(recording.groups[i].prefix, []).append(i)
    return [
        PrefixProgress(
            run,
            prefix,
            total=int(total[ids].sum()),
            finished=int(counts[FINISHED, ids].sum()),
            erred=int(counts[ERRED, ids].sum()),
            running=int(counts[RUNNING, ids].sum()),
            interrupted=int(counts[INTERRUPTED, ids].sum() + counts[LOST, ids].sum()),
            duration_s=float(seconds[ids].sum()),
            spared=int(spared[ids].sum()),
            again=int(again[ids].sum()),
        )
        for prefix, ids in places.items()
    ]
