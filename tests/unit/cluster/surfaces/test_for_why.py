"""What is recorded for the reasons that are given: workers that were there, sizes of graphs, the lock."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import Any

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


_may_end = threading.Event()


def hold() -> None:
    _may_end.wait()


def test_what_workers_measure_of_the_lock_is_the_share_of_the_compute(monkeypatch: Any) -> None:
    _may_end.clear()
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        (worker,) = cluster.workers.values()
        recent = worker.monitor.recent
        monkeypatch.setattr(worker.monitor, "recent", lambda: recent() | {"gil_contention": 0.75})
        with taskscope.profile(display=False) as run:
            future = client.submit(hold)
            # A worker measures the half second before it reports.
            until(lambda: len(set(rows(run.recording, "workers", "time_s"))) >= 5)
            _may_end.set()
            wait(future)
    assert rows(run.recording, "runs", "lock_share") == [(0.75,)]
