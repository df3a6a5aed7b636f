"""Graphs of every kind, and the columns that are made of them."""

from __future__ import annotations

import operator
import time
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask._task_spec import DataNode, Task, TaskRef, convert_legacy_graph
from dask.utils import key_split
from packaging.version import Version

import taskscope
from tests.support.computes.local_computes import run_facts, statuses, task_rows


def test_a_legacy_graph_of_tuples_is_recorded(run: taskscope.profile) -> None:
    graph = {"x": 1, "y": (operator.add, "x", 10), ("z", 0): (sum, ["x", "y"]), "alias": "y"}
    assert dask.get(graph, [("z", 0), "alias"]) == (12, 11)
    assert statuses(run) == {"y": "finished", "('z', 0)": "finished", "alias": "finished"}
    assert run_facts(run, "n_tasks", "status") == [(3, "finished")]


def test_a_graph_that_is_all_data_is_a_run_without_tasks(run: taskscope.profile) -> None:
    assert dask.get({"x": DataNode("x", 5), "y": 6}, ["x", "y"]) == (5, 6)
    assert run_facts(run, "n_tasks", "status") == [(0, "finished")]
    assert statuses(run) == {}
    cache = run.recording.to_pandas("cache")
    assert cache[["key", "metric"]].sort_values("key").to_numpy().tolist() == [["x", 28.0], ["y", 28.0]]


def test_fused_array_tasks_are_named_as_dask_names_their_keys(run: taskscope.profile) -> None:
    array = (da.ones((4, 4), chunks=2) + 1).sum(axis=0)
    array.compute(scheduler="synchronous")
    (optimised,) = dask.optimize(array)
    keys = [
        k
        for k, task in convert_legacy_graph(dict(optimised.__dask_graph__())).items()
        if not isinstance(task, DataNode)
    ]
    expected = sorted((repr(k), key_split(k), k[0]) for k in keys)
    recorded = task_rows(run, "key", "prefix", "group")
    assert set(expected) <= set(recorded)
    assert all(prefix == key_split(group) for _, prefix, group in recorded)
    assert not [prefix for _, prefix, _ in recorded if "subgraph" in str(prefix)]


def test_dependencies_are_those_of_the_graph(run: taskscope.profile) -> None:
    graph = {
        "given": DataNode("given", 1),
        ("load", 0): Task(("load", 0), int, "1"),
        ("load", 1): Task(("load", 1), int, "2"),
        "sum": Task("sum", add_all, TaskRef(("load", 0)), TaskRef(("load", 1)), TaskRef("given")),
        "left out": Task("left out", int),
    }
    assert dask.get(graph, "sum") == 4
    table = run.recording.to_pandas("dependencies")
    assert set(zip(table["key"], table["dependency"], strict=True)) == {
        ("sum", "('load', 0)"),
        ("sum", "('load', 1)"),
        ("sum", "given"),
    }
    assert len(table) == 3


def add_all(*numbers: int) -> int:
    return sum(numbers)


def test_result_sizes_are_those_of_the_results(run: taskscope.profile) -> None:
    frame = pd.DataFrame({"a": np.arange(100)})
    graph = {
        "array": Task("array", np.ones, 1_000),
        "frame": Task("frame", frame.copy),
        "nothing": Task("nothing", print, end=""),
    }
    dask.get(graph, list(graph))
    assert task_rows(run, "key", "result_bytes") == [
        ("array", 8_000.0),
        ("frame", float(frame.memory_usage().sum())),
        ("nothing", 16.0),
    ]


@pytest.mark.skipif(
    Version(dask.__version__) < Version("2025.4"),
    reason="older releases of Dask lose such a cache themselves",
)
def test_a_scheduler_s_own_cache_keeps_working(run: taskscope.profile) -> None:
    cache = {"x": 20}
    graph = {"y": Task("y", operator.neg, TaskRef("x"))}
    assert dask.local.get_async(dask.local.synchronous_executor.submit, 1, graph, "y", cache=cache) == -20
    assert statuses(run) == {"y": "finished"}


def test_of_a_graph_of_many_thousand_tasks_each_is_there_once_with_its_dependencies(
    run: taskscope.profile,
) -> None:
    parts = [("part", i) for i in range(12_000)]
    graph = {key: Task(key, int, "1") for key in parts} | {"sum": Task("sum", add_all, *map(TaskRef, parts))}
    assert dask.get(graph, "sum") == 12_000
    assert statuses(run) == dict.fromkeys([*map(repr, parts), "sum"], "finished")
    needed = run.recording.table("dependencies")
    assert (set(needed["key"]), set(needed["dependency"])) == ({"sum"}, set(map(repr, parts)))


@pytest.mark.skipif(
    Version(dask.__version__) < Version("2025.4"),
    reason="older releases of Dask name fused steps after the last one",
)
def test_a_step_that_dask_fuses_into_others_is_found_again_in_the_next_compute() -> None:
    def slow(block: Any) -> Any:
        time.sleep(0.02)
        return block

    values = da.from_array(np.ones((40, 40)), chunks=10).map_blocks(slow, dtype=float)
    with taskscope.profile(display=False) as run:
        values.mean().compute(scheduler="sync")
        values.std().compute(scheduler="sync")
    found = {finding.cause: finding for finding in run.recording.explain()}
    assert found["recomputed"].evidence["n_tasks"] == 16
