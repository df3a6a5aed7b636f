"""What stands for a task in `TaskData` and `CacheData`: its text, made when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dask._task_spec import Task

from taskscope.diagnostics.keys import key_objects
from taskscope.diagnostics.watch import WatchedRun
from taskscope.errors import TaskscopeError
from taskscope.model.columns import GraphColumns
from taskscope.model.recording import RecordedData

__all__ = ["GraphTexts", "TaskText", "graph_texts"]

_MAX_DEPENDENCIES = 8


class GraphTexts:
    """What is known of the tasks of one compute, shared by all that stand for one.

    Parameters
    ----------
    graph
        The columns of its graph.
    groups, prefixes
        Name and prefix of every group of the recording.
    kinds
        The types of the graph's keys.
    functions
        Names of the functions that tasks call, by group, where known.
    """

    def __init__(
        self,
        graph: GraphColumns,
        groups: Sequence[str],
        prefixes: Sequence[str],
        kinds: frozenset[type],
        functions: Mapping[str, str],
    ) -> None:
        self._graph = graph
        self._groups = groups
        self._prefixes = prefixes
        self._kinds = kinds
        self._functions = functions
        self._first_edge = np.concatenate([[0], np.cumsum(graph.n_dependencies, dtype=np.int64)])

    def keys(self, tasks: Sequence[int]) -> list[Any]:
        """Return the keys of these tasks."""
        return key_objects(self._graph, np.asarray(tasks, np.int64), self._groups, self._kinds)

    def function(self, task: int) -> str:
        """Return the name of what a task calls, or its prefix where that is not known."""
        group = int(self._graph.group[task])
        return self._functions.get(self._groups[group]) or self._prefixes[group]

    def call(self, task: int) -> str:
        """Return what a task calls, and the keys it needs."""
        needed = self.dependencies(task)
        shown = [repr(key) for key in needed[:_MAX_DEPENDENCIES]]
        more = [f"{len(needed) - len(shown):,} more"] if len(needed) > len(shown) else []
        return f"{self.function(task)}({', '.join(shown + more)})"

    def dependencies(self, task: int) -> list[Any]:
        """Return the keys that a task needs."""
        edges = self._graph.edges[self._first_edge[task] : self._first_edge[task + 1]]
        return self.keys(edges.tolist())


def graph_texts(recording: RecordedData, runs: Mapping[int, WatchedRun]) -> dict[int, GraphTexts]:
    """Return the texts of these runs' tasks, by run."""
    groups = [g.name for g in recording.groups]
    prefixes = [g.prefix for g in recording.groups]
    return {
        run: GraphTexts(graph, groups, prefixes, runs[run].kinds, runs[run].functions)
        for run, graph in recording.graphs.items()
        if run in runs
    }


class TaskText(Task):
    """A task as far as it was recorded: its key, what it calls, and the keys it needs.

    Nothing of the computation is kept alive for it, so it has neither function nor arguments, and cannot be
    called; its ``repr`` reads like that of the task.
    """

    __slots__ = ("_number", "_texts")

    def __init__(self, key: Any, texts: GraphTexts, number: int) -> None:
        # Not Task.__init__, which wants a function and its arguments.
        self.key = key
        self._texts = texts
        self._number = number

    def __repr__(self) -> str:
        """Return the text of the task."""
        return f"<Task {self.key!r} {self._texts.call(self._number)}>"

    @property
    def dependencies(self) -> frozenset[Any]:
        """The keys that the task needs."""
        return frozenset(self._texts.dependencies(self._number))

    def __getattr__(self, name: str) -> Any:
        """Say why an attribute of a task is not there."""
        raise AttributeError(
            f"a recorded task has no {name!r}: functions, arguments and results are not kept; "
            "it has key, dependencies and a repr"
        )

    def __call__(self, values: Any = ()) -> Any:
        """Refuse.

        Raises
        ------
        TaskscopeError
            Always.
        """
        raise TaskscopeError(f"{self!r} is a record of a task and cannot be run")

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a record of the same key that reads the same."""
        return isinstance(other, Task) and self.key == other.key and repr(self) == repr(other)

    def __hash__(self) -> int:
        """Return a hash of the key."""
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as text, without the recording."""
        texts = _Rendered(self._texts.function(self._number), self._texts.dependencies(self._number))
        return TaskText, (self.key, texts, 0)


class _Rendered(GraphTexts):
    """The texts of a single task."""

    def __init__(self, function: str, dependencies: list[Any]) -> None:
        self._function = function
        self._needed = dependencies

    def function(self, task: int) -> str:
        return self._function

    def dependencies(self, task: int) -> list[Any]:
        return self._needed
