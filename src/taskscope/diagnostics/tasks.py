"""Tasks in the results of profilers: they read like Dask's, and keep nothing of the computation alive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from taskscope.errors import TaskscopeError
from taskscope.model.keys import split_key
from taskscope.model.recording import RecordedData
from taskscope.sources.local.adapter.graph import Task, called_name

_MAX_DEPENDENCIES = 8
_MAX_SAMPLED = 1024


class RecordedGraph:
    """The recorded tasks of one compute; `functions` has what some of them call, by group."""

    def __init__(
        self, recording: RecordedData, run: int, kinds: frozenset[type], functions: Mapping[str, str]
    ) -> None:
        self.columns = graph = recording.graphs[run]
        self._kinds = kinds
        self._functions = functions
        self._groups = recording.groups
        self._first_edge = np.concatenate([[0], np.cumsum(graph.n_dependencies, dtype=np.int64)])

    def keys(self, tasks: Sequence[int]) -> list[Any]:
        rows = np.asarray(tasks, np.int64)
        names = [self._groups[i].name for i in self.columns.group[rows].tolist()]
        return list(self.columns.keys.take(rows).iter_keys(names, self._kinds))

    def dependencies(self, task: int) -> list[Any]:
        edges = self.columns.edges[self._first_edge[task] : self._first_edge[task + 1]]
        return self.keys(edges.tolist())

    def call(self, task: int) -> str:
        """Return the function of a task, or its prefix, with the keys it needs."""
        group = self._groups[int(self.columns.group[task])]
        needed = self.dependencies(task)
        shown = [repr(key) for key in needed[:_MAX_DEPENDENCIES]]
        more = [f"{len(needed) - len(shown):,} more"] if len(needed) > len(shown) else []
        return f"{self._functions.get(group.name) or group.prefix}({', '.join(shown + more)})"


class TaskText(Task):
    """A recorded task: its key, the name of its function, and the keys it needs.

    It has neither function nor arguments and cannot be called; its ``repr`` reads like that of the task.
    """

    __slots__ = ("_call", "_graph", "_needed", "_number")

    def __init__(self, key: Any, graph: RecordedGraph, number: int) -> None:
        # Not Task.__init__, which wants a function and its arguments.
        self.key = key
        self._graph = graph
        self._number = number

    def __repr__(self) -> str:
        return f"<Task {self.key!r} {self._call}>"

    @property
    def dependencies(self) -> frozenset[Any]:
        """The keys that the task needs."""
        return frozenset(self._needed)

    def __getattr__(self, name: str) -> Any:
        # Text is made when it is first read: results may have millions of tasks.
        if name == "_call":
            self._call = self._graph.call(self._number)
            return self._call
        if name == "_needed":
            self._needed = self._graph.dependencies(self._number)
            return self._needed
        raise AttributeError(
            f"a recorded task has no {name!r}: functions, arguments and results are not kept; "
            "it has key, dependencies and a repr"
        )

    def __call__(self, values: Any = ()) -> Any:
        raise TaskscopeError(f"{self!r} is a record of a task and cannot be run")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and self.key == other.key and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the text, without the recording."""
        return _unpickled, (self.key, self._call, self._needed)


def _unpickled(key: Any, call: str, needed: list[Any]) -> TaskText:
    task = TaskText.__new__(TaskText)
    task.key, task._call, task._needed = key, call, needed
    return task


def called_names(dsk: Mapping[Any, Any]) -> dict[str, str]:
    """Return the function that some tasks call, by group, without the tasks and their arguments."""
    found: dict[str, str] = {}
    keys = list(dsk)
    for key in keys[:: -(-len(keys) // _MAX_SAMPLED) or 1]:
        group = key[0] if type(key) is tuple and key else split_key(key)[0]
        if group not in found:
            found[group] = called_name(dsk[key]) or ""
    return found
