"""Computes inside of tasks are runs of their own, drawn in lanes of their own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import dask
import pytest

from taskscope.record import Recorder
from tests.support.computes.local_computes import overlaps, run_facts, statuses, task_rows


def inner_compute(name: str, n: int = 3) -> int:
    parts = [dask.delayed(int)("1", dask_key_name=f"{name}{i}") for i in range(n)]
    return sum(dask.compute(*parts, scheduler="synchronous"))


def lanes_of(recorder: Recorder) -> dict[str, str]:
    tasks = recorder.snapshot().to_pandas("tasks")
    return {
        str(key): recorder.lanes[lane].label for key, lane in zip(tasks["key"], tasks["lane"], strict=True)
    }


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_compute_in_a_task_is_a_run_in_a_nested_lane(recorder: Recorder, scheduler: str) -> None:
    outer = dask.delayed(inner_compute)("inner", dask_key_name="outer")
    assert outer.compute(scheduler=scheduler) == 3
    assert task_rows(recorder, "key", "run") == [("inner0", 1), ("inner1", 1), ("inner2", 1), ("outer", 0)]
    lanes = lanes_of(recorder)
    assert {lanes[f"inner{i}"] for i in range(3)} == {f"{lanes['outer']} (nested 1)"}
    assert overlaps(recorder.snapshot().to_pandas("tasks")) == []
    assert run_facts(recorder, "n_tasks", "status") == [(1, "finished"), (3, "finished")]


def test_each_level_of_nesting_has_a_lane(recorder: Recorder) -> None:
    def level(depth: int) -> int:
        if depth == 3:
            return 0
        task = dask.delayed(level)(depth + 1, dask_key_name=f"level{depth + 1}")
        return int(task.compute(scheduler="synchronous")) + 1

    assert level(0) == 3
    assert lanes_of(recorder) == {
        "level1": "MainThread",
        "level2": "MainThread (nested 1)",
        "level3": "MainThread (nested 2)",
    }


def test_computes_one_after_another_in_a_task_share_its_nested_lane(recorder: Recorder) -> None:
    def twice() -> int:
        return inner_compute("first", 1) + inner_compute("second", 1)

    dask.delayed(twice)(dask_key_name="outer").compute(scheduler="synchronous")
    lanes = lanes_of(recorder)
    assert lanes["first0"] == lanes["second0"] == "MainThread (nested 1)"
    assert overlaps(recorder.snapshot().to_pandas("tasks")) == []


def test_a_failing_nested_compute_is_an_erred_run_in_an_erred_run(recorder: Recorder) -> None:
    def outer() -> None:
        dask.delayed(int)("no", dask_key_name="inner").compute(scheduler="synchronous")

    with pytest.raises(ValueError, match="invalid literal"):
        dask.delayed(outer)(dask_key_name="outer").compute(scheduler="threads")
    assert statuses(recorder) == {"outer": "erred", "inner": "erred"}
    assert run_facts(recorder, "status") == [("erred",), ("erred",)]


def test_a_nested_compute_of_a_task_whose_own_compute_has_failed_still_has_its_own_lane(
    recorder: Recorder,
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
    lanes = lanes_of(recorder)
    assert {lanes[f"inner{i}"] for i in range(3)} == {f"{lanes['outlives']} (nested 1)"}
    assert overlaps(recorder.snapshot().to_pandas("tasks")) == []


def test_concurrent_computes_do_not_look_nested(recorder: Recorder, thread_pool: ThreadPoolExecutor) -> None:
    together = threading.Barrier(2)

    def compute(name: str) -> None:
        task = dask.delayed(together.wait)(dask_key_name=name)
        task.compute(scheduler="synchronous")

    for future in [thread_pool.submit(compute, name) for name in ("a", "b")]:
        future.result()
    assert set(statuses(recorder)) == {"a", "b"}
    assert not [lane for lane in recorder.lanes if "nested" in lane.label]
    assert len(recorder.lanes) == 2
