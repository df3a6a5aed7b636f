from __future__ import annotations

import threading
import time
from operator import add, mul
from typing import Any

import dask
import dask.threaded
import numpy as np
import pytest
from cachey import nbytes

from taskscope.diagnostics import CacheProfiler
from taskscope.errors import OptionError
from tests.support.computes.process_tasks import total

GRAPH = {"x": 1, "y": (add, "x", 10), "z": (mul, "y", 2)}
# Older releases of Dask also compute what nobody asked for.
GRAPH_OF_Y = {key: GRAPH[key] for key in ("x", "y")}


def metrics(cprof: CacheProfiler) -> list[tuple[object, object]]:
    return [(row.key, row.metric) for row in cprof.results]


def test_a_result_has_what_upstream_documents() -> None:
    with CacheProfiler() as cprof:
        start = time.perf_counter()
        assert dask.get(GRAPH, "z") == 22
    first, second = cprof.results
    assert first._fields == ("key", "task", "metric", "cache_time", "free_time")
    assert metrics(cprof) == [("y", 1), ("z", 1)]
    assert start < first.cache_time <= second.cache_time
    assert second.cache_time == pytest.approx(first.free_time, abs=1e-5)
    assert cprof.end_time is not None
    assert second.free_time < cprof.end_time
    assert (second.task.key, second.task.dependencies) == ("z", frozenset({"y"}))


def test_a_result_stays_until_its_last_dependent_has_ended_and_a_requested_one_to_the_end() -> None:
    graph = {"a": (abs, -1), "b": (abs, "a"), "c": (abs, "a"), "d": (add, "b", "c")}
    with CacheProfiler() as cprof:
        dask.get(graph, ["d", "b"])
    rows = {row.key: row for row in cprof.results}
    last = max(rows["b"].cache_time, rows["c"].cache_time)
    assert rows["a"].free_time == pytest.approx(last, abs=1e-5)
    assert rows["c"].free_time == pytest.approx(rows["d"].cache_time, abs=1e-5)
    assert rows["b"].free_time == rows["d"].free_time
    assert [row.key for row in cprof.results][:2] == ["a", "c"]


def test_each_of_several_metrics_measures_every_result_once() -> None:
    calls: list[object] = []

    def half(result: float) -> float:
        calls.append(result)
        return result / 2

    with CacheProfiler(half) as halves, CacheProfiler(nbytes) as sizes, CacheProfiler() as counts:
        dask.get({"a": (np.ones, 10), "b": (np.sum, "a")}, "b")
    assert [float(np.sum(row.metric)) for row in halves.results] == [5.0, 5.0]
    assert metrics(sizes) == [("a", 80), ("b", 8)]
    assert metrics(counts) == [("a", 1), ("b", 1)]
    assert len(calls) == 2
    assert [c._metric_name for c in (halves, sizes, counts)] == ["half", "nbytes", "count"]
    assert CacheProfiler(half, metric_name="foo")._metric_name == "foo"


def test_a_metric_that_raises_gives_none_and_costs_nobody_a_result() -> None:
    def metric(result: int) -> int:
        if result == 11:
            raise MemoryError("too much")
        return result

    with CacheProfiler(metric) as cprof:
        assert dask.get(GRAPH, "z") == 22
    assert metrics(cprof) == [("y", None), ("z", 22)]
    assert [m.text for m in cprof.recording.messages] == [
        "the cache metric failed and gave no value: MemoryError: too much"
    ]


def test_a_metric_that_cannot_be_pickled_works_with_processes() -> None:
    lock = threading.Lock()

    def metric(result: int) -> int:
        with lock:
            return result * 10

    graph = {"t": (total, [1, 2])}
    with CacheProfiler(metric) as cprof:
        answer: Any = dask.multiprocessing.get(graph, "t", num_workers=1)
    assert answer == 3
    assert metrics(cprof) == [("t", 30)]


def test_a_metric_that_is_no_function_or_a_name_that_is_no_text_is_told_at_once() -> None:
    with pytest.raises(OptionError) as raised:
        CacheProfiler("nbytes")  # type: ignore[arg-type]  # wrong on purpose
    text = "metric must be a function of a result, such as cachey.nbytes, got 'nbytes'"
    assert str(raised.value) == text
    with pytest.raises(OptionError) as raised:
        CacheProfiler(nbytes, metric_name=3)  # type: ignore[arg-type]  # wrong on purpose
    assert str(raised.value) == "metric_name must be a text, such as 'bytes', got 3"


def test_registered_it_goes_on_and_the_metric_of_others_is_left_alone() -> None:
    cprof = CacheProfiler(nbytes)
    cprof.register()
    dask.get(GRAPH, "z")
    assert len(cprof.results) == 2
    dask.get(GRAPH_OF_Y, "y")
    assert len(cprof.results) == 3
    cprof.unregister()
    assert cprof.recording.metadata["metric"] == "nbytes"
    cprof.clear()
    assert cprof.results == []
