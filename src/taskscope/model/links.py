"""Which tasks a task needs, and which need it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Link", "TaskLinks", "cut_links", "neighbours"]


@dataclass(frozen=True, slots=True)
class Link:
    """The other end of a dependency.

    Parameters
    ----------
    row
        The recorder's row of the task; None where it has not ended, is not held any more or is data.
    key_text
        Its key.
    """

    row: int | None
    key_text: str


@dataclass(frozen=True, slots=True)
class TaskLinks:
    """A task's neighbours in its graph; the sequences may be cut, the counts are of all.

    Parameters
    ----------
    dependencies, n_dependencies
        What the task needs.
    dependents, n_dependents
        What needs the task.
    """

    dependencies: tuple[Link, ...]
    n_dependencies: int
    dependents: tuple[Link, ...]
    n_dependents: int


def neighbours(
    task: int, n_dependencies: NDArray[np.integer], edges: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of a task's dependencies and of its dependents, ascending.

    Parameters
    ----------
    task
        A number in the graph.
    n_dependencies, edges
        How many dependencies each key has, and their numbers, in key order.

    Examples
    --------
    >>> [found.tolist() for found in neighbours(1, np.array([0, 1, 2]), np.array([0, 0, 1], np.int32))]
    [[0], [2]]
    """
    ends = np.cumsum(n_dependencies, dtype=np.int64)
    dependencies = np.sort(edges[ends[task] - int(n_dependencies[task]) : ends[task]])
    return dependencies.astype(np.int64), np.searchsorted(ends, np.flatnonzero(edges == task), side="right")


def cut_links(
    found: tuple[NDArray[np.int64], NDArray[np.int64]],
    limit: int,
    name: Callable[[NDArray[np.int32]], Iterable[Link]],
) -> TaskLinks:
    """Return the first `limit` dependencies and as many dependents of those found, as links.

    Parameters
    ----------
    found
        The numbers of all dependencies and of all dependents; see `neighbours`.
    limit
        Most links of a kind.
    name
        Gives the links to tasks with these numbers.

    Examples
    --------
    >>> links = cut_links((np.array([3, 4]), np.array([7])), 1, lambda shown: [Link(n, "") for n in shown])
    >>> len(links.dependencies), links.n_dependencies, len(links.dependents), links.n_dependents
    (1, 2, 1, 1)
    """
    dependencies, dependents = found
    links = tuple(name(np.concatenate((dependencies[:limit], dependents[:limit])).astype(np.int32)))
    n_first = min(len(dependencies), limit)
    return TaskLinks(links[:n_first], len(dependencies), links[n_first:], len(dependents))
