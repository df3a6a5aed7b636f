"""What is recorded for the reasons that are given: workers that were there, sizes of graphs, the lock."""

from __future__ import annotations

import time
from contextlib import closing
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster, wait

import taskscope
from tests.support.clusters.recordings import rows
from tests.support.clusters.small_cluster import small_cluster
from tests.support.waiting import until

_N = 250_000


def test_from_when_to_when_a_cluster_had_a_worker_is_known() -> None:
    with (
        small_cluster(0, 3) as (cluster, client),
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


def test_a_dataframe_that_is_read_by_functions_and_has_columns_of_any_name_is_observed_without_a_fault(
    client: Client, tmp_path: Path
) -> None:
    for part in range(2):
        table = pd.DataFrame({"key": [1, 2], "iterables": [3, 4], "mapping": [5, 6], "value": [7, 8]})
        table.to_csv(tmp_path / f"{part}.csv", index=False)
    # A large one is looked through for its largest part.
    wide = pd.DataFrame({"mapping": np.ones(_N), "layers": np.ones(_N), "operands": np.ones(_N)})
    with taskscope.profile(display=False) as run:
        assert int(dd.read_csv(str(tmp_path / "*.csv")).value.sum().compute()) == 30
        assert dd.from_map(_table, [1, 2]).sum().compute().to_dict() == {"output": 3, "task": 3}
        assert dd.from_pandas(wide, npartitions=2).layers.sum().compute() == _N
    assert run.recording.messages == ()


def test_a_dataframe_that_is_made_of_futures_is_observed_without_a_fault(client: Client) -> None:
    # Some of its expressions have no columns, and raise where an attribute is not known.
    futures = client.scatter([pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [3, 4]})])
    with taskscope.profile(display=False) as run:
        assert int(dd.from_delayed(futures).x.sum().compute()) == 10
    assert run.recording.messages == ()


def _table(value: int) -> pd.DataFrame:
    return pd.DataFrame({"output": [value], "task": [value]})


def turn(until_there: Path) -> None:
    while not until_there.exists():
        sum(range(1_000_000))


def pause(until_there: Path) -> None:
    while not until_there.exists():
        time.sleep(0.05)


def _has_samples(run: taskscope.profile, n: int) -> bool:
    return len(rows(run.recording, "workers", "time_s")) >= n


def test_threads_of_a_worker_that_run_python_hold_its_lock_and_threads_that_wait_do_not(
    tmp_path: Path,
) -> None:
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        taskscope.profile(display=False) as run,
    ):
        for function in (turn, pause):
            end = tmp_path / function.__name__
            futures = [client.submit(function, end, pure=False) for _ in range(2)]
            # With each of its messages a worker sends how often the lock was held since the one before.
            until(partial(_has_samples, run, len(rows(run.recording, "workers", "time_s")) + 4))
            end.touch()
            wait(futures)
    (turning,), (pausing,) = rows(run.recording, "runs", "lock_share")
    assert turning > 0.6
    assert pausing < 0.4
