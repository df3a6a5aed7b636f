"""Which results of computes are in memory."""

from __future__ import annotations

import math

import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster, wait

import taskscope
from taskscope.jupyter.widgets import CacheWidget
from taskscope.model.recording import RecordedData
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


def test_a_result_is_in_memory_once_however_many_workers_have_it_until_it_is_released(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        cache = CacheWidget()
        kept = client.map(np.ones, [_BYTES // 8] * 3, pure=False, key="kept")
        wait(kept)
        until(lambda: _held(run) == {"kept": (3, 3 * _BYTES, 0)})
        until(lambda: (cache.n_keys, cache.nbytes, cache.n_unsized) == (3, 3 * _BYTES, 0))
        client.replicate(kept[:2], 2)
        total = delayed(sum)([delayed(np.sum)(k, dask_key_name=f"part-{i}") for i, k in enumerate(kept)])
        assert total.compute() == 3 * _BYTES // 8
        until(lambda: _held(run) == {"kept": (3, 3 * _BYTES, 0)})
        assert cache.peak_at_least
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


def test_after_events_were_lost_no_result_is_known_to_be_in_memory() -> None:
    world = World(FakeClock())
    run = world.begin(["x-1", "x-2"])
    world.tell(*world.graph({"x-1": [], "x-2": []}), world.end("x-1"), world.end("x-2"))
    world.finish(run)
    world.tell(world.state("x-1", "forgotten"))
    assert world.tasks.holdings.are_left
    world.tell(lost=3)
    held = world.recorder.snapshot().holdings
    assert (list(held.n_keys), list(held.nbytes)) == ([2, 1, 0], [160.0, 80.0, 0.0])
    assert not world.tasks.holdings.are_left
