"""Work that goes on when taskscope comes to it is shown from where it is."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import closing
from typing import Any

import dask
import pytest
from distributed import Client, Event

import taskscope
from taskscope.session import current
from taskscope.sources.cluster import connection
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


def _shown(widget: taskscope.ProgressWidget) -> tuple[str, int, int]:
    return widget.state, widget.finished, widget.total


def _recorded(widget: taskscope.ProgressWidget) -> list[object]:
    """Return what is recorded where the widget shows something else."""
    recorder = current().recorder
    ready = [(scheduler.address, scheduler.ready.is_set()) for scheduler in current().cluster.schedulers]
    return [_shown(widget), recorder.runs(), recorder.progress(), recorder.groups, ready]


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
