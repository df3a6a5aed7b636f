"""How long the longest chain of tasks is that must run one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Levels", "graph_levels", "longest_chain_s"]

_MAX_TASKS = 100_000
_MAX_LEVELS = 512


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Tasks that are equally far from the end, and each of their dependencies with who needs it."""

    tasks: NDArray[np.int64]
    needed: NDArray[np.int32]
    needed_by: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """A graph cut into levels, those that nothing depends on first."""

    n_tasks: int
    levels: tuple[_Level, ...]


def graph_levels(n_dependencies: NDArray[np.uint32], edges: NDArray[np.int32]) -> Levels | None:
    """Cut a graph into levels.

    Parameters
    ----------
    n_dependencies
        How many dependencies each task has.
    edges
        Their numbers, in the order of the tasks.

    Returns
    -------
    Levels or None
        None for a graph of more than 100,000 tasks or 512 levels, which would take too long while it runs.
    """
    n_tasks = len(n_dependencies)
    if n_tasks > _MAX_TASKS:
        return None
    first = np.concatenate(([0], np.cumsum(n_dependencies, dtype=np.int64)))
    dependents = np.bincount(edges, minlength=n_tasks)
    levels: list[_Level] = []
    tasks = np.flatnonzero(dependents == 0)
    while len(tasks):
        if len(levels) == _MAX_LEVELS:
            return None
        counts = n_dependencies[tasks].astype(np.int64)
        places = np.repeat(first[tasks] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        needed = edges[places]
        levels.append(_Level(tasks, needed, np.repeat(tasks, counts)))
        np.subtract.at(dependents, needed, 1)
        tasks = np.unique(needed[dependents[needed] == 0]).astype(np.int64)
    return Levels(n_tasks, tuple(levels))


def longest_chain_s(levels: Levels, task_s: NDArray[np.float64]) -> float:
    """Return the length of the longest chain in seconds.

    Parameters
    ----------
    levels
        The graph.
    task_s
        How long each task takes; 0 for one that is over.

    Examples
    --------
    >>> chain = graph_levels(np.array([0, 1, 1], np.uint32), np.array([0, 1], np.int32))
    >>> longest_chain_s(chain, np.array([1.0, 2.0, 0.5]))
    3.5
    """
    after_s = np.zeros(levels.n_tasks)
    for level in levels.levels:
        after_s[level.tasks] += task_s[level.tasks]
        longest_s = after_s[level.needed_by]
        np.maximum.at(after_s, level.needed, longest_s)
    return float(after_s.max(initial=0.0))
