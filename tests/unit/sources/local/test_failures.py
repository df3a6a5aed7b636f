"""Computes that do not end well: every task that began has exactly one end, and it is the true one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import dask
import pytest

import taskscope
from tests.support.computes.local_computes import process_pool, run_facts, statuses, task_rows
from tests.support.computes.process_tasks import (
    OwnReduceError,
    fail,
    fail_by_own_recipe,
    interrupt,
    pass_through,
    pass_through_quickly,
    pid,
    unpicklable,
    wait_then,
)

ENDS = ("key", "status", "observed_by", "error")


def compute_fails(graph: Any, error: type[BaseException], **options: Any) -> BaseException:
    with pytest.raises(error) as caught:
        graph.compute(**options)
    return caught.value


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_task_that_raises_is_erred_with_type_and_message(run: taskscope.profile, scheduler: str) -> None:
    good = dask.delayed(int)("7", dask_key_name="good")
    compute_fails(dask.delayed(int)("no", good, dask_key_name="bad"), ValueError, scheduler=scheduler)
    text = "ValueError: invalid literal for int() with base 7: 'no'"
    assert task_rows(run, *ENDS) == [
        ("bad", "erred", "worker", text),
        ("good", "finished", "worker", None),
    ]
    assert run_facts(run, "status", "error", "n_tasks") == [("erred", text, 2)]


def test_tasks_that_never_began_have_no_row(run: taskscope.profile) -> None:
    bad = dask.delayed(fail)("no", dask_key_name="bad")
    compute_fails(dask.delayed(len)(bad, dask_key_name="after"), ValueError, scheduler="synchronous")
    assert statuses(run) == {"bad": "erred"}
    assert run_facts(run, "n_tasks") == [(2,)]


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


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_an_interrupt_in_a_task_interrupts_task_and_run(run: taskscope.profile, scheduler: str) -> None:
    compute_fails(dask.delayed(interrupt)(dask_key_name="x"), KeyboardInterrupt, scheduler=scheduler)
    assert task_rows(run, *ENDS) == [("x", "interrupted", "worker", "KeyboardInterrupt")]
    assert run_facts(run, "status", "error") == [("interrupted", "KeyboardInterrupt")]


def test_tasks_in_flight_after_ctrl_c_are_interrupted(run: taskscope.profile) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        go_on.wait()

    def press_ctrl_c(*_: object) -> None:
        begun.wait()
        raise KeyboardInterrupt

    done = dask.delayed(int)("7", dask_key_name="done")
    slow_task = dask.delayed(slow)(dask_key_name="slow")
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(KeyboardInterrupt):
            dask.compute(
                done,
                slow_task,
                scheduler=pool,
                callbacks=[(None, None, None, press_ctrl_c, None)],
            )
        assert statuses(run) == {"done": "finished", "slow": "interrupted"}
        go_on.set()
    assert statuses(run) == {"done": "finished", "slow": "interrupted"}
    assert run_facts(run, "status") == [("interrupted",)]


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
    def test_a_task_that_raises_is_erred_and_timed_there(
        self, run: taskscope.profile, options: dict[str, Any]
    ) -> None:
        compute_fails(dask.delayed(fail)("no", dask_key_name="bad"), ValueError, **options)
        assert task_rows(run, *ENDS) == [("bad", "erred", "worker", "ValueError: no")]
        assert task_rows(run, "worker") != [(str(os.getpid()),)]
        assert run_facts(run, "status", "error") == [("erred", "ValueError: no")]

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

    def test_an_interrupt_in_a_task_interrupts_task_and_run(
        self, run: taskscope.profile, options: dict[str, Any]
    ) -> None:
        compute_fails(dask.delayed(interrupt)(dask_key_name="x"), KeyboardInterrupt, **options)
        assert task_rows(run, "key", "status") == [("x", "interrupted")]
        assert run_facts(run, "status") == [("interrupted",)]


@pytest.mark.parametrize("pull_first", [True, False])
def test_a_process_task_in_flight_at_failure_is_interrupted_once_even_if_it_ends_later(
    run: taskscope.profile, processes: ProcessPoolExecutor, tmp_path: Path, *, pull_first: bool
) -> None:
    pipe, trigger = tmp_path / "pipe", tmp_path / "trigger"
    os.mkfifo(pipe)
    os.mkfifo(trigger)
    failed = threading.Event()

    def go_on_after_the_failure() -> None:
        # Opening a named pipe waits until the task at its other end is there.
        with pipe.open("w"):
            trigger.write_text("fail")
            failed.wait()

    helper = threading.Thread(target=go_on_after_the_failure)
    helper.start()
    slow = dask.delayed(pass_through)(str(pipe), dask_key_name="slow")
    bad = dask.delayed(wait_then)(str(trigger), "fail", dask_key_name="bad")
    with pytest.raises(ValueError, match="no"):
        dask.compute(slow, bad, scheduler=processes)
    seen_first = statuses(run) if pull_first else None
    failed.set()
    helper.join()
    # Both processes answer once more, so what was in flight has been answered too.
    list(processes.map(pass_through_quickly, range(8)))
    assert seen_first in (None, {"slow": "interrupted", "bad": "erred"})
    assert statuses(run) == {"slow": "interrupted", "bad": "erred"}


def test_tasks_of_a_process_that_died_are_lost(run: taskscope.profile, tmp_path: Path) -> None:
    pipe, trigger = tmp_path / "pipe", tmp_path / "trigger"
    os.mkfifo(pipe)
    os.mkfifo(trigger)
    done = dask.delayed(pid)(dask_key_name="done")
    slow = dask.delayed(pass_through)(str(pipe), dask_key_name="slow")
    killed = dask.delayed(wait_then)(str(trigger), "die", dask_key_name="killed")
    with process_pool() as pool:
        dask.compute(done, scheduler=pool)
        # Opening a named pipe waits until the task at its other end is there.
        helper = threading.Thread(target=trigger.write_text, args=("die",))
        helper.start()
        with pytest.raises(BrokenProcessPool):
            dask.compute(slow, killed, scheduler=pool)
        helper.join()
    rows = task_rows(run, "key", "status", "observed_by")
    assert rows == [
        ("done", "finished", "worker"),
        ("killed", "lost", "scheduler"),
        ("slow", "lost", "scheduler"),
    ]
    assert [status for (status,) in run_facts(run, "status")] == ["finished", "erred"]


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
