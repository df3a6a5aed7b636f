"""Executors whose workers may be anywhere: tasks are left alone, and timed as the scheduler sees them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import dask

import taskscope
from tests.support.computes.local_computes import run_facts


class Elsewhere(Executor):
    """Runs what it is given at once, after looking at the types of the tasks."""

    _max_workers = 2

    def __init__(self) -> None:
        self.kinds: set[str] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.kinds |= {type(task[1][0]).__name__ for task in args[0]}
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Copying(ThreadPoolExecutor):
    """Sends what it runs through pickle without leaving the process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(fn, *pickle.loads(pickle.dumps(args)), **kwargs)


def total(numbers: list[int]) -> Any:
    parts = [dask.delayed(abs)(n) for n in numbers]
    return dask.delayed(sum)(parts)


def test_tasks_of_a_foreign_executor_are_not_replaced_and_have_the_scheduler_s_times(
    run: taskscope.profile,
) -> None:
    elsewhere = Elsewhere()
    assert total([-1, 2, -3]).compute(scheduler=elsewhere) == 6
    assert elsewhere.kinds == {"Task"}
    tasks = run.recording.to_pandas("tasks").sort_values("stop_s")
    assert list(tasks["prefix"]) == ["abs", "abs", "abs", "sum"]
    assert set(tasks["status"]) == {"finished"}
    assert set(tasks["observed_by"]) == {"scheduler"}
    assert (tasks["stop_s"] >= tasks["start_s"]).all()
    for _, lane in tasks.sort_values("start_s").groupby("lane"):
        assert (lane["start_s"].to_numpy()[1:] >= lane["stop_s"].to_numpy()[:-1]).all()
    assert run_facts(run, "scheduler", "status", "n_tasks") == [("Elsewhere", "finished", 4)]


def test_a_task_that_no_worker_reports_has_the_scheduler_s_times(run: taskscope.profile) -> None:
    with Copying(2) as pool:
        assert total([-1, 2, -3]).compute(scheduler=pool) == 6
    tasks = run.recording.to_pandas("tasks")
    assert sorted(tasks["prefix"]) == ["abs", "abs", "abs", "sum"]
    assert set(zip(tasks["status"], tasks["observed_by"], strict=True)) == {("finished", "scheduler")}
