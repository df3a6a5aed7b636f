"""What tasks of a finished recording need and what needs them, by the rows that a browser knows them by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.compact import row_order
from taskscope.model.links import Link, TaskLinks, cut_links
from taskscope.model.recording import Recording
from taskscope.model.records import RUNNING

__all__ = ["RowLinks"]


class RowLinks:
    """Finds the neighbours of rows of the messages that `recorded_messages` makes of a recording.

    Parameters
    ----------
    recording
        Whose tasks; about 8 bytes are kept for each.
    """

    def __init__(self, recording: Recording) -> None:
        tasks = recording.tasks
        order = row_order(tasks)
        ended = order[tasks.status[order] != RUNNING]
        self._recording = recording
        self._run = tasks.run[ended]
        self._task = np.concatenate([np.empty(0, np.int32), *(b.task for b in recording.blocks)])[ended]

    def of(self, row: int, limit: int) -> TaskLinks | None:
        """Return up to `limit` dependencies and as many dependents of a row, in the graph's order.

        None if there is no such row, or its graph is not known.
        """
        if row >= len(self._run):
            return None
        run = int(self._run[row])
        graph = self._recording.graphs[run]
        if not graph.known:
            return None
        row_of = np.full(len(graph.group), -1, np.int64)
        rows = np.flatnonzero(self._run == run)
        row_of[self._task[rows]] = rows

        def name(shown: NDArray[np.int32]) -> list[Link]:
            groups = [self._recording.groups[g].name for g in graph.group[shown].tolist()]
            texts = graph.keys.take(shown).iter_text(groups)
            ends = row_of[shown].tolist()
            return [Link(end if end >= 0 else None, text) for end, text in zip(ends, texts, strict=True)]

        return cut_links(graph.neighbours(int(self._task[row])), limit, name)
