"""Workers, schedulers and clients that come, go and die."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster, Scheduler, Security, Status, Worker, get_worker
from distributed.core import rpc

import taskscope
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.cluster import source
from tests.support.clusters.recordings import rows
from tests.support.clusters.scheduler_process import scheduler_process
from tests.support.clusters.small_cluster import small_cluster
from tests.support.clusters.tasks import work, work_after
from tests.support.waiting import records_are_kept, until


def test_a_client_made_after_the_block_began_is_recorded(truth: Path) -> None:
    script = """
import sys
import taskscope
from tests.support.waiting import be_patient
if __name__ == "__main__":
    with taskscope.profile(display=False) as run:
        assert "distributed" not in sys.modules
        from distributed import Client
        be_patient()
        with Client(n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False) as client:
            assert client.gather(client.map(abs, range(5))) == list(range(5))
    assert "distributed.client" in sys.modules
    assert type(sys.modules["distributed.client"].__loader__).__name__ == "SourceFileLoader"
    print(run.recording.runs[0].n_tasks, run.recording.runs[0].status, len(run.recording.tasks))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "5 finished 5\n"


def test_a_scheduler_that_dies_breaks_the_run_and_holds_nobody_up(truth: Path) -> None:
    with scheduler_process() as (address, process):
        client = Client(address, set_as_default=False)
        with taskscope.profile(display=False) as run:
            futures = client.map(work, [truth] * 4, [f"w{i}" for i in range(4)], [600.0] * 4, pure=False)
            until(lambda: len(run.recording.tasks) == 4)
            process.kill()
            process.wait()
            del futures
        client.close(timeout=1)
    ((n_tasks, status, error),) = rows(run.recording, "runs", "n_tasks", "status", "error")
    assert (n_tasks, status) == (4, "erred")
    assert error.startswith(f"the scheduler {address} could not be asked any more: ")
    assert rows(run.recording, "tasks", "status") == [("interrupted",)] * 4


def run_until_closed(number: int) -> int:
    worker = get_worker()
    until(lambda: worker.status != Status.running)
    return number


def test_a_cluster_of_this_process_that_is_closed_amid_tasks_ends_the_run_while_its_client_is_open() -> None:
    for _ in range(3):
        with taskscope.profile(display=False) as run:
            with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
                client = Client(cluster)
                futures = client.map(run_until_closed, range(4), pure=False)
                until(lambda: len(run.recording.tasks) == 4)
            # Where nobody listens any more, connecting takes as long as `until` waits.
            until(lambda: rows(run.recording, "runs", "status") == [("erred",)])
            client.close()
            del futures
        assert rows(run.recording, "runs", "status") == [("erred",)]
        # Whether it was heard of that the worker left before the scheduler did is chance.
        statuses = [status for (status,) in rows(run.recording, "tasks", "status")]
        assert len(statuses) == 4
        assert set(statuses) <= {"interrupted", "lost"}


