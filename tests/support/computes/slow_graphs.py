"""Collections and arguments that take their time before any task runs, and say how long."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import dask.threaded

__all__ = ["SLOW_S", "Collection", "SlowToSend", "took"]

SLOW_S = 0.3
took: dict[str, list[float]] = {}
"""How long each took, by what was slow; of this process."""


def be_slow(what: str) -> None:
    began = time.perf_counter()
    time.sleep(SLOW_S)
    took.setdefault(what, []).append(time.perf_counter() - began)


class Collection:
    """A collection of one graph that is slow to optimize."""

    __dask_scheduler__ = staticmethod(dask.threaded.get)

    def __init__(self, graph: Mapping[Hashable, Any], key: Hashable) -> None:
        self._graph = graph
        self._key = key

    def __dask_graph__(self) -> Mapping[Hashable, Any]:
        return self._graph

    def __dask_keys__(self) -> list[Hashable]:
        return [self._key]

    def __dask_tokenize__(self) -> object:
        return type(self).__name__, str(self._key)

    def __dask_postcompute__(self) -> tuple[Callable[[Any], Any], tuple[()]]:
        return first, ()

    def __dask_postpersist__(self) -> tuple[Callable[..., Collection], tuple[Hashable]]:
        return Collection, (self._key,)

    @staticmethod
    def __dask_optimize__(graph: Any, _keys: object, **_: object) -> Any:
        be_slow("optimize")
        return graph


def first(results: Any) -> Any:
    return results[0]


class SlowToSend:
    """What is slow to pickle, and comes out as 7."""

    def __reduce__(self) -> Any:
        be_slow("pickle")
        return int, (7,)
