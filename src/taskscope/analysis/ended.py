"""The counts of a recording per compute and prefix, as a live recorder gives them."""

from __future__ import annotations

import numpy as np

from taskscope.model.recording import Recording
from taskscope.model.records import STATUSES, PrefixProgress

__all__ = ["prefix_progress"]


def prefix_progress(recording: Recording) -> list[PrefixProgress]:
    """Return one row per compute and prefix, in order of appearance."""
    tasks = recording.tasks
    names = list(dict.fromkeys(group.prefix for group in recording.groups))
    places = {name: place for place, name in enumerate(names)}
    place_of = np.array([places[group.prefix] for group in recording.groups], np.int64)
    rows: list[PrefixProgress] = []
    for run, graph in recording.graphs.items():
        mine = tasks.run == run
        place, n = place_of[tasks.group[mine]], len(names)
        planned = np.bincount(place_of[graph.group], minlength=n)
        planned = planned - np.bincount(place_of[graph.group[graph.data]], minlength=n)
        counts = [
            np.bincount(place[tasks.status[mine] == code], minlength=n) for code in range(len(STATUSES))
        ]
        seconds = np.bincount(place, (tasks.stop - tasks.start)[mine], n)
        total = np.maximum(planned, sum(counts))
        finished, erred, interrupted, lost, _ = counts
        rows += [
            PrefixProgress(
                run,
                names[i],
                total=int(total[i]),
                finished=int(finished[i]),
                erred=int(erred[i]),
                running=0,
                interrupted=int(interrupted[i] + lost[i]),
                duration_s=float(seconds[i]),
            )
            for i in np.flatnonzero(total).tolist()
        ]
    return rows
