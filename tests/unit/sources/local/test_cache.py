"""What the scheduler held, when it entered and when it left, in what metric."""

from __future__ import annotations

import math
from typing import Any

import dask
import numpy as np
import pytest
from dask._task_spec import DataNode, Task, TaskRef
from dask.callbacks import Callback

import taskscope
from tests.support.computes.local_computes import run_facts, watching


def chain(n: int) -> dict[str, Any]:
    tasks = {f"x{i}": Task(f"x{i}", abs, TaskRef(f"x{i - 1}")) for i in range(1, n)}
    return {"x0": Task("x0", int, "7"), **tasks}


class CacheWatcher(Callback):
    """Looks into the scheduler's cache after every task."""

    def __init__(self) -> None:
        self.held: list[set[object]] = []

    def _posttask(
        self, key: object, result: object, dsk: dict[Any, Any], state: dict[str, Any], worker: object
    ) -> None:
        self.held.append(set(state["cache"]))


def held_after_each_landing(run: taskscope.profile) -> list[set[object]]:
    """Return which keys the recording says were held, right after each task landed."""
    cache = run.recording.to_pandas("cache")
    tasks = set(run.recording.to_pandas("tasks")["key"])
    landings = sorted(cache["enter_s"][cache["key"].isin(tasks)])
    return [set(cache["key"][(cache["enter_s"] <= now) & (cache["exit_s"] > now)]) for now in landings]


DIAMOND = {
    "given": DataNode("given", 3),
    "top": Task("top", max, 1, TaskRef("given")),
    "left": Task("left", max, 2, TaskRef("top")),
    "right": Task("right", max, 3, TaskRef("top")),
    "bottom": Task("bottom", max, TaskRef("left"), TaskRef("right")),
}


@pytest.mark.parametrize(
    ("graph", "keys"),
    [(chain(6), ["x5"]), (chain(6), ["x5", "x2"]), (DIAMOND, ["bottom"]), (DIAMOND, ["bottom", "given"])],
)
def test_the_recording_holds_what_the_scheduler_held_after_each_task(
    run: taskscope.profile, graph: dict[str, Any], keys: list[str]
) -> None:
    with CacheWatcher() as watcher:
        dask.get(graph, keys)
    assert held_after_each_landing(run) == watcher.held
    ((stop_s,),) = run_facts(run, "stop_s")
    cache = run.recording.to_pandas("cache")
    leave = dict(zip(cache["key"], cache["exit_s"], strict=True))
    assert {leave[key] for key in keys} == {stop_s}


def metrics(run: taskscope.profile) -> dict[str, float | None]:
    table = run.recording.to_pandas("cache")
    values = [None if math.isnan(m) else m for m in table["metric"]]
    return dict(zip(table["key"], values, strict=True))


def test_without_a_metric_the_cache_is_measured_in_bytes(run: taskscope.profile) -> None:
    graph = {"given": np.ones(10), "a": (np.ones, 1_000), "b": (np.add, "a", "given"), "c": (len, "a")}
    dask.get({k: v for k, v in graph.items() if k != "b"}, ["given", "c"])
    assert metrics(run) == {"given": 80.0, "a": 8_000.0, "c": 28.0}


def test_counting_counts_one_per_key() -> None:
    with watching(metric="count") as run:
        dask.get(DIAMOND, "bottom")
    assert metrics(run) == dict.fromkeys(DIAMOND, 1.0)


def test_a_failed_compute_held_what_it_had_until_its_end(run: taskscope.profile) -> None:
    graph = {
        "a": Task("a", int, "7"),
        "b": Task("b", int, "no"),
        "c": Task("c", max, TaskRef("a"), TaskRef("b")),
    }
    with pytest.raises(ValueError, match="invalid literal"):
        dask.get(graph, "c")
    ((stop_s,),) = run_facts(run, "stop_s")
    cache = run.recording.to_pandas("cache")
    assert set(zip(cache["key"], cache["exit_s"], strict=True)) <= {("a", stop_s)}
