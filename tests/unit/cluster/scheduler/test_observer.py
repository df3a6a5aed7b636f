"""The observer on a scheduler tells what the scheduler's own task stream has, and leaves nothing there."""

from __future__ import annotations

import asyncio
import io
import logging
import re
import threading
import time
from typing import Any

import dask
import pytest
from distributed import Client, Event, LocalCluster, wait

import taskscope
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.cluster import connection
from tests.support.clusters.recordings import rows
from tests.support.clusters.small_cluster import small_cluster
from tests.support.waiting import until


def fail(text: str) -> None:
    raise ValueError(text)


async def until_answered(cluster: LocalCluster) -> int:
    """Return a result, in an event loop that cannot wait until the scheduler has refused."""
    async with Client(cluster.scheduler_address, asynchronous=True) as client:
        result: int = await client.submit(abs, -1)
        return result


def test_computes_on_a_scheduler_that_forbids_observers_have_their_own_ends_and_that_is_said_once() -> None:
    with (
        dask.config.set({"distributed.scheduler.blocked-handlers": ["feed"]}),
        small_cluster(protocol="tcp://") as (cluster, client),
        taskscope.profile(display=False) as run,
    ):
        assert dask.delayed(abs)(-1).compute() == 1
        assert client.submit(abs, -2).result() == 2
        until(lambda: not current().cluster.owes_answers)
        with pytest.raises(ValueError, match="no"):
            dask.delayed(fail)("no").compute()
        assert asyncio.run(until_answered(cluster)) == 1
    recording = run.wait()
    assert rows(recording, "runs", "status", "error") == [
        ("finished", None),
        ("finished", None),
        ("erred", "ValueError: no"),
        ("finished", None),
    ]
    assert [found.n_workers for found in recording.runs] == [None] * 4
    assert rows(recording, "tasks", "key") == []
    ((text,),) = rows(recording, "messages", "text")
    assert re.fullmatch(
        r"the scheduler tcp\S+ does not let itself be observed \(.*disallowed.*\): "
        "of what runs there only the beginning and the end of each compute are recorded",
        text,
    )


