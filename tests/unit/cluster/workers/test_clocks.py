"""A worker whose clock is an hour ahead, on an address that is not the scheduler's."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator

import pytest
from distributed import Client, LocalCluster

import taskscope
from taskscope.record import Recorder
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.link import Link, RateLimiter
from taskscope.sources.cluster.observer import Observer
from taskscope.sources.cluster.workers.clock_probe import ClockProbe
from taskscope.sources.cluster.workers.known import Workers
from taskscope.sources.cluster.workers.poll import WorkerPoll
from tests.support.clusters.recordings import rows
from tests.support.clusters.shifted_worker import SHIFTED, scheduler_address, set_clock, shifted_worker

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


def test_a_clock_is_measured_to_half_of_a_round_trip_and_a_step_is_told(shifted: tuple[Client, str]) -> None:
    client, worker = shifted
    set_clock(client, worker, HOUR_S)
    recorder = Recorder()
    address = scheduler_address(client)
    link, workers = Link(address, {}), Workers(address)

    async def look() -> float:
        """Measure once, and return how far the worker is ahead, once that is bounded as it must be."""
        observer = Observer(link, recorder)
        await observer.open()
        probe = ClockProbe(link, WorkerPoll(link, workers, recorder), recorder, observer.clock_op)
        workers.update(await link.ask("identity", **adapter.all_workers()))
        await probe.look(RateLimiter(recorder.clock.perf_counter))
        await probe.finished()
        observer.close()
        clock = workers.clocks.host(worker)
        assert clock is not None
        assert clock.best is not None
        ahead_s = round(-clock.best.ahead_s / HOUR_S) * HOUR_S
        assert abs(clock.best.ahead_s + ahead_s) <= clock.best.bound_s + 1e-6
        assert workers.clocks.scheduler_ahead_s == 0.0
        return ahead_s

    async def look_twice() -> list[float]:
        seen = [await look()]
        await asyncio.to_thread(set_clock, client, worker, -HOUR_S)
        seen.append(await look())
        await link.close()
        return seen

    assert asyncio.run(look_twice()) == [HOUR_S, -HOUR_S]
    (message,) = recorder.messages
    assert re.fullmatch(
        r"the clock of 127\.0\.0\.2 was set by -7(199\.9|200\.0)\d\d s: times around that are uncertain",
        message.text,
    )
