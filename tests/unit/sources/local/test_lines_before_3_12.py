"""Lines of named functions before Python 3.12: sampled, and a message says that they are not counted."""

from __future__ import annotations

import sys
import time

import dask
import pytest

import taskscope
from taskscope.sources.line_meter import HAS_LOCAL_EVENTS

pytestmark = pytest.mark.skipif(HAS_LOCAL_EVENTS, reason="from Python 3.12 on lines are counted")

REFUSAL = (
    "lines are not counted: that needs Python 3.12 or later; recording.lines() has sampled ones, which are "
    "estimates"
)


def waits() -> None:
    time.sleep(0.3)


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_lines_of_a_named_function_are_sampled_and_nothing_is_traced(scheduler: str) -> None:
    with taskscope.profile(lines=[waits], display=False) as run:
        dask.delayed(waits)().compute(scheduler=scheduler)
    recording = run.recording
    assert (recording.measured_lines, sys.gettrace()) == ((), None)
    assert [message.text for message in recording.messages] == [REFUSAL]
    (function,) = recording.lines(function=waits).functions
    assert (1, None) in [(line.number - waits.__code__.co_firstlineno, line.hits) for line in function.lines]


def test_that_they_are_not_counted_is_logged_before_a_block_runs_and_once_in_its_recording(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logged: list[list[str]] = []

    def work() -> None:
        logged.append(caplog.messages)

    for _ in range(2):
        # A block inside, and its end, change what the session records.
        with taskscope.profile(lines=[waits], display=False) as run, taskscope.profile(display=False):
            dask.delayed(work)().compute(scheduler="synchronous")
        assert [message.text for message in run.recording.messages] == [REFUSAL]
    assert logged == [[REFUSAL], [REFUSAL, REFUSAL]]
