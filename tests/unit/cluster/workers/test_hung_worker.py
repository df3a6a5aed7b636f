"""A worker that stands still: the end of a block waits for the others, and says what is missing."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
import pytest
from distributed import Client

import taskscope
from taskscope.model.recording import RecordedData
from taskscope.sources.cluster import connection, scheduler
from tests.support.clusters.recordings import rows
from tests.support.clusters.small_cluster import small_cluster
from tests.support.clusters.tasks import work
from tests.support.waiting import until

# A process is told of its own children alone that they stand still.
OWN_CHILDREN = {"distributed.worker.multiprocessing-method": "spawn"}
MISSING = "did not answer in time: samples of its tasks and transfers may be missing"


def said(recording: RecordedData) -> set[str]:
    """Return what a recording says of workers without their names: a busy one may be too late as well."""
    return {
        text.partition(" (")[0].partition("worker ")[2][2:] for (text,) in rows(recording, "messages", "text")
    }


@contextmanager
def standing_still(pid: int) -> Iterator[None]:
    """Stop a child of this process; it goes on afterwards."""
    os.kill(pid, signal.SIGSTOP)
    try:
        # Until all of its threads have heard of it, it may answer still.
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def hung() -> Iterator[tuple[Client, str]]:
    """A client of a cluster of two workers, of which one stands still, and the address of the other."""
    with (
        dask.config.set(OWN_CHILDREN),
        small_cluster(2, processes=True) as (_, client),
    ):
        pids = client.run(os.getpid)
        still, other = pids
        with standing_still(pids[still]):
            yield client, other


@pytest.fixture(autouse=True)
def _patience(_patience: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    # All else is waited for without an end: only this is what ends the waiting here.
    monkeypatch.setattr(scheduler, "_FLUSH_S", 0.4)
    if "hung" in request.fixturenames:
        monkeypatch.setattr(connection, "_INSTALL_S", 0.4)


def test_the_end_of_a_block_does_not_wait_for_it_nor_for_the_scheduler_that_does(
    hung: tuple[Client, str], truth: Path
) -> None:
    client, other = hung
    with taskscope.profile(display=False) as run:
        assert client.submit(work, truth, "a", 0.0, workers=[other]).result() == "a"
    recording = run.recording
    assert rows(recording, "runs", "n_tasks", "status") == [(1, "finished")]
    assert rows(recording, "tasks", "status") == [("finished",)]
    assert said(recording) == {MISSING}


def requests_to(worker: str) -> int:
    """Run on the scheduler: return how many requests to a worker wait for an answer, each with a socket."""
    frames = [getattr(task.get_coro(), "cr_frame", None) for task in asyncio.all_tasks()]
    requests = [f for f in frames if f is not None and f.f_code.co_name == "send_message"]
    return sum(frame.f_locals["addr"] == worker for frame in requests)


def test_requests_to_it_do_not_pile_up_on_the_scheduler(hung: tuple[Client, str], truth: Path) -> None:
    client, other = hung
    still = next(address for address in client.scheduler_info()["workers"] if address != other)
    before = client.run_on_scheduler(requests_to, still)
    with taskscope.profile(display=False):
        for number in range(4):
            client.submit(work, truth, f"p{number}", 0.2, workers=[other], key=f"p{number}").result()
            # One has the plugin installed, once the worker goes on.
            assert client.run_on_scheduler(requests_to, still) - before <= 1
    until(lambda: client.run_on_scheduler(requests_to, still) == before)


def test_once_it_goes_on_it_is_heard_again(truth: Path) -> None:
    with (
        dask.config.set(OWN_CHILDREN),
        small_cluster(processes=True) as (_, client),
    ):
        (pid,) = client.run(os.getpid).values()
        with taskscope.profile(display=False) as run:
            client.submit(work, truth, "d", 0.0).result()
            with standing_still(pid):
                assert len(run.recording.tasks) == 1
            assert client.submit(work, truth, "e", 0.0).result() == "e"
    recording = run.recording
    assert said(recording) == {MISSING}
    assert all(cpu_s >= 0 for (cpu_s,) in rows(recording, "tasks", "cpu_s"))
    assert len(rows(recording, "metrics", "activity")) >= 4
