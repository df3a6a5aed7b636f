"""What workers say of their CPU and memory."""

from __future__ import annotations

import os
from pathlib import Path

import dask
import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster, wait

import taskscope
from tests.support.clusters.recordings import rows
from tests.support.clusters.small_cluster import small_cluster
from tests.support.clusters.tasks import work_after
from tests.support.waiting import until

_BYTES = 100_000_000


def test_each_worker_s_memory_is_followed_while_it_computes(
    client: Client, cluster: LocalCluster, truth: Path, tmp_path: Path
) -> None:
    here, there = (worker.worker_address for worker in cluster.workers.values())

    def told_of(address: str, what: str = "managed_bytes") -> list[float]:
        samples = rows(run.recording, "workers", "worker", what)
        return [told for worker, told in samples if worker == address]

    with taskscope.profile(display=False) as run:
        held = client.submit(np.ones, _BYTES // 8, workers=[here], pure=False)
        wait(held)
        asked = client.submit(work_after, tmp_path / "end", truth, "asked", pure=False)
        until(lambda: told_of(here)[-1:] >= [0.99 * _BYTES] and told_of(there) != [])
        rss = psutil.Process(client.run(os.getpid)[here]).memory_info().rss
        # A worker looks at its process twice a second, and tells between two looks what it saw last.
        until(lambda: told_of(here, "rss_bytes")[-1] == pytest.approx(rss, rel=0.2))
        (tmp_path / "end").touch()
        asked.result()
    found = rows(
        run.recording, "workers", "worker", "name", "n_threads", "managed_bytes", "rss_bytes", "time_s"
    )
    del held
    assert {row[:3] for row in found} == {
        (worker.worker_address, str(name), 2) for name, worker in cluster.workers.items()
    }
    last = [row for row in found if row[0] == here][-1]
    assert last[3] == pytest.approx(_BYTES, rel=0.01)
    assert last[4] == pytest.approx(rss, rel=0.2)
    times = [row[5] for row in found if row[0] == here]
    assert times == sorted(set(times))
    assert times[0] >= 0
    ticks, fds = zip(*rows(run.recording, "workers", "tick_s", "n_fds"), strict=True)
    assert all(0 < tick < 60 for tick in ticks)
    assert all(n >= 3 for n in fds)


def test_a_compute_that_ends_before_the_monitor_of_a_worker_looks_again_has_a_sample_of_it() -> None:
    looks_rarely = {"distributed.admin.system-monitor.interval": "1 hour"}
    with (
        dask.config.set(looks_rarely),
        small_cluster() as (cluster, client),
    ):
        for _ in range(2):
            with taskscope.profile(display=False) as run:
                client.submit(abs, -1, pure=False).result()
            found = rows(run.recording, "workers", "worker", "n_threads")
            assert set(found) == {(cluster.workers[0].worker_address, 1)}
            assert all(time_s >= 0 for (time_s,) in rows(run.recording, "workers", "time_s"))
