"""Dask's own diagnostics beside ours see what they see without us."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import dask
import pytest
from dask._task_spec import DataNode, Task, TaskRef
from dask.callbacks import Callback

import taskscope
from tests.support.computes.local_computes import statuses, watching
from tests.support.computes.process_tasks import pid

GRAPH = {
    "given": DataNode("given", 3),
    "a": Task("a", int, "7"),
    "b": Task("b", max, TaskRef("a"), TaskRef("given")),
}


class Everything(Callback):
    """Notes all that every hook is told."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []

    def _start(self, dsk: dict[Any, Any]) -> None:
        self.told.append(("start", {key: type(task) for key, task in dsk.items()}))

    def _start_state(self, dsk: dict[Any, Any], state: dict[str, Any]) -> None:
        self.told.append(("start_state", sorted(state), dict(state["cache"])))

    def _pretask(self, key: object, dsk: dict[Any, Any], state: dict[str, Any]) -> None:
        self.told.append(("pretask", key, type(dsk[key]), dsk[key].func, sorted(state["running"])))

    def _posttask(
        self, key: object, result: object, dsk: dict[Any, Any], state: dict[str, Any], worker: object
    ) -> None:
        self.told.append(("posttask", key, result, dsk[key].func, dsk[key].dependencies, worker))

    def _finish(self, dsk: dict[Any, Any], state: dict[str, Any], failed: bool) -> None:  # noqa: FBT001 - Dask calls it so
        self.told.append(("finish", sorted(map(str, dsk)), failed))


def test_hooks_of_others_are_told_what_they_are_told_without_us() -> None:
    def told() -> list[tuple[object, ...]]:
        everything = Everything()
        with everything:
            assert dask.get(GRAPH, "b") == 7
        return everything.told

    expected = told()
    with watching():
        assert told() == expected


def test_after_the_compute_the_graph_holds_its_own_tasks_again(run: taskscope.profile) -> None:
    graphs: list[dict[Any, Any]] = []
    with Callback(finish=lambda dsk, *_: graphs.append(dict(dsk))):
        dask.get(GRAPH, "b")
    assert {key: type(task) for key, task in graphs[0].items()} == {
        key: type(task) for key, task in GRAPH.items()
    }
    assert statuses(run) == {"a": "finished", "b": "finished"}


def test_a_callback_that_replaces_tasks_by_results_it_knows_is_heeded(run: taskscope.profile) -> None:
    # As dask.cache.Cache does.
    with Callback(start=lambda dsk: dsk.update(a=DataNode("a", 5))):
        assert dask.get(GRAPH, "b") == 5
    assert statuses(run) == {"b": "finished"}


@pytest.mark.parametrize("bare", [True, False])
def test_results_that_hooks_are_told_of_other_processes_are_bare(
    run: taskscope.profile, processes: ProcessPoolExecutor, *, bare: bool
) -> None:
    results: list[object] = []
    graph = dask.delayed(pid)(dask_key_name="x")
    options: dict[str, Any] = (
        {"scheduler": processes} if bare else {"scheduler": "processes", "pool": processes}
    )
    with Callback(posttask=lambda _key, result, *_: results.append(result)):
        answer = graph.compute(**options)
    assert results == [answer]
    assert type(answer) is int
