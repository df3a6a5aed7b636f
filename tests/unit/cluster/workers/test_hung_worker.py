"""A worker that stands still: the end of a block waits for the others, and says what is missing."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster

import taskscope
from taskscope.diagnostics import performance_report
from taskscope.model.recording import RecordedData
from taskscope.session import current
from taskscope.sources.cluster import scheduler
from taskscope.sources.cluster.workers import poll, samples
from taskscope.sources.cluster.workers.poll import Answers, WorkerPoll
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import work, work_after
from tests.support.waiting import PATIENCE_S, until

# A process is told of its own children alone that they stand still.
OWN_CHILDREN = {"distributed.worker.multiprocessing-method": "spawn"}
NOT_METERED = "a worker did not report its metrics in time: CPU time may be missing"
MISSING = "a worker did not send its profile in time: samples may be missing"


def said(recording: RecordedData) -> list[str]:
    """Return what a recording says; how often it was said is counted for the whole process."""
    return [text.partition(" (")[0] for (text,) in rows(recording, "messages", "text")]


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
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        still, other = pids
        with standing_still(pids[still]):
            yield client, other


@pytest.fixture(autouse=True)
def _patience(_patience: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # All else is waited for without an end: only this is what ends the waiting here.
    monkeypatch.setattr(poll, "_PATIENCE_S", 0.4)
    # The end of the block is what asks for the last samples, however late it comes.
    monkeypatch.setattr(scheduler, "_SAMPLES_S", PATIENCE_S)


def test_the_end_of_a_block_does_not_wait_for_it_nor_for_the_scheduler_that_does(
    hung: tuple[Client, str], truth: Path
) -> None:
    client, other = hung
    with taskscope.profile(display=False) as run:
        assert client.submit(work, truth, "a", 0.0, workers=[other]).result() == "a"
    recording = run.recording
    assert rows(recording, "runs", "n_tasks", "status") == [(1, "finished")]
    assert rows(recording, "tasks", "status") == [("finished",)]
    assert said(recording) == [NOT_METERED, MISSING]


def test_where_many_questions_come_together_all_of_them_have_an_end(
    hung: tuple[Client, str], truth: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, other = hung
    monkeypatch.setattr(scheduler, "_WORKERS_S", 0.0)
    with taskscope.profile(display=False) as run:
        client.submit(work, truth, "b", 0.0, workers=[other], retries=1).result()
    assert rows(run.recording, "runs", "n_tasks", "status") == [(1, "finished")]
    text = "workers did not answer in time: bytes of transfers, CPU time and samples may be missing"
    assert said(run.recording) == [text]


def test_the_report_of_an_asynchronous_client_does_not_wait_for_it_either(
    hung: tuple[Client, str], truth: Path, tmp_path: Path
) -> None:
    client, other = hung
    address = client.scheduler_info()["address"]

    async def block() -> None:
        async with Client(address, asynchronous=True) as mine, performance_report(tmp_path / "a.html") as run:
            assert await mine.submit(work, truth, "c", 0.0, workers=[other]) == "c"
        recordings.append(run.recording)

    recordings: list[RecordedData] = []
    asyncio.run(block())
    assert [said(recording) for recording in recordings] == [[NOT_METERED, MISSING]]
    assert MISSING in (tmp_path / "a.html").read_text(encoding="utf-8")


def questions_on(worker: str) -> int:
    """Run on the scheduler: return how many questions to a worker wait for an answer, each with a socket."""
    frames = [getattr(task.get_coro(), "cr_frame", None) for task in asyncio.all_tasks()]
    questions = [f for f in frames if f is not None and f.f_code.co_name == "send_message"]
    return sum(frame.f_locals["addr"] == worker for frame in questions)


def test_questions_do_not_pile_up_on_the_scheduler(
    hung: tuple[Client, str], truth: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, other = hung
    monkeypatch.setattr(poll, "_EVERY_S", 0.0)
    monkeypatch.setattr(poll, "_PAUSE_S_PER_WORKER", 0.0)
    monkeypatch.setattr(samples, "_EVERY_S", 0.0)
    monkeypatch.setattr(poll, "_BACK_OFF_S", (3600.0,))
    current().cluster.wanted.avoided.clear()
    looks: list[list[str]] = []
    call = WorkerPoll.call

    async def counted(poll: WorkerPoll, *arguments: Any, **options: Any) -> Answers:
        answers = await call(poll, *arguments, **options)
        looks.append(sorted(answers.silent))
        return answers

    monkeypatch.setattr(WorkerPoll, "call", counted)
    still = next(address for address in client.scheduler_info()["workers"] if address != other)
    before = client.run_on_scheduler(questions_on, still)
    for number in range(2):
        looks.clear()
        with taskscope.profile(display=False):
            name = f"p{number}"
            future = client.submit(
                work_after, tmp_path / name, truth, name, workers=[other], retries=1, key=name
            )
            until(lambda: len(looks) >= 12)
            (tmp_path / name).touch()
            assert future.result() == name
        assert {tuple(silent) for silent in looks} == {(still,)}
        # One with all, and one of its own; nothing is added for as long as it answers neither.
        assert client.run_on_scheduler(questions_on, still) - before == 2
    assert client.run(int, workers=[other]) == {other: 0}


def test_once_it_goes_on_it_is_heard_again(truth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        dask.config.set(OWN_CHILDREN),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        (pid,) = client.run(os.getpid).values()
        with taskscope.profile(display=False) as run:
            client.submit(work, truth, "d", 0.0).result()
            with standing_still(pid):
                assert len(run.recording.tasks) == 1
            monkeypatch.setattr(poll, "_PATIENCE_S", PATIENCE_S)
            client.submit(work, truth, "e", 0.0).result()
    assert said(run.recording) == [NOT_METERED, MISSING]
