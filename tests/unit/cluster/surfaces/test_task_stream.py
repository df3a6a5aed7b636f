"""What distributed's own tests of its task stream ask for, asked of ours; and the two beside each other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster, get_task_stream, wait

import taskscope
from taskscope.recording import Recording
from taskscope.sources.cluster import scheduler
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import fail, work


def told(recording: Recording) -> list[tuple[Any, ...]]:
    """Return key, worker, thread, status and what was done for each task, in order."""
    done: dict[str, list[tuple[Any, ...]]] = {}
    for key, activity, source in rows(recording, "activities", "key", "activity", "source"):
        done.setdefault(key, []).append((activity, source))
    columns = ("key", "worker", "thread", "status")
    return sorted((*row, sorted(done[row[0]], key=str)) for row in rows(recording, "tasks", *columns))


def told_by_dask(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    statuses = {"OK": "finished", "error": "erred"}
    return sorted(
        (
            record["key"],
            record["worker"],
            record["thread"],
            statuses[record["status"]],
            sorted(((step["action"], step.get("source")) for step in record["startstops"]), key=str),
        )
        for record in records
    )


def test_it_has_what_dasks_own_task_stream_has(client: Client, cluster: LocalCluster, truth: Path) -> None:
    here, there = (worker.worker_address for worker in cluster.workers.values())
    with taskscope.profile(display=False) as run, get_task_stream(client) as stream:
        first = client.map(
            work, [truth] * 8, [f"f{i}" for i in range(8)], [0.01] * 8, workers=[here], pure=False
        )
        last = client.submit(work, truth, "last", 0.0, *first, workers=[there], pure=False)
        bad = client.submit(fail, "no such thing", pure=False)
        wait([last, bad])
    assert len(told(run.recording)) == 10
    assert told(run.recording) == told_by_dask(stream.data)


def test_a_client_that_is_closed_together_with_its_scheduler_in_its_event_loop_has_been_read_before(
    monkeypatch: pytest.MonkeyPatch, truth: Path
) -> None:
    # After what was handed over is known there is no look but the last.
    monkeypatch.setattr(scheduler, "_PAUSE_S", 3600.0)

    async def script() -> None:
        async with Client(
            n_workers=1, threads_per_worker=2, processes=False, asynchronous=True, dashboard_address=":0"
        ) as client:
            await client.submit(abs, -1, key="first")
            names = [f"number-{i}" for i in range(4)]
            await client.gather(client.map(work, [truth] * 4, names, [0.2] * 4, key=names))

    with taskscope.profile(display=False) as run:
        asyncio.run(script())
    found = {str(key) for key in run.recording.table("tasks")["key"]}
    assert found == {"first", *(f"number-{i}" for i in range(4))}
    assert rows(run.recording, "runs", "n_tasks", "status") == [(1, "finished"), (4, "finished")]
    assert rows(run.recording, "messages", "text") == []


def test_nothing_is_missed_where_the_scheduler_lives_in_the_same_event_loop() -> None:
    async def block() -> Recording:
        async with (
            LocalCluster(
                n_workers=2, threads_per_worker=2, processes=False, asynchronous=True, dashboard_address=":0"
            ) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            async with taskscope.profile(display=False) as run:
                futures = client.map(str, range(10), key=[f"number-{i}" for i in range(10)])
                await wait(futures)
            return run.recording

    recording = asyncio.run(block())
    assert sorted(rows(recording, "tasks", "key", "status")) == [
        (f"number-{i}", "finished") for i in range(10)
    ]
    assert rows(recording, "messages", "text") == []