@pytest.mark.parametrize("processes", [False, True])
def test_a_cluster_that_closes_right_after_a_block_says_nothing(
    *, processes: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    logging.getLogger("distributed").addHandler(handler)
    try:
        with (
            LocalCluster(n_workers=1, processes=processes, dashboard_address=":0") as cluster,
            Client(cluster),
            taskscope.profile(display=False) as run,
        ):
            assert dask.delayed(sum)([1, 2]).compute() == 3
    finally:
        logging.getLogger("distributed").removeHandler(handler)
    assert len(rows(run.recording, "tasks", "key")) == 1
    # On a busy machine distributed kills workers that take long to end, and says so.
    assert re.findall("ERROR|Traceback|feed|taskscope", said.getvalue() + capfd.readouterr().err) == []


def blocked(name: object, go: str) -> object:
    """Last until that is allowed."""
    Event(go).wait()
    return name


def workers(recording: Recording) -> dict[str, str]:
    """Return which worker each task was with, or is."""
    return dict(rows(recording, "tasks", "key", "worker"))


def nap(_number: int) -> None:
    time.sleep(0.05)


def test_tasks_that_an_idle_worker_stole_have_a_row_with_what_the_scheduler_expected() -> None:
    with (
        dask.config.set({"distributed.scheduler.work-stealing-interval": "50ms"}),
        small_cluster(2, protocol="tcp://") as (_, client),
        taskscope.profile(display=False) as run,
    ):
        a, b = sorted(client.scheduler_info()["workers"])
        # Nothing is stolen of which nobody knows how long it takes.
        client.submit(nap, -1).result()
        wait(client.map(nap, range(40), workers=[a], allow_other_workers=True))
    recording = run.wait()
    steals = recording.to_pandas("steals")
    assert set(steals.outcome) <= {"stolen", "refused"}
    first = steals[steals.outcome == "stolen"].iloc[0]
    assert (first.from_worker, first.to_worker) == (a, b)
    assert first.from_occupancy_s > first.to_occupancy_s >= 0
    assert first.cost_s > 0
    ends = recording.to_pandas("tasks").set_index("key")
    assert first.time_s < ends.loc[first.key].start_s
    last = steals[steals.outcome == "stolen"].drop_duplicates("key", keep="last").set_index("key")
    assert ends.worker[last.index].tolist() == last.to_worker.tolist()
    n_stolen = int((steals.outcome == "stolen").sum())
    assert f"{n_stolen} task{'s' * (n_stolen > 1)} stolen from busier ones" in recording.summary()


def test_a_plugin_that_raises_fails_no_task_and_is_counted(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = "def broken(*_): raise ValueError('broken')\nWorkerObserver.measure = broken\n"
    read = connection._source
    monkeypatch.setattr(
        connection, "_source", lambda name: read(name) + broken.encode() * name.endswith("plugin")
    )
    # Each module is read once.
    monkeypatch.setattr(connection, "_sent", connection._sent.__wrapped__)
    until(lambda: client.run_on_scheduler(n_observers) == 0)
    with taskscope.profile(display=False) as run:
        assert client.gather(client.map(abs, range(-9, 0), pure=False)) == list(range(9, 0, -1))
    assert [status for (status,) in rows(run.recording, "tasks", "status")] == ["finished"] * 9
    texts = [text for (text,) in rows(run.recording, "messages", "text")]
    counts = [int(re.match(r"(\d+) measurements of worker \d failed", text)[1]) for text in texts]  # type: ignore[index] # each is one
    assert sum(counts) == 9


def keeps(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Have schedulers keep so many events."""
    monkeypatch.setattr(connection, "_MOST_EVENTS", most)


def test_a_graph_of_more_tasks_than_the_scheduler_keeps_events_is_recorded_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeps(monkeypatch, 200)
    with (
        small_cluster() as (_, client),
        taskscope.profile(display=False) as run,
    ):
        futures = client.map(blocked, range(300), ["go"] * 300, pure=False)
        until(lambda: any(client.processing().values()))
        Event("go", client).set()
        client.gather(futures)
    assert rows(run.recording, "tasks", "status") == [("finished",)] * 300
    assert rows(run.recording, "messages", "text") == []


def test_the_graph_of_a_compute_is_kept_where_events_of_its_tasks_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeps(monkeypatch, 0)
    reads, may_read = connection.Plugins.read, threading.Event()

    async def read_late(self: connection.Plugins, *arguments: Any, **options: Any) -> connection.News:
        await asyncio.to_thread(may_read.wait)
        return await reads(self, *arguments, **options)

    with (
        small_cluster() as (_, client),
        taskscope.profile(display=False) as run,
    ):
        assert client.submit(abs, -1).result() == 1
        monkeypatch.setattr(connection.Plugins, "read", read_late)
        numbers = [dask.delayed(blocked)(i, "taskscope-kept-graph") for i in range(50)]
        total = client.compute(dask.delayed(sum)(numbers))
        until(lambda: any(client.processing().values()))
        Event("taskscope-kept-graph", client=client).set()
        assert total.result() == sum(range(50))
        may_read.set()
        until(
            lambda: rows(run.recording, "runs", "n_tasks") == [(1,), (51,)],
            lambda: [
                rows(run.recording, "runs", "n_tasks", "status"),
                rows(run.recording, "messages", "text"),
            ],
        )
    assert rows(run.recording, "runs", "status") == [("finished",), ("finished",)]
    texts = [text for (text,) in rows(run.recording, "messages", "text") if "missing" in text]
    # Of each read that finds some missing: there may be one of the first compute, too.
    said = {text.partition(" ")[2] for text in texts}
    assert said == {"tasks or more are missing: the scheduler did not keep their records"}


def n_observers(dask_scheduler: Any) -> int:
    """Run on the scheduler: return how many of ours are there."""
    return sum(name.startswith("taskscope") for name in dask_scheduler.plugins)
