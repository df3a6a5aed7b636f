"""Futures that failed and are tried again by ``retry``: followed like what is handed over."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from distributed import Client, LocalCluster, wait

import taskscope
from taskscope.recording import Recording
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import attempt


@pytest.fixture(autouse=True)
def _done(truth: Path) -> None:
    (truth / "done").mkdir()


def told(recording: Recording) -> tuple[list[tuple[int, str]], list[tuple[str, str]]]:
    """Return tasks and outcome of each compute, and key and outcome of each row."""
    runs: list[tuple[int, str]] = [(run.n_tasks, run.status) for run in recording.runs]
    return runs, sorted(rows(recording, "tasks", "key", "status"))


def test_a_retry_in_a_later_block_is_a_compute_of_that_block(client: Client, truth: Path) -> None:
    key = "later-0"
    with taskscope.profile(display=False) as first:
        future = client.submit(attempt, truth, key, 2, key=key)
        wait(future)
    assert told(first.recording) == ([(1, "erred")], [(key, "erred")])
    # A second time it fails again, a third time it does not.
    for how, given in (("erred", future), ("finished", [future])):
        with taskscope.profile(display=False) as again:
            client.retry(given)
            wait(future)
        assert told(again.recording) == ([(1, how)], [(key, how)])
        (run,) = again.recording.runs
        start, stop = (again.recording.table("tasks")[name][0] for name in ("start_s", "stop_s"))
        assert run.stop_s is not None
        assert run.stop_s - run.start_s >= stop - start
        assert rows(again.recording, "messages", "text") == []
    assert future.result() == 3
    assert told(first.recording) == ([(1, "erred")], [(key, "erred")])


def test_an_asynchronous_client_retries_as_well(cluster: LocalCluster, truth: Path) -> None:
    async def tried() -> Recording:
        async with Client(cluster.scheduler_address, asynchronous=True) as client:
            async with taskscope.profile(display=False):
                future = client.submit(attempt, truth, "async", 1, key="async-0")
                await wait(future)
            async with taskscope.profile(display=False) as run:
                await future.retry()
                assert await future == 2
            return run.recording

    assert told(asyncio.run(tried())) == ([(1, "finished")], [("async-0", "finished")])


def test_where_nobody_watches_any_more_a_retry_only_passes_on(client: Client, truth: Path) -> None:
    assert not hasattr(Client.retry, "__wrapped__")
    with taskscope.profile(display=False):
        assert hasattr(Client.retry, "__wrapped__")
        future = client.submit(attempt, truth, "alone", 1, key="alone-0")
        wait(future)
    future.retry()
    assert future.result() == 2
    # What raises there reaches the user as it is.
    with taskscope.profile(display=False), pytest.raises(TypeError, match="futures"):
        client.retry()  # type: ignore[call-arg]  # the mistake itself
