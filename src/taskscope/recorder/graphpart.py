"""What a reader has not read yet of a graph that is still being gone through."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import GraphColumns
from taskscope.model.keys import KeyBlock

__all__ = ["GraphPart", "GraphPlace", "Links", "graph_part", "part_of_columns"]

_MAX_EDGES = 1_000_000


@dataclass(frozen=True, slots=True)
class GraphPlace:
    """How many keys a reader has read, keys with dependencies, dependencies, and keys when it read `kept`."""

    keys: int = 0
    linked: int = 0
    edges: int = 0
    settled: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Dependencies of some keys: how many each has, and their numbers."""

    n_dependencies: NDArray[np.uint32]
    edges: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class GraphPart:
    """The next piece of a graph, whose numbers are all of keys in it or in pieces before.

    Parameters
    ----------
    place
        Where the next piece begins.
    n_keys
        How many keys the graph has by now.
    start
        When the run started; data is held from then on.
    keys, group
        Keys from the place before on, and their group ids.
    data, data_sizes
        The numbers of those that are data, and their bytes.
    links
        Dependencies of keys from the place before on, which may lag behind `keys`.
    kept
        The numbers of the requested keys; None before all dependencies were read, and where nothing is new.
    """

    place: GraphPlace
    n_keys: int
    start: float
    keys: KeyBlock
    group: NDArray[np.uint32]
    data: NDArray[np.int32]
    data_sizes: NDArray[np.float64]
    links: Links
    kept: NDArray[np.int32] | None

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing new."""
        return not len(self.keys) and not len(self.links.n_dependencies) and self.kept is None


def graph_part(
    at: GraphPlace,
    *,
    n_keys: int,
    start: float,
    keys: KeyBlock,
    group: NDArray[np.uint32],
    data: dict[int, float],
    links: Links,
    kept: NDArray[np.int32] | None,
) -> GraphPart:
    """Return a piece, with as many of the `links` as name only keys that have been read then."""
    n_read = at.keys + len(keys)
    links = _within(links, n_read)
    place = GraphPlace(n_read, at.linked + len(links.n_dependencies), at.edges + len(links.edges), at.settled)
    is_settled = kept is not None and place.linked == n_keys and at.settled != n_keys
    return GraphPart(
        place=replace(place, settled=n_keys) if is_settled else place,
        n_keys=n_keys,
        start=start,
        keys=keys,
        group=group,
        data=np.array(list(data), np.int32),
        data_sizes=np.array(list(data.values()), np.float64),
        links=links,
        kept=kept if is_settled else None,
    )


def _within(links: Links, n_read: int) -> Links:
    ends = np.cumsum(links.n_dependencies, dtype=np.int64)
    # A key with more dependencies than fit still goes, alone.
    count = max(int(np.searchsorted(ends, _MAX_EDGES, side="right")), min(len(ends), 1))
    edges = links.edges[: int(ends[count - 1])] if count else links.edges[:0]
    if len(edges) and int(edges.max()) >= n_read:
        count, edges = 0, edges[:0]
    return Links(links.n_dependencies[:count], edges)


def part_of_columns(graph: GraphColumns, at: GraphPlace, limit: int) -> GraphPart:
    """Return the next piece of a graph that is complete."""
    n = len(graph.group)
    last, linked = min(at.keys + limit, n), min(at.linked + limit, n)
    counts = graph.n_dependencies[at.linked : linked].astype(np.uint32)
    data = (graph.data >= at.keys) & (graph.data < last)
    return graph_part(
        at,
        n_keys=n,
        start=graph.enter_zero,
        keys=graph.keys.take(np.arange(at.keys, last)),
        group=graph.group[at.keys : last],
        data=dict(zip(graph.data[data].tolist(), graph.data_sizes[data].tolist(), strict=True)),
        links=Links(counts, graph.edges[at.edges : at.edges + int(counts.sum(dtype=np.int64))]),
        kept=graph.kept,
    )
