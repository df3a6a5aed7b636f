"""A worker whose clock is an hour ahead, on an address that is not the scheduler's."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Client, Event, LocalCluster

import taskscope
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.cluster.plugin import WorkerObserver
from tests.support.clusters.recordings import rows
from tests.support.clusters.shifted_worker import SHIFTED, set_clock, shifted_worker
from tests.support.waiting import until

MINUTE_S, HOUR_S = 60.0, 3600.0


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


def begin_and_wait() -> None:
    Event("begun").set()
    Event("may-end").wait()


def test_a_clock_that_is_set_is_noticed(shifted: tuple[Client, str]) -> None:
    client, worker = shifted
    set_clock(client, worker, HOUR_S)
    with taskscope.profile(display=False) as run:
        future = client.submit(begin_and_wait, key="wait-1")
        Event("begun").wait()
        # Set before the first comparison, it would not be seen to be set.
        until(lambda: _is_compared(worker))
        set_clock(client, worker, -HOUR_S)
        until(lambda: len(_messages(run.recording)) == 1, lambda: _messages(run.recording))
        Event("may-end").set()
        future.result()
    (host,), (process,) = _messages(run.recording)
    assert re.fullmatch(
        r"the clock of 127\.0\.0\.2 was set by -7(199\.\d|200\.0)\d\d s: times around that are uncertain",
        host,
    )
    assert process == f"the clock of {worker} was set back: times of its tasks are uncertain"


def _is_compared(worker: str) -> bool:
    (scheduler,) = current().cluster.schedulers
    clock = scheduler.workers.clocks.host(worker)
    return clock is not None and clock.best is not None


def _messages(recording: Recording) -> list[tuple[str]]:
    return rows(recording, "messages", "text")


@pytest.mark.parametrize(("host", "n"), [("10.0.0.1", 0), ("10.0.0.2", 1)])
def test_a_worker_of_another_machine_compares_its_clock_before_its_first_task(host: str, n: int) -> None:
    async def an_hour_behind() -> float:
        return time.time() - HOUR_S

    scheduler: Any = SimpleNamespace(address="tcp://10.0.0.1:1", **{"here-clock": an_hour_behind})
    logs: dict[str, list[Any]] = {"transfer_incoming_log": [], "transfer_outgoing_log": []}
    worker: Any = SimpleNamespace(address=f"tcp://{host}:2", scheduler=scheduler, stream_handlers={}, **logs)

    async def set_up() -> list[tuple[float, float, float]]:
        plugin = WorkerObserver("here", "")
        await plugin.setup(worker)
        plugin.teardown(worker)
        return plugin.exchanges

    found = asyncio.run(set_up())
    assert len(found) == n
    assert all(abs(sent - HOUR_S - there) < MINUTE_S for sent, there, _ in found)
