"""Every local scheduler: what is recorded is what the tasks saw themselves."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ProcessPoolExecutor
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
from tests.support.computes.process_tasks import truth


def busy() -> int:
    return sum(range(2_000))


def traced(n: int) -> tuple[GroundTruth, Any]:
    """Return a graph of tasks that note their own times, and what they noted."""
    seen = GroundTruth()
    keys = [f"part{i}" for i in range(n)]
    # A text argument may be taken for a key: of the task itself, for one.
    parts = [dask.delayed(partial(seen.task, key, busy))(dask_key_name=key) for key in keys]
    return seen, dask.delayed(len)(parts, dask_key_name="whole")


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
