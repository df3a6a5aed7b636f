"""Finds a task's dependencies and dependents among the rows that are held."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taskscope.model.links import Link, TaskLinks
from taskscope.model.records import Group
from taskscope.recorder.runstate import RunState
from taskscope.recorder.store import RowStore

__all__ = ["links_of"]


def links_of(state: RunState, task: int, store: RowStore, groups: Sequence[Group], limit: int) -> TaskLinks:
    """Return up to `limit` dependencies and as many dependents of a run's task, in the graph's order."""
    dependencies, dependents = state.neighbours(task)
    shown = np.concatenate((dependencies[:limit], dependents[:limit])).astype(np.int32)
    rows = store.rows_of(state.run.run, shown)
    group_ids, keys = state.identify(shown)
    texts = keys.iter_text([groups[g].name for g in group_ids.tolist()])
    links = [Link(rows.get(n), text) for n, text in zip(shown.tolist(), texts, strict=True)]
    n_first = min(len(dependencies), limit)
    return TaskLinks(tuple(links[:n_first]), len(dependencies), tuple(links[n_first:]), len(dependents))
