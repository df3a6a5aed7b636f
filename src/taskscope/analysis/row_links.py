"""What tasks of a finished recording need and what needs them, by the rows that a browser knows them by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.compact import row_order
from taskscope.model.links import Link, TaskLinks, cut_links
from taskscope.model.recording import Recording
from taskscope.model.records import RUNNING

__all__ = ["RowEdges", "RowLinks"]


@dataclass(frozen=True, slots=True, eq=False)
class RowEdges:
    """All dependencies between rows.

    Parameters
    ----------
    source, target
        The row that needs, and the row that is needed, sorted; one element for each dependency.
    other_needs
        For each row, how many dependencies it has that are no rows; -1 where nothing of it is known.
    other_users
        For each row, how many dependents it has that are no rows.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    other_needs: NDArray[np.int64]
    other_users: NDArray[np.int64]


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

    def edges(self) -> RowEdges:
        """Return all dependencies."""
        other_needs = np.full(len(self._run), -1, np.int64)
        other_users = np.zeros(len(self._run), np.int64)
        sources, targets = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        by_run = np.argsort(self._run, kind="stable")
        for run, graph in self._recording.graphs.items():
            first, last = np.searchsorted(self._run, [run, run + 1], sorter=by_run)
            rows = by_run[first:last]
            if not graph.known or not len(rows):
                continue
            n_keys, tasks = len(graph.group), self._task[rows]
            row_of = np.full(n_keys, -1, np.int64)
            row_of[tasks] = rows
            needing = graph.edge_sources()
            source, target = row_of[needing], row_of[graph.edges]
            # Of a task that was computed twice, only the last row is the end of a link.
            told = row_of[tasks] == rows
            other_needs[rows[told]] = np.bincount(needing[target < 0], minlength=n_keys)[tasks[told]]
            other_users[rows[told]] = np.bincount(graph.edges[source < 0], minlength=n_keys)[tasks[told]]
            between = (source >= 0) & (target >= 0)
            sources.append(source[between])
            targets.append(target[between])
        source, target = np.concatenate(sources), np.concatenate(targets)
        order = np.lexsort((target, source))
        return RowEdges(source[order], target[order], other_needs, other_users)
