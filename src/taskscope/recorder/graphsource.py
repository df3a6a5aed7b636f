"""What a scheduler knows of a graph, before anything was made of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["GraphSource", "joined_sources"]


@dataclass(frozen=True, slots=True)
class GraphSource:
    """What the scheduler knows of a graph at the start: keys and dependencies, no task and no value.

    Parameters
    ----------
    dependencies
        Every key of the graph with the set of keys it needs.
    kept
        The requested keys.
    data
        Keys that are data, not tasks, with their size in bytes (NaN where unknown).
    grows
        Whether more keys may come.
    """

    dependencies: Mapping[object, Collection[object]]
    kept: frozenset[object]
    data: dict[object, float]
    grows: bool = False


def joined_sources(sources: Sequence[GraphSource]) -> GraphSource:
    """Return what came to a graph in several pieces as one piece."""
    dependencies: dict[object, Collection[object]] = {}
    kept: set[object] = set()
    for source in sources:
        dependencies.update(source.dependencies)
        kept |= source.kept
    return GraphSource(dependencies, frozenset(kept), {}, grows=True)
