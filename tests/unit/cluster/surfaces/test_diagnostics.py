"""The drop-in for ``dask.diagnostics`` where a client is the default scheduler."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dask.delayed import delayed
from distributed import Client, Event, wait

from taskscope.diagnostics import CacheProfiler, Profiler, ProgressBar, ResourceProfiler
from tests.support.clusters.tasks import read_truth, work
from tests.support.waiting import PATIENCE_S


def test_profilers_have_the_tasks_of_a_cluster(client: Client, truth: Path) -> None:
    leaves = [delayed(work)(truth, f"leaf{i}", 0.02, dask_key_name=("leaf-1", i)) for i in range(4)]
    root = delayed(work)(truth, "root", 0.02, *leaves, dask_key_name="root-1")
    with Profiler() as prof, CacheProfiler() as cprof, ResourceProfiler(dt=0.05) as rprof:
        assert root.compute() == "root"
    by_key = {row.key: row for row in prof.results}
    assert set(by_key) == {"root-1", *(("leaf-1", i) for i in range(4))}
    assert {row.task for row in prof.results} == {None}
    assert {row.worker_id for row in prof.results} == {d.thread for d in read_truth(truth)}
    assert prof.start_time is not None
    assert prof.end_time is not None
    for row in prof.results:
        assert prof.start_time <= row.start_time < row.end_time <= prof.end_time
    assert {row.key: row.metric for row in cprof.results} == dict.fromkeys(by_key, 1)
    assert all(row.cache_time <= row.free_time <= prof.end_time for row in cprof.results)
    assert len(rprof.results) > 0
    assert prof.visualize(show=False, save=False) is not None


def test_the_metric_of_a_cache_profiler_has_no_value_and_says_why(client: Client) -> None:
    with CacheProfiler(metric=len) as cprof:
        delayed(list)((1, 2), dask_key_name="list-1").compute()
    assert [(row.key, row.metric) for row in cprof.results] == [("list-1", None)]
    assert [m.text for m in cprof.recording.messages] == [
        "results stay on the workers, so the cache metric gave them no value"
    ]


def test_the_progress_bar_ends_with_the_compute(client: Client, truth: Path) -> None:
    out = io.StringIO()
    with ProgressBar(out=out, dt=0.02) as pbar:
        delayed(list)([delayed(work)(truth, f"w{i}", 0.1) for i in range(8)]).compute()
    lines = out.getvalue().splitlines()
    assert lines[-1].startswith("[########################################] | 100% Completed | ")
    assert pbar.last_duration > 0.1
    shares = [int(line.partition("%")[0].rpartition(" ")[2]) for line in lines]
    assert shares == sorted(shares)


def _waited(client: Client, collection: Any) -> object:
    return client.compute(collection).result()


def _in_sync(client: Client, collection: Any) -> object:
    return client.compute(collection, sync=True)


def _persisted(client: Client, collection: Any) -> object:
    return wait(collection.persist())


def _gathered(client: Client, _collection: Any) -> object:
    return client.gather(client.map(abs, range(20), pure=False))


@pytest.mark.parametrize("way", [_waited, _in_sync, _persisted, _gathered])
def test_the_progress_bar_shows_work_that_no_compute_waits_for(
    client: Client, way: Callable[[Client, Any], object]
) -> None:
    out = io.StringIO()
    with ProgressBar(out=out, dt=0.01) as pbar:
        way(client, delayed(list)([delayed(abs)(-i) for i in range(8)]))
    last = out.getvalue().splitlines()[-1]
    assert last.startswith("[########################################] | 100% Completed | ")
    assert out.getvalue().endswith("\n")
    assert out.getvalue().count("100% Completed") == 1
    assert pbar.last_duration > 0


def test_the_progress_bar_of_futures_that_are_not_waited_for_ends_with_its_block(client: Client) -> None:
    out, goes_on = io.StringIO(), Event("goes-on")
    with ProgressBar(out=out, dt=0.01):
        future = client.submit(goes_on.wait)
    assert out.getvalue().endswith("\n")
    assert "100% Completed" not in out.getvalue()
    goes_on.set()
    assert future.result() is True


def test_no_warning_where_nothing_was_computed(client: Client) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Profiler() as prof, ProgressBar(out=io.StringIO()):
            pass
        assert prof.results == []
    assert "taskscope-cluster" not in {thread.name for thread in threading.enumerate()}


_EARLY = """
import io, sys
from dask import delayed
from taskscope.diagnostics import ProgressBar
from taskscope.session import current
from tests.support.waiting import be_patient

assert "distributed" not in sys.modules
hold_first, *_ = sys.argv[1:]
out = io.StringIO()
bar = ProgressBar(out=out, dt=1000)
if hold_first == "yes":
    current().hold("the extension")
bar.register()
if hold_first == "later":
    current().hold("the extension")
from distributed import Client
be_patient()
with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=':0'):
    for n in (1, 2):
        delayed(abs)(-n).compute()
        print(n, out.getvalue().count("100% Completed"), bar.last_duration > 0)
    bar.unregister()
    delayed(abs)(-3).compute()
    print(3, out.getvalue().count("100% Completed"))
"""


@pytest.mark.parametrize("held", ["no", "yes", "later"])
def test_a_bar_that_was_registered_before_distributed_was_imported_follows_clusters(held: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _EARLY, held], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.stdout.splitlines(), done.returncode) == (["1 1 True", "2 2 True", "3 2"], 0), done.stderr
