"""Read the keys of what a client has handed over."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

from dask._task_spec import convert_legacy_graph

__all__ = ["MAX_GRAPH_TASKS", "materialize", "may_retry"]

MAX_GRAPH_TASKS = 300_000
"""The largest graph of which we look at the keys; the scheduler materializes it, too."""


def materialize(expr: Any, keys: Collection[Hashable]) -> dict[Hashable, tuple[Hashable, ...]] | None:
    """Return the dependencies of every task that the scheduler makes of a graph; None if it is too large.

    Parameters
    ----------
    expr
        What was handed to the scheduler.
    keys
        The requested keys.
    """
    if _n_tasks_at_least(expr) > MAX_GRAPH_TASKS:
        return None
    graph = convert_legacy_graph(expr.__dask_graph__())
    if type(expr).__name__ == "LLGExpr":
        graph = _culled(graph, keys)
    return {key: tuple(d for d in node.dependencies if d in graph) for key, node in graph.items()}


def may_retry(expr: Any) -> bool:
    """Return whether tasks of a graph were annotated with ``retries`` when it was made."""
    return bool(expr.__dask_annotations__().get("retries"))


def _n_tasks_at_least(expr: Any) -> int:
    """Return how many tasks are certain without making them."""
    layers = getattr(getattr(expr, "hlg", None), "layers", None)
    if layers is not None:
        return max((len(layer) for layer in layers.values()), default=0)
    return int(getattr(expr, "npartitions", 0) or 0)


def _culled(graph: Mapping[Hashable, Any], keys: Collection[Hashable]) -> dict[Hashable, Any]:
    found: dict[Hashable, Any] = {}
    work = list(keys)
    while work:
        key = work.pop()
        if key not in found and key in graph:
            found[key] = graph[key]
            work.extend(graph[key].dependencies)
    return found
