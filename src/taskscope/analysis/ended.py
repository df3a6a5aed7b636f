"""The counts of a recording per compute and prefix, as a live recorder gives them."""

from __future__ import annotations

import numpy as np

from taskscope.model.recording import Recording
from taskscope.model.records import (
    ERRED,
    FINISHED,
    INTERRUPTED,
    LOST,
    RUNNING,
    STATUSES,
    PrefixProgress,
    TaskBlock,
)

__all__ = ["prefix_progress"]


def prefix_progress(recording: Recording) -> list[PrefixProgress]:
    """Return one row per compute and prefix, in the order in which a live recorder gives them."""
    tasks = recording.tasks
    return [row for run in recording.graphs for row in _rows(recording, run, tasks)]


def _rows(recording: Recording, run: int, tasks: TaskBlock) -> list[PrefixProgress]:
    graph, n = recording.graphs[run], len(recording.groups)
    mine = tasks.run == run
    group, status = tasks.group[mine], tasks.status[mine]
    planned = np.bincount(graph.group, minlength=n) - np.bincount(graph.group[graph.data], minlength=n)
    counts = np.array([np.bincount(group[status == code], minlength=n) for code in range(len(STATUSES))])
    seconds = np.bincount(group, (tasks.stop - tasks.start)[mine], n)
    # A task whose worker died or whose result was lost ran again, and is one task still.
    total = planned if graph.known else np.maximum(planned, counts.sum(axis=0))
    finished = np.minimum(counts[FINISHED], total)
    erred = np.minimum(counts[ERRED], total - finished)
    running = counts[RUNNING]
    left = np.maximum(total - finished - erred - running, 0)
    interrupted = np.minimum(counts[INTERRUPTED] + counts[LOST], left)
    places: dict[str, list[int]] = {}
    for i in np.flatnonzero(total).tolist():
        places.setdefault(recording.groups[i].prefix, []).append(i)
    return [
        PrefixProgress(
            run,
            prefix,
            total=int(total[ids].sum()),
            finished=int(finished[ids].sum()),
            erred=int(erred[ids].sum()),
            running=int(running[ids].sum()),
            interrupted=int(interrupted[ids].sum()),
            duration_s=float(seconds[ids].sum()),
        )
        for prefix, ids in places.items()
    ]
