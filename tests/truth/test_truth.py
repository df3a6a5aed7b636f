"""What is recorded is what tasks did, by what they wrote themselves, on every scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster

import taskscope
from tests.support.computes.local_computes import process_pool
from tests.support.truth import Execution, read, violations
from tests.support.waiting import PATIENCE_S, be_patient, until
from tests.truth import workloads as w
from tests.truth.workloads import ClusterStage, Stage, Workload

SLACK_S = 1.0
"""How far the times of a cluster may be off: how well they are known depends on how soon workers report."""

EVERYWHERE = [w.plain, w.fail, w.loop, w.persist, w.nested]
BESIDE_EACH_OTHER = [w.overlap, w.in_flight]
LOCALLY = [w.interrupt, w.interrupt_in_task]
ON_A_CLUSTER = [
    w.retry, w.retry_by_hand, w.kill_worker, w.cancel, w.release, w.submit_loop, w.submitted_by_a_task,
    w.scale_up, w.steal,
]  # fmt: skip


def truth(workload: Workload, stage: Stage) -> list[str]:
    """Return what is not true of the recording of a workload, and of the file that it is saved to."""
    with stage.run:
        expected = workload(stage)
    recording = stage.run.wait(PATIENCE_S)
    file = stage.gate.with_name("run.taskscope")
    recording.save(file)
    slack_s = SLACK_S if isinstance(stage, ClusterStage) else 0.0
    return [
        each
        for found in (recording, taskscope.load(file))
        for each in violations(found, read(stage.truth), expected, slack_s=slack_s)
    ]


@pytest.mark.parametrize("workload", [*EVERYWHERE, *LOCALLY])
def test_the_synchronous_scheduler(workload: Workload, tmp_path: Path) -> None:
    assert truth(workload, Stage(tmp_path, "synchronous", scheduler="synchronous")) == []


@pytest.mark.parametrize("workload", [*EVERYWHERE, *BESIDE_EACH_OTHER, *LOCALLY])
def test_threads(workload: Workload, tmp_path: Path) -> None:
    assert truth(workload, Stage(tmp_path, "threads", scheduler="threads", num_workers=3)) == []


@pytest.mark.parametrize("workload", [*EVERYWHERE, *BESIDE_EACH_OTHER, *LOCALLY, w.abandon])
def test_an_executor_of_the_user(workload: Workload, tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        assert truth(workload, Stage(tmp_path, "threads", scheduler=pool)) == []


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """A pool of two processes."""
    with process_pool() as pool:
        yield pool


@pytest.mark.parametrize("workload", [*EVERYWHERE, *BESIDE_EACH_OTHER, *LOCALLY, w.abandon])
def test_processes(workload: Workload, tmp_path: Path, processes: ProcessPoolExecutor) -> None:
    # Tasks of one chunk run one after the other in one process.
    stage = Stage(tmp_path, "processes", scheduler="processes", pool=processes, chunksize=1)
    assert truth(workload, stage) == []


def test_a_pool_whose_process_is_killed(tmp_path: Path) -> None:
    with process_pool() as pool:
        stage = Stage(tmp_path, "processes", scheduler="processes", pool=pool, chunksize=1)
        # Whether samples are lost with it depends on how far the sampler is.
        stage.run = taskscope.profile(display=False, stacks=False)
        assert truth(w.kill_process, stage) == []


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two worker processes with two threads each, which steal only what a test has them steal."""
    options = {
        # As in distributed's own tests: workers are forked from one process that has imported it, in no time.
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.scheduler.work-stealing-interval": "1h",
    }
    with (
        dask.config.set(options),
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0", memory_limit=0) as cluster,
    ):
        yield cluster


@pytest.fixture
def on_cluster(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ClusterStage]:
    be_patient(monkeypatch.setattr)
    with Client(cluster) as client:
        stage = ClusterStage(tmp_path, cluster, client)
        yield stage
        stage.open()
        scheduler: Any = cluster.scheduler
        until(lambda: not scheduler.tasks)


@pytest.mark.parametrize("workload", [*EVERYWHERE, *BESIDE_EACH_OTHER, *ON_A_CLUSTER])
def test_a_cluster(workload: Workload, on_cluster: ClusterStage) -> None:
    assert truth(workload, on_cluster) == []


# ------------------------------------------------------------------------------------ the comparison can fail


def without_one(executions: list[Execution]) -> list[Execution]:
    return executions[1:]


def twice_one(executions: list[Execution]) -> list[Execution]:
    return [*executions, executions[0]]


def later(executions: list[Execution]) -> list[Execution]:
    first, second, *rest = executions
    return [replace(first, start_s=first.start_s - 1.0, stop_s=first.start_s - 0.5), second, *rest]


def longer(executions: list[Execution]) -> list[Execution]:
    *rest, last = executions
    return [*rest, replace(last, stop_s=(last.stop_s or 0.0) + 0.5)]


def elsewhere(executions: list[Execution]) -> list[Execution]:
    return [replace(each, thread=each.thread + 1) for each in executions]


def in_another_process(executions: list[Execution]) -> list[Execution]:
    return [replace(each, worker="1") for each in executions]


def failed(executions: list[Execution]) -> list[Execution]:
    return [replace(executions[0], error="ValueError: no"), *executions[1:]]


@pytest.mark.parametrize(
    "change", [without_one, twice_one, later, longer, elsewhere, in_another_process, failed]
)
def test_what_tasks_did_not_do_is_no_truth(
    tmp_path: Path, change: Callable[[list[Execution]], list[Execution]]
) -> None:
    stage = Stage(tmp_path, "synchronous", scheduler="synchronous")
    with stage.run:
        expected = w.plain(stage)
    executions = read(stage.truth)
    assert violations(stage.run.recording, executions, expected) == []
    assert violations(stage.run.recording, change(executions), expected) != []
