"""What workers hold: looked at, and held against what they have."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from itertools import chain

import numpy as np
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster, wait

import taskscope
from taskscope.jupyter.widgets import CacheWidget
from taskscope.model.recording import RecordedData
from taskscope.sources.cluster.holdings import Holdings
from tests.support.clusters.recordings import rows
from tests.support.clusters.scheduler_events import World
from tests.support.fakes.clock import FakeClock
from tests.support.waiting import until

_BYTES = 80_000


def _held(run: taskscope.profile) -> dict[str, tuple[int, int, int]]:
    """Return what is held by now: results, their bytes, and how many have none, by prefix."""
    columns = ("prefix", "n_keys", "nbytes", "n_unsized")
    last = {
        prefix: (n, int(nbytes), unsized)
        for prefix, n, nbytes, unsized in rows(run.recording, "holdings", *columns)
    }
    return {prefix: sums for prefix, sums in last.items() if sums[0]}


def _copies(client: Client) -> tuple[int, int, int]:
    """Return what the scheduler says that workers hold, all of one size."""
    n_copies = sum(map(len, client.has_what().values()))
    return n_copies, n_copies * _BYTES, 0


@pytest.fixture
def copies_stay(client: Client) -> Iterator[None]:
    """Have the scheduler not drop copies, as it otherwise does every two seconds."""
    client.amm.stop()
    yield
    client.amm.start()


@pytest.mark.usefixtures("copies_stay")
def test_what_persists_is_held_by_each_worker_that_has_it_until_it_is_let_go(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        cache = CacheWidget()
        kept = client.map(np.ones, [_BYTES // 8] * 3, pure=False, key="kept")
        wait(kept)
        until(lambda: _held(run) == {"kept": (3, 3 * _BYTES, 0)})
        client.replicate(kept[:2], 2)
        n_copies = sum(map(len, client.has_what().values()))
        assert n_copies > 3
        until(lambda: _held(run) == {"kept": (n_copies, n_copies * _BYTES, 0)})
        until(lambda: (cache.n_keys, cache.nbytes, cache.n_unsized) == _copies(client))
        assert (cache.peak_n_keys, cache.peak_at_least) == (n_copies, True)
        total = delayed(sum)([delayed(np.sum)(k, dask_key_name=f"part-{i}") for i, k in enumerate(kept)])
        assert total.compute() == 3 * _BYTES // 8
        # Workers may keep the copies that they made for the sum.
        until(lambda: _held(run).keys() == {"kept"} and _held(run)["kept"] == _copies(client))
        del kept, total
        until(lambda: _held(run) == {})
        until(lambda: (cache.n_keys, cache.nbytes) == (0, 0))
        cache.close()
    _is_true(run.recording)


def _is_true(recording: RecordedData) -> None:
    times = [time_s for (time_s,) in rows(recording, "holdings", "time_s")]
    assert times == sorted(times)
    assert all(0 <= time_s <= recording.now_s - recording.zero_s for time_s in times)
    assert all(math.isnan(exit_s) for (exit_s,) in rows(recording, "cache", "exit_s"))
    assert rows(recording, "messages", "text") == []


def test_what_others_hold_is_left_out(client: Client, cluster: LocalCluster) -> None:
    with Client(cluster, set_as_default=False) as other:
        theirs = other.submit(np.ones, 1000, key="theirs-1")
        wait(theirs)
        with taskscope.profile(display=False) as run:
            mine = client.submit(np.ones, _BYTES // 8, key="mine-1")
            wait(mine)
            until(lambda: _held(run) == {"mine": (1, _BYTES, 0)})
            del mine
            until(lambda: _held(run) == {})


class _Refusing:
    async def ask(self, op: str, **_: object) -> object:
        raise ValueError(f"{op} is blocked")


async def _opened(world: World) -> Holdings:
    holdings = Holdings(world.watched, world.tasks)
    await holdings.open()
    await holdings.ask(at_end=True)
    return holdings


def test_a_scheduler_that_does_not_tell_leaves_it_unknown() -> None:
    world = World(FakeClock(), link=_Refusing())  # type: ignore[arg-type]  # asks alone
    recorder = world.recorder
    holdings = asyncio.run(_opened(world))
    assert not holdings.has_left
    assert [m.text for m in recorder.messages] == [
        "the scheduler does not report what its workers have in memory: the cache is unknown"
    ]
    assert len(recorder.snapshot().holdings) == 0


class _Slow:
    """Answers after a while, with what a worker holds."""

    def __init__(self, clock: FakeClock, n_held: int) -> None:
        self.clock = clock
        self.n_held = n_held
        self.asked: list[list[str]] = []

    async def ask(self, op: str, workers: list[str]) -> dict[str, list[str]]:
        assert op == "has_what"
        self.asked.append(workers)
        self.clock.advance(0.1)
        return {address: [f"x-{i}" for i in range(self.n_held)] for address in workers}


@pytest.mark.parametrize(
    ("n_held", "n_answers", "pause_s", "at_end_s"),
    [(0, 1, 2.0, 2.0), (5_000, 1, 3.0, 3.0), (20_000, 3, 12.0, 12.0)],
)
def test_looking_is_rarer_where_it_takes_longer(
    n_held: int, n_answers: int, pause_s: float, at_end_s: float
) -> None:
    clock = FakeClock()
    link = _Slow(clock, n_held)
    world = World(clock, link=link)  # type: ignore[arg-type]  # asks alone
    workers = world.workers
    for address in workers.present:
        workers.leave(address, 0.0)
    for number in range(2, 5):
        workers.come(f"tcp://a:{number}", str(number), 1).n_held = n_held
    holdings = Holdings(world.watched, world.tasks)
    asyncio.run(holdings.ask(at_end=False))
    assert (len(link.asked), sorted(chain(*link.asked))) == (n_answers, sorted(workers.present))
    assert holdings.pause_s() == pytest.approx(pause_s)
    assert holdings.pause_s(at_end=True) == pytest.approx(at_end_s)
    asyncio.run(holdings.ask(at_end=True))
    assert len(link.asked) == n_answers
