"""A pool of processes that starts: tasks were handed to it, and none runs."""

from __future__ import annotations

import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import Any

import dask

import taskscope
from taskscope.analysis.progress import Progress, live_states, measure_progress
from taskscope.jupyter.widgets.values import progress_values
from taskscope.session import current
from tests.support.waiting import PATIENCE_S, until

_gates: list[Event] = []


def _start(*gates: Event) -> None:
    """Start a process of the pool as slowly as the test wants it."""
    _gates[:] = gates
    assert gates[0].wait(PATIENCE_S)


def _hold(_: int) -> None:
    assert _gates[1].wait(PATIENCE_S)


def _progress(run: int) -> Progress:
    recorder = current().recorder
    recorder.pull_all()
    runs, now_s = recorder.runs(run), recorder.now_s()
    return measure_progress(recorder.progress(run), runs, now_s, states=live_states(recorder, runs, now_s))


def test_a_pool_is_starting_until_the_first_process_has_begun_and_runs_no_more_tasks_than_processes() -> None:
    context = get_context("spawn")
    may_start, may_end = gates = context.Event(), context.Event()
    tasks = [dask.delayed(_hold)(i, dask_key_name=f"hold-{i}") for i in range(20)]

    def compute(pool: Any) -> None:
        dask.compute(tasks, scheduler="processes", pool=pool, num_workers=2, optimize_graph=False)

    with (
        ProcessPoolExecutor(2, context, _start, gates) as pool,
        taskscope.profile(display=False) as run,
    ):
        try:
            number = current().recorder.next_run
            computing = threading.Thread(target=compute, args=(pool,))
            computing.start()
            until(lambda: any(log.submitted for log in current().recorder.going()))
            starting = _progress(number)
            may_start.set()
            until(lambda: not _progress(number).live_state)
            begun = _progress(number)
        finally:
            may_start.set()
            may_end.set()
        computing.join()
    values = progress_values(starting)
    assert (starting.running, values["running"], begun.running, begun.finished) == (0, 0, 2, 0)
    assert str(values["live_state"]).startswith("starting 2 processes, ")
    assert begun.live_state == ""
    (row,) = run.recording.to_pandas("runs").to_dict("records")
    first_s = run.recording.to_pandas("tasks").start_s.min() - row["start_s"]
    # Each of the two is rounded to a tick.
    assert starting.elapsed_s < row["pool_start_s"] < first_s + 1e-6
