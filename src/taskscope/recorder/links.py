"""Finds a task's dependencies and dependents among the rows that are held."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taskscope.model.links import Link, TaskLinks, cut_links
from taskscope.model.records import Group
from taskscope.recorder.runstate import RunState
from taskscope.recorder.tasklog import TaskLog

__all__ = ["links_of"]


def links_of(state: RunState, task: int, tasks: TaskLog, groups: Sequence[Group], limit: int) -> TaskLinks:
    """Return up to `limit` dependencies and as many dependents of a run's task, in the graph's order."""

    def name(shown: NDArray[np.int32]) -> list[Link]:
        rows = tasks.rows_of(state.run.run, shown)
        group_ids, keys = state.graph.identify(shown)
        texts = keys.iter_text([groups[g].name for g in group_ids.tolist()])
        return [Link(rows.get(n), text) for n, text in zip(shown.tolist(), texts, strict=True)]

    return cut_links(state.graph.neighbours(task), limit, name)
