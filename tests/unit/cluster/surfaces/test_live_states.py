"""What keeps a compute from going on is said in the same words by the page, a terminal and a picture."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from dask import delayed
from distributed import Status

import taskscope
from taskscope.analysis import progress
from taskscope.analysis.progress import Estimates, live_states
from taskscope.jupyter.feed.stream import PageStream
from taskscope.jupyter.widgets.values import RunRange, live_progress, progress_values
from taskscope.record.pump import Tick
from taskscope.report.picture import progress_text
from taskscope.session import current
from tests.support.clusters.small_cluster import small_cluster
from tests.support.waiting import PATIENCE_S, until
from tests.support.wire_decoder import PageReader


def states() -> list[str]:
    recorder = current().recorder
    return list(live_states(recorder, recorder.runs(), recorder.now_s()).values())


def said() -> list[str]:
    """Return what a page, a widget and a line of text say of the compute that goes on."""
    recorder = current().recorder
    (run,) = (log.run for log in recorder.going())
    estimates, now_s = Estimates(recorder), recorder.now_s()
    _, buffers = PageStream(recorder, "e", 0, estimates).next(Tick(now_s, active=True, final=False))
    page = {row["run"]: row["text"] for row in PageReader().read(buffers)["tables"]["live_states"]}
    shown = live_progress(recorder, RunRange(run, run), estimates, now_s, of_now=False)
    line = next((part for part in progress_text(shown).split(" · ") if part == shown.live_state), "")
    return [page.get(run, ""), str(progress_values(shown)["live_state"]), line]


def _set_status(status: str, dask_worker: Any = None) -> None:
    """Run on a worker: have it do as it does when its memory is short, or is not any more."""
    dask_worker.status = Status[status]


def _n_running(dask_scheduler: Any) -> int:
    return len(dask_scheduler.running)


def test_workers_that_are_paused_are_counted_as_waiting_for_memory() -> None:
    with (
        small_cluster(2, processes=True) as (cluster, client),
    ):
        # Before taskscope meets the scheduler, and after.
        first, second = (cluster.workers[i].worker_address for i in range(2))
        client.run(_set_status, "paused", workers=[first])
        with taskscope.profile(display=False):
            client.run(_set_status, "paused", workers=[second])
            # Until the scheduler has that message it may send the task there.
            until(lambda: client.run_on_scheduler(_n_running) == 0)
            future = client.submit(abs, -1)
            until(lambda: states() == ["waiting for memory: 2 workers paused"])
            assert said() == ["waiting for memory: 2 workers paused"] * 3
            client.run(_set_status, "running", workers=[first, second])
            assert future.result(PATIENCE_S) == 1
            until(lambda: not states())


def _hold_interpreter(gate: Any) -> None:
    """Hold the interpreter's lock in C, and let the test see it afterwards."""
    sum(range(30_000_000))
    gate.wait(PATIENCE_S)


def test_a_c_call_that_keeps_all_threads_from_running_is_said_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "_RECENT_S", PATIENCE_S)

    gate = threading.Event()
    with taskscope.profile(display=False, dt=0.01):
        task = delayed(_hold_interpreter)(gate)
        computing = threading.Thread(target=task.compute, kwargs={"scheduler": "threads"})
        computing.start()
        try:
            until(lambda: any(text.startswith("kernel busy in C code, ") for text in states()))
            assert [text.rpartition(",")[0] for text in said()] == ["kernel busy in C code"] * 3
        finally:
            gate.set()
            computing.join()
        assert not states()
