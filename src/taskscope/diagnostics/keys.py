"""Give back the keys of a recording as the objects that Dask had."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import GraphColumns
from taskscope.model.keys import TEXT, KeyBlock

__all__ = ["key_objects"]


def key_objects(
    graph: GraphColumns, tasks: NDArray[np.integer], groups: Sequence[str], kinds: frozenset[type]
) -> list[Any]:
    """Return the keys of these tasks.

    Parameters
    ----------
    graph
        The run's graph.
    tasks
        Numbers of tasks in it.
    groups
        The name of every group, by its id.
    kinds
        The types of the graph's keys, which tell the text ``"1"`` from the number 1.

    Notes
    -----
    What was recorded as text only comes back as text: keys longer than 4,096 characters, and those with a
    float that is not finite. Where a graph has a string that reads like another kind of key it has, it
    becomes that.
    """
    block = graph.keys.take(tasks)
    names = [groups[i] for i in graph.group[tasks].tolist()]
    return list(_decoded(block, names, kinds))


def _decoded(block: KeyBlock, names: Sequence[str], kinds: frozenset[type]) -> list[Any]:
    ints, texts = iter(block.ints.tolist()), iter(block.texts)
    literal = _as_it_is if kinds <= {str} else _literal_of(kinds)
    return [
        literal(next(texts)) if dims == TEXT else (name, *[next(ints) for _ in range(dims)])
        for dims, name in zip(block.dims.tolist(), names, strict=True)
    ]


def _as_it_is(text: str) -> Any:
    return text


def _literal_of(kinds: frozenset[type]) -> Callable[[str], Any]:
    def literal(text: str) -> Any:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
        return value if type(value) in kinds and repr(value) == text else text

    return literal
