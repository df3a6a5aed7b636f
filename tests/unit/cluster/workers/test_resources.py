"""What workers say of their CPU and memory."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster, wait

import taskscope
from taskscope.model.tables.workers import WorkerSample
from taskscope.record import Recorder
from taskscope.sources.cluster.workers.known import Workers, WorkerSampler
from tests.support.clusters.tasks import work_after
from tests.support.fakes.clock import FakeClock
from tests.support.waiting import until
from tests.unit.cluster.tasks.test_computes import rows

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


def test_a_sample_is_told_once_and_what_is_spilled_is_not_held_in_memory() -> None:
    clock = FakeClock()
    recorder = Recorder(clock=clock)
    workers = Workers("tcp://a:1", WorkerSampler(recorder).take)
    facts = {
        "name": 3,
        "nthreads": 2,
        "memory_limit": 0,
        "metrics": {
            "time": clock.time() + 1.5,
            "cpu": 150.0,
            "memory": 500,
            "managed_bytes": 700,
            "spilled_bytes": {"memory": 300, "disk": 40},
            "task_counts": {"executing": 2, "long-running": 1, "ready": 7},
            "event_loop_interval": 0.25,
            "gil_contention": 0.5,
            "host_net_io": {"read_bps": 1e6, "write_bps": 2e6},
            "host_disk_io": {"read_bps": 3e6, "write_bps": 4e6},
            "num_fds": 20,
            "gpu_utilization": 75,
            "gpu_memory_used": 6e9,
        },
    }
    for _ in range(2):
        workers.update({"workers": {"tcp://a:2": facts, "tcp://a:3": {"name": "new"}}})
    (sample,) = recorder.workers
    assert sample.time_s == pytest.approx(1.5)
    assert replace(sample, time_s=1.5) == WorkerSample(
        time_s=1.5,
        worker="tcp://a:2",
        name="3",
        n_threads=2,
        n_executing=3,
        cpu_percent=150.0,
        rss_bytes=500.0,
        managed_bytes=400.0,
        unmanaged_bytes=100.0,
        spilled_bytes=300.0,
        limit_bytes=None,
        tick_s=0.25,
        gil_contention=0.5,
        net_read_bps=1e6,
        net_write_bps=2e6,
        disk_read_bps=3e6,
        disk_write_bps=4e6,
        n_fds=20.0,
        gpu_percent=75.0,
        gpu_bytes=6e9,
    )


def test_a_tick_that_no_event_loop_can_have_is_unknown() -> None:
    clock = FakeClock()
    recorder = Recorder(clock=clock)
    workers = Workers("tcp://a:1", WorkerSampler(recorder).take)
    for i, told in enumerate([-1.0, 2.0**40, float("nan"), "odd", 0.02]):
        metrics = {"time": clock.time() + i, "event_loop_interval": told}
        workers.update({"workers": {"tcp://a:2": {"name": "a", "nthreads": 1, "metrics": metrics}}})
    assert [sample.tick_s for sample in recorder.workers] == [None, None, None, None, 0.02]
