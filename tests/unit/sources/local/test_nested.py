"""Computes inside of tasks are runs of their own, drawn in lanes of their own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import dask
import pytest

import taskscope
from tests.support.computes.local_computes import lanes_of_tasks, overlaps, run_facts, statuses, task_rows


def inner_compute(name: str, n: int = 3) -> int:
    parts = [dask.delayed(int)("1", dask_key_name=f"{name}{i}") for i in range(n)]
    return sum(dask.compute(*parts, scheduler="synchronous"))


def lanes_of(run: taskscope.profile) -> dict[str, str]:
    return {key: lane.label for key, lane in lanes_of_tasks(run).items()}


def assert_nested_in(run: taskscope.profile, outer: str) -> None:
    """Assert that the inner tasks have one lane, of the thread of the outer task."""
    # By number, as the system may give a thread that of one that has ended, and so its name.
    lanes = lanes_of_tasks(run)
    (inner,) = {lanes[f"inner{i}"] for i in range(3)}
    assert (inner.thread, inner.label.partition(" (")[2]) == (lanes[outer].thread, "nested 1)")


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_compute_in_a_task_is_a_run_in_a_nested_lane(run: taskscope.profile, scheduler: str) -> None:
    outer = dask.delayed(inner_compute)("inner", dask_key_name="outer")
    assert outer.compute(scheduler=scheduler) == 3
    assert task_rows(run, "key", "run") == [("inner0", 1), ("inner1", 1), ("inner2", 1), ("outer", 0)]
    assert_nested_in(run, "outer")
    assert overlaps(run.recording.to_pandas("tasks")) == []
    assert run_facts(run, "n_tasks", "status") == [(1, "finished"), (3, "finished")]


def test_each_level_of_nesting_has_a_lane(run: taskscope.profile) -> None:
    def level(depth: int) -> int:
        if depth == 3:
            return 0
        task = dask.delayed(level)(depth + 1, dask_key_name=f"level{depth + 1}")
        return int(task.compute(scheduler="synchronous")) + 1

    assert level(0) == 3
    assert lanes_of(run) == {
        "level1": "MainThread",
        "level2": "MainThread (nested 1)",
        "level3": "MainThread (nested 2)",
    }


def test_computes_one_after_another_in_a_task_share_its_nested_lane(run: taskscope.profile) -> None:
    def twice() -> int:
        return inner_compute("first", 1) + inner_compute("second", 1)

    dask.delayed(twice)(dask_key_name="outer").compute(scheduler="synchronous")
    lanes = lanes_of(run)
    assert lanes["first0"] == lanes["second0"] == "MainThread (nested 1)"
    assert overlaps(run.recording.to_pandas("tasks")) == []


def test_a_failing_nested_compute_is_an_erred_run_in_an_erred_run(run: taskscope.profile) -> None:
    def outer() -> None:
        dask.delayed(int)("no", dask_key_name="inner").compute(scheduler="synchronous")

    with pytest.raises(ValueError, match="invalid literal"):
        dask.delayed(outer)(dask_key_name="outer").compute(scheduler="threads")
    assert statuses(run) == {"outer": "erred", "inner": "erred"}
    assert run_facts(run, "status") == [("erred",), ("erred",)]


def test_a_nested_compute_of_a_task_whose_own_compute_has_failed_still_has_its_own_lane(
    run: taskscope.profile,
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def outlives() -> int:
        begun.set()
        go_on.wait()
        return inner_compute("inner")

    def bad() -> None:
        begun.wait()
        raise ValueError("no")

    tasks = [dask.delayed(outlives)(dask_key_name="outlives"), dask.delayed(bad)(dask_key_name="bad")]
    with ThreadPoolExecutor(2, thread_name_prefix="worker") as pool:
        with pytest.raises(ValueError, match="no"):
            dask.compute(*tasks, scheduler=pool)
        go_on.set()
    assert_nested_in(run, "outlives")
    assert overlaps(run.recording.to_pandas("tasks")) == []


def test_concurrent_computes_do_not_look_nested(
    run: taskscope.profile, thread_pool: ThreadPoolExecutor
) -> None:
    together = threading.Barrier(2)

    def compute(name: str) -> None:
        task = dask.delayed(together.wait)(dask_key_name=name)
        task.compute(scheduler="synchronous")

    for future in [thread_pool.submit(compute, name) for name in ("a", "b")]:
        future.result()
    assert set(statuses(run)) == {"a", "b"}
    # The system may give a thread the number, and so the lane, of one that has ended.
    assert not [label for label in lanes_of(run).values() if "nested" in label]
    assert len({lane.id for lane in lanes_of_tasks(run).values()}) == 2
