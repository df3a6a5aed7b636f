"""What workers are doing, read from them while they do it."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from distributed import Client

import taskscope
from taskscope.model.tables.stacks import StackColumns
from taskscope.record import GraphSource, Recorder
from taskscope.session import current
from taskscope.sources.cluster.link import RateLimiter
from taskscope.sources.cluster.workers import samples
from taskscope.sources.cluster.workers.known import Workers
from taskscope.sources.cluster.workers.poll import WorkerPoll
from taskscope.sources.cluster.workers.samples import WorkerProfiles
from tests.support.fakes.clock import FakeClock
from tests.support.waiting import until
from tests.unit.cluster.surfaces.test_performance_report import spend
from tests.unit.cluster.workers.test_failures import SCHEDULER, A, FakeWorker, Scheduler


def is_sampled(client: Client, prefix: str) -> bool:
    return bool(client.profile(key=prefix)["count"] >= 20)


def samples_of(prefix: str) -> StackColumns:
    """Return what this session has sampled of the last compute."""
    recorder = current().recorder
    stacks = recorder.stacks.between(recorder.next_run - 1, None)
    assert set(stacks.prefixes) <= {prefix}
    return stacks


def test_what_workers_do_is_known_while_they_do_it_each_sample_once(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "_EVERY_S", 0.1)
    with taskscope.profile(display=False) as run:
        futures = client.map(spend, [tmp_path / "end"] * 8, key=[f"live-{i}" for i in range(8)])
        # Several looks at cycles of a second.
        until(lambda: len(np.unique(samples_of("live").rows.start)) >= 2)
        assert not any(future.done() for future in futures)
        (tmp_path / "end").touch()
        client.gather(futures)
    profile = run.recording.profile()
    (prefix,) = profile.root.children
    assert (prefix.name, max(prefix.children, key=lambda node: node.seconds).name) == ("live", "spend")
    # All that the workers counted, and nothing twice.
    assert profile.n_samples == client.profile(key="live")["count"]
    tasks = run.recording.tasks
    assert profile.root.seconds == pytest.approx(float((tasks.stop - tasks.start).sum()))


def test_samples_have_their_worker_and_their_time(client: Client, tmp_path: Path) -> None:
    with taskscope.profile(display=False) as run:
        for name in ("first", "second"):
            future = client.submit(spend, tmp_path / name, key=f"{name}-1")
            until(partial(is_sampled, client, name))
            (tmp_path / name).touch()
            future.result()
    recording = run.recording
    table = recording.table("tasks")
    of_lane = {lane.id: lane for lane in recording.lanes}
    for key, lane in zip(table["key"], recording.tasks.lane.tolist(), strict=True):
        name = str(key).partition("-")[0]
        profile = recording.profile(prefix=name)
        assert profile.n_samples == recording.profile(prefix=name, worker=of_lane[lane].worker).n_samples
        assert profile.n_samples == client.profile(key=name)["count"]
    starts = recording.stacks.rows.start - recording.zero_s
    assert -1.0 <= float(starts.min()) <= float(starts.max()) <= max(map(float, table["stop_s"]))


def test_where_nobody_wants_samples_workers_are_not_asked(client: Client, tmp_path: Path) -> None:
    (tmp_path / "end").touch()
    with taskscope.profile(display=False, stacks=False) as run:
        client.submit(spend, tmp_path / "end", pure=False).result()
        (scheduler,) = current().cluster.schedulers.all()
        assert not scheduler.owes_samples
    assert run.recording.profile().n_samples == 0


def test_samples_that_come_before_the_graph_are_of_the_compute_whose_graph_has_their_prefix(
    fake_clock: FakeClock,
) -> None:
    worker = FakeWorker(A)
    calls = {"1": {"identifier": "f;f.py;1", "count": 5, "children": {}}}
    worker.profile_keys_history, worker.profile_keys = deque(), {}
    link, recorder, workers = Scheduler(worker), Recorder(clock=fake_clock), Workers(SCHEDULER)
    workers.update({"workers": {A: {"nthreads": 1}}})
    profiles = WorkerProfiles(WorkerPoll(link, workers, recorder), recorder, lambda: True)
    limiter = RateLimiter(fake_clock.perf_counter)
    log = recorder.begin()

    async def looks() -> list[int]:
        n_samples = []
        for prefixes in (["late", "of others"], [], [], []):
            fake_clock.advance(1.0)
            trees = {prefix: {"identifier": "", "count": 5, "children": calls} for prefix in prefixes}
            worker.profile_keys_history.append((fake_clock.time(), trees))
            for _ in range(2):
                await profiles.look(limiter, [log])
                if profiles._question._asking is not None:
                    await asyncio.wait({profiles._question._asking})
            n_samples.append(int(recorder.stacks.between(log.run, None).rows.count.sum()))
            if len(n_samples) == 2:
                log.graph_source = GraphSource({"late-1": ()}, frozenset(), {})
                recorder.pull(1.0)
        return n_samples

    assert asyncio.run(looks()) == [0, 0, 5, 5]


def test_computes_are_let_go_once_all_workers_have_told_of_a_later_cycle(fake_clock: FakeClock) -> None:
    worker = FakeWorker(A)
    worker.profile_keys_history, worker.profile_keys = deque(), {}
    link, recorder, workers = Scheduler(worker), Recorder(clock=fake_clock), Workers(SCHEDULER)
    workers.update({"workers": {A: {"nthreads": 1}}})
    profiles = WorkerProfiles(WorkerPoll(link, workers, recorder), recorder, lambda: True)
    limiter = RateLimiter(fake_clock.perf_counter)

    async def looks() -> None:
        n_kept = []
        for _ in range(50):
            # One small compute after another, and never a second of rest.
            await profiles.look(limiter, [recorder.begin()])
            fake_clock.advance(0.5)
            worker.profile_keys_history.append((fake_clock.time(), {}))
            asking = profiles._question._asking
            if asking is not None:
                await asyncio.wait({asking})
            n_kept.append(len(profiles._runs))
        assert max(n_kept) < 10

    asyncio.run(looks())
