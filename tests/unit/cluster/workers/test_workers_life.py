"""What becomes of workers is told: when it happens, and in what is said of tasks that were lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Status

import taskscope
from taskscope.model.tables.records import Message
from taskscope.record import messages
from taskscope.recording import Recording
from taskscope.sources.cluster.connection import Event
from tests.support.clusters.recordings import rows
from tests.support.clusters.scheduler_events import HERE, World
from tests.support.clusters.small_cluster import small_cluster
from tests.support.clusters.tasks import work_after
from tests.support.fakes.clock import FakeClock
from tests.support.waiting import until

NANNY, NEXT = "tcp://10.0.0.1:2", "tcp://10.0.0.1:3"


def life(world: World, what: str, details: object, worker: str = HERE) -> Event:
    """Return that something has happened to a worker now."""
    return ("life", worker, world.clock.time(), what, details)


def test_what_becomes_of_workers_is_bounded_and_that_is_said(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_MAX_EVENTS", 2)
    world = World(fake_clock)
    world.begin(["x-1"])
    for _ in range(2):
        world.tell(life(world, "status", ["running", "paused"]), life(world, "status", ["paused", "running"]))
        fake_clock.advance(1.0)
    paused = "worker 0 paused: it begins no task until it has memory again"
    assert world.recorder.messages == [
        Message(0.0, "warning", paused, HERE, "paused"),
        Message(0.0, "info", "worker 0 runs again", HERE, "resumed"),
        Message(1.0, "warning", "more happened to workers than is kept (2 times)"),
    ]
    # Each of them is of the moment when it was, however often it was.
    assert [m.text for m in world.recorder.snapshot(start_s=0.5).messages] == [
        "more happened to workers than is kept (2 times)"
    ]


def set_status(status: str, dask_worker: Any = None) -> None:
    """Run on a worker: have it do as it does when its memory is short, or is not any more."""
    dask_worker.status = Status[status]


def events(recording: Recording) -> list[tuple[str, str]]:
    return [(event, worker) for event, worker in rows(recording, "messages", "event", "worker") if event]


def test_workers_of_a_cluster_that_pause_are_killed_come_back_and_are_retired_are_told(truth: Path) -> None:
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        small_cluster(2, processes=True) as (cluster, client),
        taskscope.profile(display=False) as run,
    ):
        pids = client.run(os.getpid)
        first, second = (cluster.workers[i].worker_address for i in range(2))
        go = truth.parent / "go"
        future = client.submit(
            work_after, go, truth, "w", workers=[second], allow_other_workers=True, key="w-1"
        )
        until(lambda: rows(run.recording, "tasks", "worker") == [(second,)])

        def happened(*expected: tuple[str, str]) -> Callable[[], bool]:
            return lambda: events(run.recording)[-len(expected) :] == list(expected)

        client.run(set_status, "paused", workers=[first])
        until(happened(("paused", first)))
        client.run(set_status, "running", workers=[first])
        until(happened(("resumed", first)))
        # As its nanny does before it kills it.
        client.log_event("worker-restart-memory", {"worker": second, "pid": 1, "rss": 5 * 2**20})
        os.kill(pids[second], signal.SIGKILL)
        until(lambda: len(events(run.recording)) == 4)
        ((_, third),) = events(run.recording)[3:]
        assert happened(("killed", second), ("restarted", third))()
        client.retire_workers([third])
        until(happened(("retired", third)))
        go.touch()
        assert future.result() == "w"
    assert [text for event, text in rows(run.recording, "messages", "event", "text") if event] == [
        "worker 0 paused: it begins no task until it has memory again",
        "worker 0 runs again",
        "worker 1 was killed because of its memory (5 MiB)",
        "worker 1 was restarted by its nanny",
        "worker 1 was retired",
    ]
    assert rows(run.recording, "tasks", "status", "error", "worker") == [
        ("lost", "worker 1 died: killed because of its memory (5 MiB)", second),
        ("finished", None, first),
    ]


def test_a_worker_that_hangs_times_out_and_its_nanny_starts_another_one(truth: Path) -> None:
    with small_cluster(processes=True) as (_, client), taskscope.profile(display=False) as run:
        ((hung, pid),) = client.run(os.getpid).items()
        go = truth.parent / "go"
        future = client.submit(work_after, go, truth, "w", key="w-1")
        until(lambda: rows(run.recording, "tasks", "worker") == [(hung,)])
        # As the scheduler does after five seconds at least, before it has the worker restarted.
        timed_out = {"action": "worker-ttl-timed-out", "workers": [hung], "ttl": 5.0}
        client.log_event("scheduler", timed_out)
        os.kill(pid, signal.SIGKILL)
        until(lambda: [event for event, _ in events(run.recording)] == ["timed out", "restarted"])
        go.touch()
        assert future.result() == "w"
    why = "timed out: the scheduler had not heard of it for 5 s"
    assert [text for event, text in rows(run.recording, "messages", "event", "text") if event] == [
        f"worker 0 {why}",
        "worker 0 was restarted by its nanny",
    ]
    assert rows(run.recording, "tasks", "status", "error")[0] == ("lost", f"worker 0 died: {why}")
