"""Every local scheduler: what is recorded is what the tasks saw themselves."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

import dask
import numpy as np
import pytest

import taskscope
from tests.support.computes.local_computes import (
    GroundTruth,
    lanes_of_tasks,
    not_enclosed,
    overlaps,
    run_facts,
    statuses,
    task_rows,
)
from tests.support.computes.process_tasks import total, truth

N_TASKS = 30


def busy() -> int:
    return sum(range(2_000))


def traced(n: int) -> tuple[GroundTruth, Any]:
    """Return a graph of tasks that note their own times, and what they noted."""
    seen = GroundTruth()
    keys = [f"part{i}" for i in range(n)]
    # A text argument may be taken for a key: of the task itself, for one.
    parts = [dask.delayed(partial(seen.task, key, busy))(dask_key_name=key) for key in keys]
    return seen, dask.delayed(len)(parts, dask_key_name="whole")


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_recorded_times_enclose_what_tasks_saw_on_the_thread_they_saw(
    run: taskscope.profile, scheduler: str
) -> None:
    seen, graph = traced(N_TASKS)
    assert graph.compute(scheduler=scheduler) == N_TASKS
    assert seen.violations(run.recording.to_pandas("tasks")) == []
    tasks = run.recording.to_pandas("tasks")
    assert overlaps(tasks) == []
    assert statuses(run) == dict.fromkeys([*(f"part{i}" for i in range(N_TASKS)), "whole"], "finished")
    assert set(tasks["observed_by"]) == {"worker"}
    assert set(tasks["worker"]) == {str(os.getpid())}
    assert (tasks["cpu_s"] <= tasks["stop_s"] - tasks["start_s"]).all()


def test_a_thread_pool_of_the_user_is_recorded_with_a_lane_per_thread(
    run: taskscope.profile, thread_pool: ThreadPoolExecutor
) -> None:
    together = threading.Barrier(4)
    seen = GroundTruth()
    keys = [f"part{i}" for i in range(4)]
    parts = [dask.delayed(partial(seen.task, key, together.wait))(dask_key_name=key) for key in keys]
    dask.compute(*parts, scheduler=thread_pool)
    assert seen.violations(run.recording.to_pandas("tasks")) == []
    lanes = lanes_of_tasks(run).values()
    assert sorted(lane.thread for lane in lanes) == sorted(ident for _, _, _, ident in seen.seen)
    assert run_facts(run, "scheduler", "n_workers", "n_tasks", "status") == [("threads", 4, 4, "finished")]


def test_the_synchronous_scheduler_runs_on_the_thread_that_computes(run: taskscope.profile) -> None:
    dask.delayed(busy)(dask_key_name="x").compute(scheduler="synchronous")
    (lane,) = lanes_of_tasks(run).values()
    assert (lane.worker, lane.thread, lane.label) == (str(os.getpid()), threading.get_ident(), "MainThread")
    assert run_facts(run, "scheduler", "n_workers", "n_tasks", "status", "error") == [
        ("synchronous", 1, 1, "finished", None)
    ]


@pytest.mark.parametrize("bare", [True, False])
def test_tasks_in_other_processes_are_timed_there(
    run: taskscope.profile, processes: ProcessPoolExecutor, *, bare: bool
) -> None:
    options = {"scheduler": processes} if bare else {"scheduler": "processes", "pool": processes}
    keys = [f"part{i}" for i in range(8)]
    parts = [dask.delayed(truth)(f"of {key}", dask_key_name=key) for key in keys]
    seen = dict(zip(keys, dask.compute(*parts, **options), strict=True))
    tasks = run.recording.to_pandas("tasks")
    assert statuses(run) == dict.fromkeys(keys, "finished")
    for _, row in tasks.iterrows():
        assert (row["worker"], row["observed_by"]) == (str(seen[row["key"]][0]), "worker")
    assert not_enclosed(tasks, {key: (start, stop) for key, (_, start, stop) in seen.items()}) == []
    assert overlaps(tasks) == []
    assert run_facts(run, "scheduler", "n_tasks", "status") == [("processes", 8, "finished")]
    assert {lane.label for lane in lanes_of_tasks(run).values()} == {
        f"process {pid}" for pid, _, _ in seen.values()
    }


def test_results_from_other_processes_are_bare_and_sized(
    run: taskscope.profile, processes: ProcessPoolExecutor
) -> None:
    array = dask.delayed(np.ones)(1_000, dask_key_name="array")
    (result,) = dask.compute(array, scheduler=processes)
    assert (type(result), result.nbytes) == (np.ndarray, 8_000)
    assert task_rows(run, "key", "result_bytes") == [("array", 8_000.0)]


def test_processes_pass_results_on_between_tasks_unchanged(
    run: taskscope.profile, processes: ProcessPoolExecutor
) -> None:
    parts = [dask.delayed(int)(str(i)) for i in range(10)]
    assert dask.delayed(total)(parts).compute(scheduler="processes", pool=processes) == 45
    assert set(statuses(run).values()) == {"finished"}


def test_a_compute_that_is_running_shows_its_tasks_in_flight(run: taskscope.profile) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> str:
        begun.set()
        go_on.wait()
        return "done"

    graph = dask.delayed(wait)(dask_key_name="slow")
    answers: list[str] = []
    compute = threading.Thread(target=lambda: answers.append(graph.compute(scheduler="synchronous")))
    compute.start()
    begun.wait()
    assert statuses(run) == {"slow": "running"}
    assert run_facts(run, "status", "n_tasks") == [("running", 1)]
    go_on.set()
    compute.join()
    assert (answers, statuses(run)) == (["done"], {"slow": "finished"})


def test_several_computes_are_runs_of_their_own(run: taskscope.profile) -> None:
    for name in ("a", "b", "c"):
        dask.delayed(busy)(dask_key_name=name).compute(scheduler="synchronous")
    assert task_rows(run, "key", "run") == [("a", 0), ("b", 1), ("c", 2)]
    starts, stops = zip(*run_facts(run, "start_s", "stop_s"), strict=True)
    assert [*starts] == sorted(starts)
    assert all(stop <= start for stop, start in zip(stops, starts[1:], strict=False))


def test_every_snapshot_of_a_running_compute_has_each_task_at_most_once(run: taskscope.profile) -> None:
    _, graph = traced(300)
    computing = threading.Thread(target=lambda: graph.compute(scheduler="threads", num_workers=3))
    computing.start()
    counts = []
    while computing.is_alive():
        seen = statuses(run)
        assert set(seen.values()) <= {"finished", "running"}
        counts.append(len(seen))
    assert counts == sorted(counts)
    assert list(statuses(run).values()) == ["finished"] * 301
