"""Work that goes on when taskscope comes to it is shown from where it is."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import closing
from typing import Any

import dask
import pytest
from dask.delayed import delayed
from distributed import Client, Event

import taskscope
from taskscope.session import current
from taskscope.sources.cluster import connection, scheduler
from tests.support.clusters.recordings import rows
from tests.support.waiting import until


def first_or_later(number: int, name: str) -> int:
    if number >= 4:
        Event(name).wait()
    return number


def test_a_widget_made_when_some_tasks_of_a_map_are_done_counts_all(client: Client) -> None:
    futures = client.map(first_or_later, range(10), name="later-map", pure=False)
    until(lambda: sum(future.done() for future in futures) == 4)
    until(lambda: client.run_on_scheduler(is_unobserved))
    with (
        dask.config.set(scheduler="dask.distributed"),
        taskscope.profile(display=False) as run,
        closing(taskscope.ProgressWidget()) as widget,
    ):
        until(lambda: _shown(widget) == ("running", 4, 10), lambda: _recorded(widget))
        Event("later-map", client=client).set()
        assert client.gather(futures) == list(range(10))
        until(lambda: _shown(widget) == ("finished", 10, 10), lambda: _recorded(widget))
    recording = run.recording
    assert Counter(rows(recording, "tasks", "status", "observed_by")) == {
        ("finished", "worker"): 6,
        ("finished", "scheduler"): 4,
    }
    assert rows(recording, "messages", "text") == [
        ("4 tasks had ended before taskscope connected: when they ran is not known",)
    ]


def test_what_is_read_while_it_connects_waits_until_it_has(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read = threading.Event()
    opens, steps = connection.Plugins.open, scheduler.WatchedScheduler.step

    async def open_once_read(self: connection.Plugins, *arguments: Any) -> None:
        await asyncio.to_thread(is_read.wait)
        await opens(self, *arguments)

    def step(self: scheduler.WatchedScheduler) -> Any:
        is_read.set()
        return steps(self)

    monkeypatch.setattr(connection.Plugins, "open", open_once_read)
    monkeypatch.setattr(scheduler.WatchedScheduler, "step", step)
    future = client.submit(first_or_later, 4, "later-read", pure=False)
    until(lambda: client.run_on_scheduler(is_unobserved))
    with dask.config.set(scheduler="dask.distributed"), taskscope.profile(display=False) as run:
        current().cluster.settle()
        Event("later-read", client=client).set()
        assert future.result() == 4
    assert rows(run.recording, "runs", "n_tasks", "status") == [(1, "finished")]
    assert rows(run.recording, "messages", "text") == []


def _shown(widget: taskscope.ProgressWidget) -> tuple[str, int, int]:
    return widget.state, widget.finished, widget.total


def _recorded(widget: taskscope.ProgressWidget) -> list[object]:
    """Return what is recorded where the widget shows something else."""
    recorder = current().recorder
    ready = [(scheduler.address, scheduler.ready.is_set()) for scheduler in current().cluster.schedulers]
    return [_shown(widget), recorder.runs(), recorder.progress(), recorder.groups, ready]


def begun(client: Client, name: str) -> Any:
    """Return the future of a graph of 11 tasks, some of which have ended."""
    # One waits: two may have both threads of a worker, and what is queued there would wait with them.
    parts = [delayed(first_or_later)(i, f"later-{name}", dask_key_name=f"part-{i}") for i in range(5)]
    doubled = [delayed(sum)([part, part], dask_key_name=f"doubled-{i}") for i, part in enumerate(parts)]
    future = client.compute(delayed(sum)(doubled, dask_key_name="total"), optimize_graph=False)
    until(lambda: client.run_on_scheduler(n_done) == 4)
    return future


def test_of_a_graph_all_tasks_count_with_what_each_needs(client: Client) -> None:
    future = begun(client, "graph")
    until(lambda: client.run_on_scheduler(is_unobserved))
    with (
        dask.config.set(scheduler="dask.distributed"),
        taskscope.profile(display=False) as run,
        closing(taskscope.ProgressWidget()) as widget,
    ):
        until(lambda: _shown(widget) == ("running", 8, 11), lambda: _recorded(widget))
        Event("later-graph", client=client).set()
        assert future.result() == 20
    assert rows(run.recording, "runs", "n_tasks", "status") == [(11, "finished")]
    assert set(rows(run.recording, "dependencies", "key", "dependency")) == {
        *((f"doubled-{i}", f"part-{i}") for i in range(5)),
        *(("total", f"doubled-{i}") for i in range(5)),
    }


def n_done(dask_scheduler: object) -> int:
    tasks = dask_scheduler.tasks  # type: ignore[attr-defined]  # a scheduler
    return sum(task.state == "memory" for key, task in tasks.items() if str(key).startswith("doubled"))


def is_unobserved(dask_scheduler: object) -> bool:
    """Return whether the connections of earlier tests have ended."""
    plugins = dask_scheduler.plugins  # type: ignore[attr-defined]  # a scheduler
    return not any(str(name).startswith("taskscope") for name in plugins)


def test_tasks_that_an_event_loop_submits_before_it_is_connected_are_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    are_sent = threading.Event()
    opens = connection.Plugins.open

    async def open_once_sent(self: connection.Plugins, *arguments: Any) -> None:
        await asyncio.to_thread(are_sent.wait)
        await opens(self, *arguments)

    async def block() -> None:
        async with Client(
            n_workers=1, threads_per_worker=1, processes=False, asynchronous=True, dashboard_address=":0"
        ) as client:
            with taskscope.profile(display=False) as run:
                futures = client.map(first_or_later, range(6), name="later-loop", pure=False)
                await client.gather(futures[:4])
                are_sent.set()
                (known,) = current().cluster.schedulers
                await asyncio.to_thread(until, known.ready.is_set)
                await Event("later-loop", client=client).set()
                assert await client.gather(futures) == list(range(6))
            left.append(await asyncio.to_thread(run.wait))

    left: list[taskscope.Recording] = []
    monkeypatch.setattr(connection.Plugins, "open", open_once_sent)
    asyncio.run(block())
    (recording,) = left
    assert rows(recording, "runs", "n_tasks", "status") == [(6, "finished")]
    assert Counter(rows(recording, "tasks", "status", "observed_by")) == {
        ("finished", "worker"): 2,
        ("finished", "scheduler"): 4,
    }
