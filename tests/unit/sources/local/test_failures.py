"""Computes that do not end well: every task that began has exactly one end, and it is the true one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import dask
import pytest

import taskscope
from tests.support.computes.local_computes import run_facts, statuses, task_rows
from tests.support.computes.process_tasks import (
    OwnReduceError,
    fail,
    fail_by_own_recipe,
    unpicklable,
)

ENDS = ("key", "status", "observed_by", "error")


def compute_fails(graph: Any, error: type[BaseException], **options: Any) -> BaseException:
    with pytest.raises(error) as caught:
        graph.compute(**options)
    return caught.value


def test_a_task_that_is_in_flight_when_another_fails_is_interrupted(run: taskscope.profile) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        go_on.wait()

    def bad() -> None:
        begun.wait()
        raise ValueError("no")

    tasks = [dask.delayed(slow)(dask_key_name="slow"), dask.delayed(bad)(dask_key_name="bad")]
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(ValueError, match="no"):
            dask.compute(*tasks, scheduler=pool)
        assert statuses(run) == {"slow": "interrupted", "bad": "erred"}
        go_on.set()
    assert task_rows(run, *ENDS) == [
        ("bad", "erred", "worker", "ValueError: no"),
        ("slow", "interrupted", "worker", None),
    ]
    ((stop_of_run,),) = run_facts(run, "stop_s")
    ((_, stop_of_task), *_) = sorted(task_rows(run, "key", "stop_s"), reverse=True)
    assert isinstance(stop_of_task, float)
    assert isinstance(stop_of_run, float)
    assert stop_of_task > stop_of_run


def test_two_tasks_that_fail_at_once_are_both_erred(run: taskscope.profile) -> None:
    together = threading.Barrier(2)

    def bad(number: int) -> None:
        together.wait()
        raise ValueError(number)

    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match=r"0|1"):
        dask.compute(*(dask.delayed(bad)(i, dask_key_name=f"bad{i}") for i in range(2)), scheduler=pool)
    assert task_rows(run, "key", "status", "error") == [
        ("bad0", "erred", "ValueError: 0"),
        ("bad1", "erred", "ValueError: 1"),
    ]


def test_a_failed_task_that_dask_runs_again_here_is_one_task(run: taskscope.profile) -> None:
    graph = dask.delayed(fail)("no", dask_key_name="bad")
    compute_fails(graph, ValueError, scheduler="synchronous", rerun_exceptions_locally=True)
    compute_fails(graph, ValueError, scheduler="threads", rerun_exceptions_locally=True)
    assert task_rows(run, "run", *ENDS) == [
        (run, "bad", "erred", "worker", "ValueError: no") for run in (0, 1)
    ]


class InProcesses:
    @pytest.fixture(params=[True, False], ids=["bare", "dask"])
    def options(self, request: pytest.FixtureRequest, processes: ProcessPoolExecutor) -> dict[str, Any]:
        bare: bool = request.param
        return {"scheduler": processes} if bare else {"scheduler": "processes", "pool": processes}


class TestInProcesses(InProcesses):
    def test_an_error_that_pickles_by_its_own_recipe_is_erred_as_well(
        self, run: taskscope.profile, options: dict[str, Any]
    ) -> None:
        graph = dask.delayed(fail_by_own_recipe)(42, dask_key_name="bad")
        compute_fails(graph, OwnReduceError, **options)
        assert task_rows(run, "key", "status", "error") == [("bad", "erred", "OwnReduceError: 42")]

    def test_a_result_that_cannot_travel_is_erred(
        self, run: taskscope.profile, options: dict[str, Any]
    ) -> None:
        graph = dask.delayed(unpicklable)(dask_key_name="bad")
        compute_fails(graph, TypeError, **options)
        assert task_rows(run, "key", "status", "error") == [
            ("bad", "erred", "TypeError: cannot pickle 'generator' object")
        ]


@pytest.mark.parametrize("hook", range(4))
def test_a_callback_of_the_user_that_raises_ends_the_run_as_it_ended_the_compute(
    run: taskscope.profile, hook: int
) -> None:
    def careless(*_: object) -> None:
        raise ValueError("careless")

    hooks: list[Callable[..., None] | None] = [None] * 5
    hooks[hook] = careless
    graph = dask.delayed(int)("7", dask_key_name="x")
    compute_fails(graph, ValueError, scheduler="synchronous", callbacks=[tuple(hooks)])
    # The user's own comes first: when it fails at the start, no run has begun.
    ends = [("erred", "ValueError: careless")] if hook else []
    assert run_facts(run, "status", "error") == ends
    assert "running" not in [status for (status,) in run_facts(run, "status")]


def test_a_callback_of_the_user_that_raises_at_the_finish_leaves_no_run_open(run: taskscope.profile) -> None:
    def careless(*_: object) -> None:
        raise ValueError("careless")

    graph = dask.delayed(int)("7", dask_key_name="x")
    compute_fails(graph, ValueError, scheduler="synchronous", callbacks=[(None, None, None, None, careless)])
    # All tasks are done by then; what the user's own callback does afterwards is not the run's.
    assert run_facts(run, "status", "error") == [("finished", None)]
    assert statuses(run) == {"x": "finished"}
    assert "running" not in [status for (status,) in run_facts(run, "status")]


def test_a_graph_that_cannot_start_is_a_run_that_erred(run: taskscope.profile) -> None:
    with pytest.raises(RuntimeError, match="Cycle"):
        dask.get({"x": (int, "y"), "y": (int, "x")}, "x")
    ((status, error),) = run_facts(run, "status", "error")
    assert status == "erred"
    assert str(error).startswith("RuntimeError: Cycle")
    assert statuses(run) == {}
