"""Read the keys of what a client has handed over."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from dask._task_spec import convert_legacy_graph

__all__ = ["MAX_GRAPH_TASKS", "Graph", "materialize", "may_retry"]

MAX_GRAPH_TASKS = 300_000
"""The largest graph of which we look at the keys; the scheduler materializes it, too."""


class Graph(NamedTuple):
    """What is known of a graph."""

    dependencies: dict[Hashable, tuple[Hashable, ...]]
    """Those of each of its tasks within it."""
    coroutines: frozenset[Hashable] = frozenset()
    """Tasks that workers run in their event loop, several at a time in its one thread."""
    outside: Mapping[Hashable, tuple[Hashable, ...]] = MappingProxyType({})
    """Dependencies on what was handed over before, of the tasks that have some."""


def materialize(expr: Any, keys: Collection[Hashable]) -> Graph | None:
    """Return every task that the scheduler makes of a graph; None if it is too large.

    Parameters
    ----------
    expr
        What was handed to the scheduler.
    keys
        The requested keys.
    """
    if _n_tasks_at_least(expr) > MAX_GRAPH_TASKS:
        return None
    graph = convert_legacy_graph(expr.__dask_graph__() if hasattr(expr, "__dask_graph__") else dict(expr))
    if type(expr).__name__ == "LLGExpr":
        graph = _culled(graph, keys)
    dependencies = {key: tuple(d for d in node.dependencies if d in graph) for key, node in graph.items()}
    outside = {
        key: tuple(d for d in node.dependencies if d not in graph)
        for key, node in graph.items()
        if len(dependencies[key]) < len(node.dependencies)
    }
    return Graph(dependencies, frozenset(_coroutines(graph)), outside)


def may_retry(expr: Any) -> bool:
    """Return whether tasks of a graph were annotated with ``retries`` when it was made."""
    if hasattr(expr, "__dask_annotations__"):
        return bool(expr.__dask_annotations__().get("retries"))
    # A graph, a layer or a dict is what was handed over before distributed 2025.4.
    layers = getattr(expr, "layers", {"": expr}).values()
    return any((getattr(layer, "annotations", None) or {}).get("retries") for layer in layers)


def _n_tasks_at_least(expr: Any) -> int:
    """Return how many tasks are certain without making them, but for those that nobody needs."""
    # What several collections, or one, are handed over as (dask from 2025 on).
    if type(expr).__name__.endswith("ExprSequence"):
        return sum(_n_tasks_at_least(part) for part in expr.operands)
    layers = getattr(getattr(expr, "hlg", expr), "layers", None)
    if layers is not None:
        return max((len(layer) for layer in layers.values()), default=0)
    return int(getattr(expr, "npartitions", 0) or 0)


def _coroutines(graph: Mapping[Hashable, Any]) -> Iterator[Hashable]:
    known: dict[int, bool] = {}
    for key, node in graph.items():
        # Looked at once each: most tasks of a graph call one of few functions.
        function = id(getattr(node, "func", None))
        if function not in known:
            known[function] = node.is_coro
        if known[function]:
            yield key


def _culled(graph: Mapping[Hashable, Any], keys: Collection[Hashable]) -> dict[Hashable, Any]:
    found: dict[Hashable, Any] = {}
    work = list(keys)
    while work:
        key = work.pop()
        if key not in found and key in graph:
            found[key] = graph[key]
            work.extend(graph[key].dependencies)
    return found
