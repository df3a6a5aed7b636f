from __future__ import annotations

import dask

import taskscope
from taskscope.analysis.colours import prefix_colours
from taskscope.analysis.time_left import prefix_progress
from taskscope.session import current


def inc(i: int) -> int:
    return i + 1


def add(a: int, b: int) -> int:
    return a + b


def test_a_recording_gives_the_rows_that_the_recorder_gave_live() -> None:
    with taskscope.profile(display=False):
        dask.delayed(add)(1, 2).compute(scheduler="synchronous")
        with taskscope.profile(display=False) as run:
            one = dask.delayed(inc)(1)
            dask.delayed(add)(one, dask.delayed(inc)(2)).compute(scheduler="synchronous")
        first = run.recording.runs[0].run
        live = current().recorder.progress(first)
    assert prefix_progress(run.recording) == live
    assert prefix_colours(run.recording) == {row.prefix: i for i, row in enumerate(live)}
