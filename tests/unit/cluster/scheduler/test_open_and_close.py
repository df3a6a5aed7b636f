"""What other threads do to a scheduler's connection while it opens, is lost, or closes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from threading import Semaphore
from typing import Any

import pytest
from distributed import Client, Event, Future, LocalCluster, fire_and_forget

import taskscope
from taskscope.session import current
from taskscope.sources.cluster import connection
from tests.support.clusters.recordings import rows
from tests.support.waiting import PATIENCE_S, each_scheduler_keeps_records, until


def wait_for(name: str) -> str:
    Event(name).wait()
    return name


def plugins_of(dask_scheduler: Any) -> list[Any]:
    return [plugin for name, plugin in dask_scheduler.plugins.items() if name.startswith("taskscope-")]


def n_plugins(dask_scheduler: Any) -> int:
    return len(plugins_of(dask_scheduler))


def release(cluster: LocalCluster, future: Future[Any]) -> None:
    scheduler: Any = cluster.scheduler
    # A scheduler still reading a graph drops the wish to keep its keys.
    until(lambda: future.key in scheduler.tasks)
    fire_and_forget(future)


def break_feeds(dask_scheduler: Any) -> None:
    for plugin in plugins_of(dask_scheduler):
        plugin.feed.get_coro().cr_frame.f_locals["comm"].abort()


@pytest.fixture
def plain(cluster: LocalCluster) -> Iterator[Client]:
    """A client, once no plugin of an earlier test is left on its scheduler."""
    with Client(cluster) as client:
        until(lambda: client.run_on_scheduler(n_plugins) == 0)
        yield client


def test_a_connection_that_breaks_while_nothing_runs_is_made_anew_for_the_next_compute(plain: Client) -> None:
    with taskscope.profile(display=False) as run:
        assert plain.submit(abs, -1, key="before").result() == 1
        current().cluster.settle()
        plain.run_on_scheduler(break_feeds)
        until(lambda: current().cluster.schedulers == [])
        assert plain.submit(abs, -2, key="after").result() == 2
    assert rows(run.recording, "runs", "status") == [("finished",)] * 2
    assert rows(run.recording, "tasks", "key", "status") == [("before", "finished"), ("after", "finished")]
    assert rows(run.recording, "messages", "text") == []


def test_work_that_is_released_before_its_graph_was_read_is_not_taken_for_cancelled(
    cluster: LocalCluster, plain: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_reads, is_there = Semaphore(0), threading.Event()
    reads = connection.Plugins.read

    async def read(self: connection.Plugins, cursor: int, *arguments: Any, **options: Any) -> Any:
        news = await reads(self, cursor, *arguments, **options)
        n_reads.release()
        return news if is_there.is_set() else connection.News(cursor, cursor, ())

    monkeypatch.setattr(connection.Plugins, "read", read)
    with taskscope.profile(display=False) as run:
        until(each_scheduler_keeps_records)
        release(cluster, plain.submit(wait_for, "late-graph", key="late"))
        while n_reads.acquire(blocking=False):
            pass
        for _ in range(4):
            assert n_reads.acquire(timeout=PATIENCE_S)
        is_there.set()
        Event("late-graph", client=plain).set()
        until(lambda: rows(run.recording, "runs", "status") == [("finished",)])
    assert rows(run.recording, "tasks", "key", "status") == [("late", "finished")]


def test_lines_wanted_while_it_connects_are_counted_once_it_has(
    plain: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_opening, may_open, flushed = threading.Event(), threading.Event(), list[bool]()
    opens, flushes = connection.Plugins.open, connection.Plugins.flush

    async def open_later(self: connection.Plugins, *arguments: Any) -> None:
        is_opening.set()
        await asyncio.to_thread(may_open.wait, PATIENCE_S)
        await opens(self, *arguments)

    async def flush(self: connection.Plugins, *arguments: Any) -> list[str]:
        flushed.append(may_open.is_set())
        return await flushes(self, *arguments)

    monkeypatch.setattr(connection.Plugins, "open", open_later)
    monkeypatch.setattr(connection.Plugins, "flush", flush)
    with taskscope.profile(display=False):
        assert is_opening.wait(PATIENCE_S)
        beginning = current().cluster.begin_wanted()
        assert beginning is not None
        may_open.set()
        beginning.result(PATIENCE_S)
    assert flushed[:1] == [True]
