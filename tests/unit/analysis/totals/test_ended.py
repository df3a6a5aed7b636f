from __future__ import annotations

import dask

import taskscope
from taskscope.analysis.display.pictures import N_COLOURS, prefix_colours
from taskscope.analysis.totals import prefix_progress
from taskscope.session import current


def ended_inc(i: int) -> int:
    return i + 1


def ended_add(a: int, b: int) -> int:
    return a + b


def test_a_recording_gives_the_rows_that_the_recorder_gave_live() -> None:
    with taskscope.profile(display=False):
        dask.delayed(ended_add)(1, 2).compute(scheduler="synchronous")
        with taskscope.profile(display=False) as run:
            one = dask.delayed(ended_inc)(1)
            dask.delayed(ended_add)(one, dask.delayed(ended_inc)(2)).compute(scheduler="synchronous")
        first = run.recording.runs[0].run
        live = current().recorder.progress(first)
    assert prefix_progress(run.recording) == live
    # A session gives colours in the order in which it saw them, whatever a recording of it begins with; what
    # other tests computed has had the first ones, and after the last comes the first again.
    colours = prefix_colours(run.recording)
    first_colour = colours["ended_add"]
    assert colours == {"ended_inc": (first_colour + 1) % N_COLOURS, "ended_add": first_colour}
    assert [row.prefix for row in live] == ["ended_inc", "ended_add"]
