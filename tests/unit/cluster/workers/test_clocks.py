"""A worker whose clock is an hour ahead, on an address that is not the scheduler's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster, WorkerPlugin

import taskscope
from tests.support.clusters.recordings import rows
from tests.support.clusters.scheduler_events import HERE, World, record
from tests.support.clusters.shifted_worker import SHIFTED, set_clock, shifted_worker
from tests.support.clusters.small_cluster import small_cluster
from tests.support.fakes.clock import FakeClock
from tests.support.files.streaming import StreamedFile
from tests.support.recordings.tables import read_back

LATE_S, MINUTE_S, HOUR_S = 1.0, 60.0, 3600.0


def truth(number: int) -> tuple[int, float, float]:
    """Work, and tell from when to when by a clock that nobody has set."""
    start = time.clock_gettime(time.CLOCK_REALTIME)
    time.sleep(0.01)
    return number, start, time.clock_gettime(time.CLOCK_REALTIME)


@pytest.fixture(scope="module")
def shifted() -> Iterator[tuple[Client, str]]:
    """A client, and the only worker of its cluster."""
    with (
        LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=":0") as cluster,
        Client(cluster) as client,
        shifted_worker(client, HOUR_S) as worker,
    ):
        yield client, worker


def test_times_are_the_scheduler_s_whatever_clock_the_worker_has(shifted: tuple[Client, str]) -> None:
    client, worker = shifted
    assert worker.startswith(SHIFTED)
    set_clock(client, worker, HOUR_S)
    with taskscope.profile(display=False) as run:
        told = {f"truth-{i}": (start, stop) for i, start, stop in _run(client)}
    recording = run.recording
    zero = recording.started_at.timestamp()
    found = {r[0]: (r[1] + zero, r[2] + zero) for r in rows(recording, "tasks", "key", "start_s", "stop_s")}
    assert found.keys() == told.keys()
    # A minute is more than any round trip here, and far less than an hour.
    assert all(abs(found[key][0] - start) < MINUTE_S for key, (start, _) in told.items())
    assert all(found[k][1] - found[k][0] >= stop - start - 1e-4 for k, (start, stop) in told.items())
    assert rows(recording, "messages", "text") == []


def _run(client: Client) -> list[tuple[int, float, float]]:
    futures = client.map(truth, range(5), key=[f"truth-{i}" for i in range(5)])
    found: list[tuple[int, float, float]] = client.gather(futures)
    return found


class Heartbeats(WorkerPlugin):
    """Changes the correction of a worker after a task was chosen and before its thread has it."""

    def setup(self, worker: Any) -> None:
        self.worker = worker
        worker.periodic_callbacks["heartbeat"].stop()

    def transition(self, key: Any, start: Any, finish: Any, **_: Any) -> None:
        if finish == "executing":
            self.worker.scheduler_delay = 0.0 if self.worker.scheduler_delay else HOUR_S


def test_a_heartbeat_before_a_task_s_thread_has_it_moves_no_times() -> None:
    with (
        small_cluster() as (_, client),
        taskscope.profile(display=False) as run,
    ):
        # taskscope's plugin is there first.
        assert client.submit(abs, -1).result() == 1
        client.register_plugin(Heartbeats())
        told = {f"truth-{i}": start for i, start, _ in _run(client)}
    zero = run.recording.started_at.timestamp()
    found = {key: start_s + zero for key, start_s in rows(run.recording, "tasks", "key", "start_s")}
    assert found.keys() >= told.keys()
    assert all(abs(found[key] - start) < MINUTE_S for key, start in told.items())


class Late(ThreadPoolExecutor):
    """A thread that begins each task late, as one of a busy machine."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        def later() -> Any:
            time.sleep(LATE_S)
            return function(*args, **kwargs)

        return super().submit(later)


has_begun, may_end = threading.Event(), threading.Event()


def _held() -> float:
    began = time.time()
    has_begun.set()
    may_end.wait()
    return began


def test_a_heartbeat_while_a_task_runs_moves_no_times() -> None:
    with (
        small_cluster() as (cluster, client),
        Late(1) as late,
        taskscope.profile(display=False) as run,
    ):
        (worker,) = cluster.workers.values()
        worker.executors["late"] = late
        # taskscope's plugin is there first.
        assert client.submit(abs, -1).result() == 1
        worker.periodic_callbacks["heartbeat"].stop()
        worker.scheduler_delay = 0.0
        with dask.annotate(executor="late"):
            future = client.submit(_held, key="truth")
        has_begun.wait()
        worker.scheduler_delay = LATE_S / 2
        may_end.set()
        told = future.result()
    zero = run.recording.started_at.timestamp()
    found = dict(rows(run.recording, "tasks", "key", "start_s"))
    assert abs(found["truth"] + zero - told) < LATE_S / 4


def test_a_task_whose_worker_is_fifty_years_off_has_the_scheduler_s_times_and_files_go_on() -> None:
    clock = FakeClock()
    world = World(clock)
    with closing(StreamedFile(world.recorder)) as file:
        run = world.begin(["odd", "right"])
        world.tell(*world.graph({"odd": (), "right": ()}), world.send("odd"), world.send("right"))
        clock.advance(2.0)
        later = clock.time() + 50 * 365 * 24 * HOUR_S
        world.tell(("end", *record("odd", HERE, later, later + 1.0), None), world.end("right"))
        file.flush()
        world.finish(run)
        file.flush()
        written = read_back(file.content())
    found = rows(written, "tasks", "key", "status", "observed_by", "stop_s")
    assert sorted(found) == [("odd", "finished", "scheduler", 2.0), ("right", "finished", "worker", 2.0)]
    assert [text.split(":")[0] for text in world.said] == ["the clock of worker 0 is off by days"]
