"""Computes end a block's story, not its last line: what a cluster goes on with completes the recording."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, Event, LocalCluster, wait

import taskscope
from taskscope.errors import StillRunningError
from taskscope.model.recording import RecordedData
from taskscope.session import current
from taskscope.sources.cluster.workers import HostClocks
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import read_truth, work
from tests.support.waiting import PATIENCE_S, until


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """One worker in this process, with two threads."""
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            # Its threads are there before a test could be blamed for them.
            client.gather(client.map(time.sleep, [0.1] * 4, pure=False))
        yield cluster


@pytest.fixture
def gate(client: Client) -> Iterator[Event]:
    """What tasks wait for."""
    gate = Event("gate", client=client)
    gate.clear()
    yield gate
    gate.set()


def gated(folder: Path, name: str) -> str:
    Event("gate").wait()
    return work(folder, name, 0.0)


def keys_of(recording: RecordedData) -> list[str]:
    return sorted(key for (key,) in rows(recording, "tasks", "key"))


def map_gated(client: Client, folder: Path, name: str, n: int) -> list[Any]:
    names = [f"{name}-{i}" for i in range(n)]
    return client.map(gated, [folder] * n, names, key=names)


@pytest.mark.parametrize("turn", range(3))
def test_what_goes_on_after_a_block_completes_its_recording(
    client: Client, gate: Event, truth: Path, tmp_path: Path, turn: int
) -> None:
    path = tmp_path / "run.taskscope"
    names = [f"go{turn}-{i}" for i in range(6)]
    with taskscope.profile(label="go", display=False, save=path) as run:
        futures = map_gated(client, truth, f"go{turn}", 6)
    left = run.recording
    assert rows(left, "runs", "label", "status", "n_tasks") == [("go", "running", 6)]
    assert left.summary().endswith("6 tasks still running in the background")
    with pytest.raises(StillRunningError) as waited:
        run.wait(0.01)
    assert str(waited.value) == (
        "after 0.01 s, computes that still run in the background: 1; "
        "wait longer, or cancel the futures of a cluster"
    )
    assert current().held
    gate.set()
    complete = left.wait(PATIENCE_S)
    assert rows(complete, "runs", "label", "status", "n_tasks") == [("go", "finished", 6)]
    assert keys_of(complete) == names == sorted(ran.name for ran in read_truth(truth))
    assert run.recording is complete is run.wait() is complete.wait()
    assert (complete.completion, current().held) == (None, False)
    assert keys_of(taskscope.load(path)) == names
    # Not only "background": where tasks were slow the summary names this file, in which they wait.
    assert "still running" not in complete.summary()
    del futures


def test_what_is_handed_over_after_a_block_is_not_part_of_it(
    client: Client, gate: Event, truth: Path
) -> None:
    with taskscope.profile(display=False) as run:
        first = map_gated(client, truth, "first", 2)
    later = map_gated(client, truth, "later", 2)
    gate.set()
    wait([*first, *later])
    assert keys_of(run.wait(PATIENCE_S)) == ["first-0", "first-1"]


def test_a_block_that_waits_for_what_began_before_shows_that_from_its_own_time_on(
    client: Client, gate: Event, truth: Path
) -> None:
    with taskscope.profile(label="begins", display=False) as begins:
        wait(client.map(work, [truth] * 2, ["done-0", "done-1"], [0.0] * 2, key=["done-0", "done-1"]))
        futures = map_gated(client, truth, "going", 4)
    with taskscope.profile(label="waits", display=False) as waits:
        gate.set()
        wait(futures)
    recording = waits.recording
    assert rows(recording, "runs", "label", "status", "n_tasks") == [("begins", "finished", 4)]
    assert keys_of(recording) == [f"going-{i}" for i in range(4)]
    assert min(start_s for (start_s,) in rows(recording, "tasks", "start_s")) >= 0.0
    assert keys_of(begins.wait(PATIENCE_S)) == ["done-0", "done-1", *(f"going-{i}" for i in range(4))]
    with taskscope.profile(label="idle", display=False) as idle:
        pass
    assert rows(idle.recording, "runs", "label") == []


@pytest.mark.parametrize("has_own", [False, True])
def test_what_ended_in_a_block_is_part_of_it_however_slow_the_clock_of_the_cluster_seems(
    client: Client, gate: Event, truth: Path, monkeypatch: pytest.MonkeyPatch, *, has_own: bool
) -> None:
    current().hold("the extension")
    try:
        begun = map_gated(client, truth, "a", 1)
        until(lambda: len(current().recorder.running()) == 1)
        # A late report makes a task seem to have ended a tenth of a second early.
        monkeypatch.setattr(HostClocks, "scheduler_ahead_s", 60.0)
        with taskscope.profile(display=False) as run:
            if has_own:
                assert client.submit(abs, -1, key="own").result() == 1
            gate.set()
            wait(begun)
        recording = run.wait()
    finally:
        current().release("the extension")
    assert keys_of(recording) == ["a-0", *["own"] * has_own]
    assert sorted(rows(recording, "runs", "n_tasks", "status")) == [(1, "finished")] * (1 + has_own)


def test_what_is_cancelled_in_the_background_ends_the_waiting(
    client: Client, gate: Event, truth: Path
) -> None:
    with taskscope.profile(display=False) as run:
        futures = map_gated(client, truth, "gone", 4)
    client.cancel(futures)
    recording = run.wait(PATIENCE_S)
    assert rows(recording, "runs", "status") == [("interrupted",)]
    gate.set()


def test_what_no_worker_can_run_is_said_while_it_waits(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        stuck = [client.submit(abs, -i, resources={"GPU": 1}, key=f"stuck-{i}") for i in range(2)]
    said = "warning: no worker can run 2 tasks: there is none"
    until(lambda: said in run.recording.summary())
    assert run.recording.summary().splitlines()[-2:] == [
        "  2 tasks still running in the background",
        f"  {said}, or none with the requested resources or address",
    ]
    client.cancel(stuck)
    assert rows(run.wait(), "messages", "text") == []
