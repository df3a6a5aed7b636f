"""What is recorded for the reasons that are given: workers that were there, sizes of graphs, the lock."""

from __future__ import annotations

import time
from contextlib import closing

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import taskscope
from tests.support.clusters.recordings import rows
from tests.support.waiting import until

_N = 250_000


def test_from_when_to_when_a_cluster_had_a_worker_is_known() -> None:
    with (
        LocalCluster(n_workers=0, threads_per_worker=3, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        with taskscope.profile(display=False) as run, closing(taskscope.ProgressWidget()) as widget:
            future = client.submit(abs, -1, pure=False)
            until(lambda: (widget.total, widget.no_worker, widget.queued) == (1, 1, 0))
            assert rows(run.recording, "workers", "n_threads") == []
            cluster.scale(1)
            wait(future)
            until(lambda: rows(run.recording, "workers", "n_threads") != [])
            cluster.scale(0)
            until(lambda: rows(run.recording, "workers", "n_threads")[-1:] == [(0,)])
        found = rows(run.recording, "workers", "time_s", "n_threads")
    ((start_s,),) = rows(run.recording, "tasks", "start_s")
    came_s, n_threads = found[0]
    left_s, _ = found[-1]
    assert n_threads == 3
    assert 0 < came_s < start_s < left_s
    assert {n for _, n in found[:-1]} == {3}


def test_how_large_a_graph_was_and_the_task_with_the_largest_argument_are_known(client: Client) -> None:
    big = np.ones(_N)
    blocks = da.from_array(big, chunks=_N // 5 * 4, name="blocks")
    with taskscope.profile(display=False) as run:
        assert client.submit(len, big, key="sized-0").result() == _N
        assert int(blocks.sum().compute()) == _N
        assert dask.delayed(len)(big, dask_key_name="len-0").compute() == _N
        assert da.ones(4).sum().compute() == 4
    found = rows(run.recording, "runs", "graph_bytes", "largest_argument", "largest_argument_bytes")
    assert [row[1:] for row in found[:3]] == [
        ("sized-0", 8 * _N),
        ("('blocks', 0)", 8 * _N // 5 * 4),
        ("len-0", 8 * _N),
    ]
    assert all(8 * _N < n_bytes < 9 * _N for n_bytes, _, _ in found[:3])
    # Small ones are not looked through.
    assert 0 < found[3][0] < 100_000
    assert found[3][1] is None


def turn() -> None:
    stop_s = time.perf_counter() + 1.0
    while time.perf_counter() < stop_s:
        sum(range(1000))


def pause() -> None:
    time.sleep(1.0)


def test_threads_of_a_worker_that_run_python_hold_its_lock_and_threads_that_wait_do_not() -> None:
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        taskscope.profile(display=False) as run,
    ):
        for function in (turn, pause):
            wait([client.submit(function, pure=False) for _ in range(2)])
    (turning,), (pausing,) = rows(run.recording, "runs", "lock_share")
    assert turning > 0.6
    assert pausing < 0.4
