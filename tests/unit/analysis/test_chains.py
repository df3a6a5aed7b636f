from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taskscope.analysis.time_left import graph_levels, longest_chain_s

# Task i needs some of the tasks before it.
GRAPHS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(set[int]()), *(st.sets(st.integers(0, i - 1)) for i in range(1, n)))
)


def longest(graph: tuple[set[int], ...], task_s: list[float]) -> float:
    """The same, the slow and obvious way."""
    until_s: list[float] = []
    for needed, own_s in zip(graph, task_s, strict=True):
        until_s.append(own_s + max((until_s[i] for i in needed), default=0.0))
    return max(until_s)


@given(GRAPHS, st.lists(st.integers(0, 9).map(float), min_size=12, max_size=12))
def test_the_longest_chain_is_that_of_a_walk_through_the_graph(
    graph: tuple[set[int], ...], seconds: list[float]
) -> None:
    n_dependencies = np.array([len(needed) for needed in graph], np.uint32)
    edges = np.array([i for needed in graph for i in sorted(needed)], np.int32)
    levels = graph_levels(n_dependencies, edges)
    assert levels is not None
    task_s = seconds[: len(graph)]
    assert longest_chain_s(levels, np.array(task_s)) == longest(graph, task_s)


def test_a_graph_too_deep_to_walk_through_while_it_runs_has_no_levels() -> None:
    n = 600
    chain = np.array([0] + [1] * (n - 1), np.uint32), np.arange(n - 1, dtype=np.int32)
    assert graph_levels(*chain) is None
