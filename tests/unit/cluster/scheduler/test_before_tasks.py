"""The time before the first task of a compute on a cluster: in the client, on the scheduler, for a worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin

import taskscope
from taskscope.analysis.totals import BeforeTasks, measure_before_tasks
from taskscope.model.tables.records import BEFORE, Run
from taskscope.recording import Recording
from tests.support.computes import slow_graphs
from tests.support.computes.slow_graphs import Collection, SlowToSend, be_slow
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def _no_times_of_others() -> Iterator[None]:
    slow_graphs.took.clear()
    yield
    slow_graphs.took.clear()


def before_of(recording: Recording) -> tuple[Run, BeforeTasks]:
    (run,) = recording.runs
    before = measure_before_tasks(recording)
    assert before is not None
    return run, before


@pytest.mark.usefixtures("client")
def test_what_client_and_scheduler_do_is_measured_where_it_is_done() -> None:
    with taskscope.profile(display=False) as profiled:
        dask.compute(Collection({"x": (sum, [1, SlowToSend()])}, "x"))
    run, before = before_of(profiled.recording)
    assert run.send_s is not None
    assert run.materialize_s is not None
    assert run.send_s >= max(slow_graphs.took["pickle"])
    if hasattr(dask.base, "collections_to_expr"):
        # The scheduler, which lives in this process, optimizes; the client did before 2025.4.
        assert run.materialize_s >= sum(slow_graphs.took["optimize"])
    assert run.asked_s <= run.start_s
    assert all(seconds >= 0 for seconds in before.phases_s.values())
    assert {"send", "materialize", "order", "initialize"} <= before.phases_s.keys()
    assert sum(before.phases_s.values()) <= before.seconds + 0.1
    (finding,) = (f for f in profiled.recording.explain().findings if f.cause == "large-graph")
    assert finding.evidence["phases_s"] == before.phases_s
    assert finding.text.endswith(f"mostly {before.longest()}")
    assert "before tasks" in profiled.recording.summary()


def test_taking_tasks_in_is_measured(cluster: LocalCluster) -> None:
    class Slow(SchedulerPlugin):
        def update_graph(self, *_: Any, **__: Any) -> None:
            be_slow("update_graph")

    with Client(cluster) as client:
        scheduler: Any = cluster.scheduler
        scheduler.add_plugin(Slow(), name="slow")
        try:
            with taskscope.profile(display=False) as profiled:
                dask.compute(dask.delayed(sum)([1, 2]))
        finally:
            client.unregister_scheduler_plugin("slow")
    run, before = before_of(profiled.recording)
    (own_s,) = slow_graphs.took["update_graph"]
    assert run.initialize_s is not None
    assert run.initialize_s >= own_s
    assert before.phases_s["initialize"] == run.initialize_s


def test_waiting_for_workers_that_come_late_is_measured() -> None:
    with LocalCluster(n_workers=0, dashboard_address=":0", processes=False) as cluster, Client(cluster):
        with taskscope.profile(display=False) as profiled:
            scheduler: Any = cluster.scheduler
            value = dask.delayed(sum)([1, 2]).persist()
            until(
                lambda: any(task.state in ("no-worker", "queued") for task in list(scheduler.tasks.values()))
            )
            be_slow("workers")
            cluster.scale(1)
            assert value.compute() == 3
        recording = profiled.recording
    waited = measure_before_tasks(recording, recording.runs[:1])
    assert waited is not None
    assert waited.phases_s["wait"] >= sum(slow_graphs.took["workers"])
    assert max(waited.phases_s, key=lambda phase: waited.phases_s[phase]) == "wait"


def test_tasks_of_submit_have_many_graphs_and_no_such_time(client: Client) -> None:
    with taskscope.profile(display=False) as profiled:
        assert client.gather(client.map(abs, [-1, -2])) == [1, 2]
    (run,) = profiled.recording.runs
    assert [getattr(run, name) for name in BEFORE] == [None] * len(BEFORE)