def test_a_scheduler_that_stands_still_holds_nobody_up_and_is_told(
    truth: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scheduler_process() as (address, process), Client(address) as client:
        with taskscope.profile(display=False) as run:
            future = client.submit(work, truth, "w", 600.0)
            until(lambda: len(run.recording.tasks) == 1)
            process.send_signal(signal.SIGSTOP)
            # Until all of its threads have heard of it, it may answer still.
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
            monkeypatch.setattr(source, "SETTLE_S", 2.0)
            stopped = client.submit(work, truth, "never")
        # So far: once it goes on again, the recording completes itself.
        recording = run.recording
        assert rows(recording, "runs", "n_tasks", "status") == [(2, "running")]
        process.send_signal(signal.SIGCONT)
        del future, stopped
    # How often it was waited for depends on when the first task was seen.
    told = [text.partition(" (")[0] for _, text in rows(recording, "messages", "level", "text")]
    assert told == ["the scheduler did not answer within 2 s, so its last tasks may be missing here"]


def test_a_client_goes_on_with_a_scheduler_that_was_started_anew(truth: Path) -> None:
    with taskscope.profile(display=False) as run:
        for _ in range(2):
            with scheduler_process() as (address, _process), Client(address) as client:
                assert client.submit(abs, -1).result() == 1
    assert rows(run.recording, "runs", "n_tasks", "status") == [(1, "finished")] * 2


def test_the_connection_ends_with_the_last_client_and_comes_back_with_the_next(
    cluster: LocalCluster, truth: Path
) -> None:
    def is_asking() -> bool:
        ours = {alive.name for alive in threading.enumerate()}
        return "taskscope-cluster" in ours or bool(set(rpc.active) - before)

    before = set(rpc.active)
    with taskscope.profile(display=False) as run:
        for _ in range(2):
            with Client(cluster) as one, Client(cluster, set_as_default=False) as other:
                assert one.submit(abs, -1, pure=False).result() == 1
                other.submit(abs, -2, pure=False).result()
                one.close()
                assert other.submit(abs, -3, pure=False).result() == 3
            until(lambda: not is_asking())

        async def main() -> None:
            async with Client(cluster.scheduler_address, asynchronous=True) as client:
                assert await client.submit(abs, -4, pure=False) == 4

        asyncio.run(main())
        until(lambda: not is_asking())
        with Client(cluster) as hasty:
            unfinished = hasty.submit(work_after, truth.parent / "go", truth, "hasty", pure=False)
        until(lambda: not is_asking())
        (truth.parent / "go").touch()
        assert unfinished.status == "cancelled"
    assert rows(run.recording, "runs", "n_tasks", "status") == [(1, "finished")] * 7 + [(1, "interrupted")]
    assert [message.text for message in run.recording.messages] == []


def test_a_client_that_blocks_is_waited_for_although_an_event_loop_runs_as_in_a_notebook(
    client: Client, truth: Path
) -> None:
    async def cell() -> None:
        with taskscope.profile(display=False) as run:
            assert delayed(work)(truth, "a", 0.0, dask_key_name="a-1").compute() == "a"
        runs.append(run.recording)

    runs: list[Recording] = []
    asyncio.run(cell())
    assert rows(runs[0], "tasks", "prefix", "status") == [("a", "finished")]
    assert [message.text for message in runs[0].messages] == []


def test_workers_have_names_of_any_kind_and_come_and_go(truth: Path) -> None:
    async def main() -> None:
        async with (
            Scheduler(dashboard_address=":0", port=0) as scheduler,
            Worker(scheduler.address, name=7, nthreads=1),
            Client(scheduler.address, asynchronous=True) as client,
        ):
            with taskscope.profile(display=False) as run:
                await records_are_kept()
                await client.gather(client.map(work, [truth] * 2, ["a", "b"], [0.01] * 2))
                async with Worker(scheduler.address, name="<b>odd</b>", nthreads=1):
                    futures = client.map(work, [truth] * 2, ["c", "d"], [0.01] * 2, workers=["<b>odd</b>"])
                    await client.gather(futures)
                    # The scheduler lives in this loop, so it cannot be waited for at the end of the block.
                    while len(current().recorder.tasks_since(0, 10)[1]) < 4:  # noqa: ASYNC110 - another thread
                        await asyncio.sleep(0.02)
            recordings.append(run.recording)

    recordings: list[Recording] = []
    asyncio.run(main())
    (recording,) = recordings
    labels = Counter(recording.lanes[lane].label for (lane,) in rows(recording, "tasks", "lane"))
    assert labels == {"worker 7, thread 1": 2, "worker <b>odd</b>, thread 1": 2}


def test_an_encrypted_scheduler_is_asked_with_the_client_s_credentials() -> None:
    security = Security.temporary()
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False, security=security
        ) as cluster,
        Client(cluster, security=security) as client,
        taskscope.profile(display=False) as run,
    ):
        assert cluster.scheduler_address.startswith("tls://")
        assert client.submit(abs, -1).result() == 1
    assert rows(run.recording, "tasks", "prefix", "status") == [("abs", "finished")]


def test_a_restart_of_all_workers_loses_what_ran_and_the_next_compute_is_recorded(truth: Path) -> None:
    with (
        small_cluster(processes=True) as (_, client),
        taskscope.profile(display=False) as run,
    ):
        future = client.submit(work, truth, "w", 60.0)
        until(lambda: len(run.recording.tasks) == 1)
        client.restart()
        assert client.submit(abs, -2).result() == 2
        del future
    assert [status for _, status in rows(run.recording, "runs", "n_tasks", "status")] == [
        "interrupted",
        "finished",
    ]
    told = Counter(rows(run.recording, "tasks", "prefix", "status"))
    assert told["abs", "finished"] == 1
    assert set(told) <= {("abs", "finished"), ("work", "lost"), ("work", "interrupted")}
    assert told.total() == 2


def test_who_shuts_the_cluster_down_has_all_that_ended_before() -> None:
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        client = Client(cluster)
        with taskscope.profile(display=False) as run:
            client.gather(client.map(len, ["a", "bc", "def"]))
            client.shutdown()
        assert sorted(rows(run.recording, "tasks", "prefix", "status")) == [("len", "finished")] * 3
