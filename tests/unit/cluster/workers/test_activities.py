"""What workers do besides computing."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from dask.delayed import delayed
from distributed import Client, Future, LocalCluster

import taskscope
from tests.support.clusters.recordings import rows
from tests.support.clusters.small_cluster import small_cluster
from tests.support.waiting import until

_BYTES = 4_000_000


def block(_: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.random.default_rng(0).integers(0, 255, _BYTES, np.uint8)


def total(*parts: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> int:
    return sum(map(len, parts))


def total_after(signal: Path, *parts: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> int:
    """Add up once there is a file of that path."""
    import time

    while not signal.exists():
        time.sleep(0.02)
    return total(*parts)


def keys_sent(dask_worker: Any) -> int:
    return sum(len(entry["keys"]) for entry in dask_worker.transfer_outgoing_log)


def two_sides(cluster: LocalCluster, client: Client, n: int, add: Any = total) -> Future[int]:
    """Make blocks on one worker, and add them up on the other."""
    here, there = (worker.worker_address for worker in cluster.workers.values())
    with dask.annotate(workers=[here]):
        blocks = [delayed(block)(i, dask_key_name=f"block-{i}") for i in range(n)]
    with dask.annotate(workers=[there]):
        result = delayed(add)(*blocks, dask_key_name="total-0")
    future: Future[int] = client.compute(result, optimize_graph=False)
    return future


def test_transfers_have_their_source_and_their_bytes(
    client: Client, cluster: LocalCluster, tmp_path: Path
) -> None:
    here, there = (worker.worker_address for worker in cluster.workers.values())
    before = client.run(keys_sent)[here]
    with taskscope.profile(display=False) as run:
        added = two_sides(cluster, client, 6, partial(total_after, tmp_path / "end"))
        # A worker logs what it has sent once it heard that it came; the receiver may compute by then.
        until(lambda: client.run(keys_sent)[here] == before + 6)
        (tmp_path / "end").touch()
        assert added.result() == 6 * _BYTES
    recording = run.recording
    found = [
        row
        for row in rows(
            recording, "activities", "activity", "key", "source", "nbytes", "start_s", "stop_s", "lane"
        )
        if row[0] == "transfer"
    ]
    assert {row[1:3] for row in found} == {("total-0", here)}
    measured = sum(row[3] for row in found)
    assert measured == pytest.approx(6 * _BYTES, rel=0.001)
    assert {recording.lanes[row[6]].worker for row in found} == {there}
    ((computed_s,),) = [r[1:] for r in rows(recording, "tasks", "key", "start_s") if r[0] == "total-0"]
    assert all(0 <= start_s <= stop_s <= computed_s for *_, start_s, stop_s, _lane in found)

    logs = rows(recording, "transfers", "direction", "worker", "peer", "nbytes", "n_keys")
    of = {way: [row for row in logs if row[0] == way] for way in ("incoming", "outgoing")}
    # The client's own, where its result had been fetched by the time the logs were read.
    assert [row[1:3] for row in of["outgoing"] if row[2] is None] in ([], [(there, None)])
    of["outgoing"] = [row for row in of["outgoing"] if row[2] is not None]
    assert {row[1:3] for row in of["incoming"]} == {(there, here)}
    assert {row[1:3] for row in of["outgoing"]} == {(here, there)}
    for told in of.values():
        assert (sum(row[3] for row in told), sum(row[4] for row in told)) == (measured, 6)
    assert not np.isnan(
        [c for d, c in rows(recording, "transfers", "direction", "compressed_bytes") if d == "outgoing"]
    ).any()


def test_a_later_block_has_only_its_own_transfers(client: Client, cluster: LocalCluster) -> None:
    for n in (1, 2):
        with taskscope.profile(display=False) as run:
            two_sides(cluster, client, n).result()
        assert (
            sum(k for d, k in rows(run.recording, "transfers", "direction", "n_keys") if d == "incoming") == n
        )


def test_reading_and_writing_on_disk_are_activities(tmp_path: Path) -> None:
    with (
        dask.config.set({"temporary-directory": str(tmp_path), "distributed.worker.memory.target": 1e-9}),
        small_cluster(processes=True, memory_limit="8 GiB"),
        taskscope.profile(display=False) as run,
    ):
        parts = [delayed(np.ones)(8_000_000, dask_key_name=f"ones-{i}") for i in range(2)]
        assert delayed(total)(*parts, dask_key_name="total-1").compute() == 16_000_000
    counts = Counter(rows(run.recording, "activities", "activity", "source"))
    assert counts["compute", None] == 3
    assert counts["disk-write", None] >= 1
    assert counts["disk-read", None] >= 1
    assert all(
        stop_s >= start_s for start_s, stop_s in rows(run.recording, "activities", "start_s", "stop_s")
    )


def test_workers_that_run_no_plugins_leave_bytes_and_cpu_time_unknown_and_that_is_said() -> None:
    with (
        dask.config.set({"distributed.worker.blocked-handlers": ["plugin-add"]}),
        small_cluster(2, protocol="tcp://") as (cluster, client),
        taskscope.profile(display=False) as run,
    ):
        assert two_sides(cluster, client, 3).result() == 3 * _BYTES
    recording = run.recording
    assert len(rows(recording, "tasks", "key")) == 4
    found = rows(recording, "transfers", "direction", "nbytes", "n_keys")
    assert found
    assert {(d, str(nbytes), n) for d, nbytes, n in found} == {("incoming", "nan", 0)}
    texts = sorted(text for (text,) in rows(recording, "messages", "text"))
    assert [text.partition(" (")[0] for text in texts] == [
        f"worker {n} does not run taskscope's plugin" for n in range(2)
    ]
    assert len(recording.stacks.of_tasks.rows) == 0
