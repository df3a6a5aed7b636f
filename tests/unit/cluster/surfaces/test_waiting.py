"""How long threads of users wait until a scheduler keeps records."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from typing import Any

import pytest
from distributed import Client

import taskscope
from taskscope.errors import StillRunningError
from taskscope.recording import Recording
from taskscope.sources.cluster import source
from tests.support.waiting import PATIENCE_S, records_are_kept


def test_what_runs_in_the_caller_s_event_loop_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[threading.Thread] = []
    wait_for = concurrent.futures.wait

    def counted(futures: set[Any], timeout: float | None = None) -> Any:
        waited.append(threading.current_thread())
        return wait_for(futures, timeout)

    monkeypatch.setattr(source, "wait_for", counted)

    async def block() -> None:
        async with Client(
            n_workers=1, threads_per_worker=1, processes=False, asynchronous=True, dashboard_address=":0"
        ) as client:
            with taskscope.profile(display=False) as run:
                await records_are_kept()
                await client.submit(abs, -1)
            left.append(run.recording)

    left: list[Recording] = []
    asyncio.run(block())
    # Another thread waited; the client, which lives in the loop, was closed only after that.
    assert threading.main_thread() not in waited
    assert [(r.runs[0].status, list(r.table("tasks")["prefix"])) for r in left] == [("finished", ["abs"])]


def test_what_holds_up_the_event_loop_of_a_scheduler_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "SETTLE_S", 0.8)

    async def block() -> None:
        async with Client(
            n_workers=1, threads_per_worker=1, processes=False, asynchronous=True, dashboard_address=":0"
        ) as client:
            for n in (1, 2, 3):
                with taskscope.profile(display=False) as run:
                    await records_are_kept()
                    await client.gather(client.map(abs, range(-n, 0), pure=False))
                # As the next cell of a notebook does, for longer than anyone waits for a scheduler.
                time.sleep(1.0)  # noqa: ASYNC251 - to hold the loop up is what it is for
                with pytest.raises(StillRunningError, match=r"await asyncio\.to_thread\(recording\.wait\)"):
                    run.wait()
                left.append(await asyncio.to_thread(run.wait, PATIENCE_S))

    left: list[Recording] = []
    asyncio.run(block())
    assert [(r.runs[0].status, len(r.table("tasks")["key"]), r.messages) for r in left] == [
        ("finished", n, ()) for n in (1, 2, 3)
    ]
