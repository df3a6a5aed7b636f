"""Lines of named functions before Python 3.12: sampled, and a message says that they are not counted."""

from __future__ import annotations

import sys
import time

import dask
import pytest

import taskscope
from taskscope.sources.line_meter import HAS_LOCAL_EVENTS

pytestmark = pytest.mark.skipif(HAS_LOCAL_EVENTS, reason="from Python 3.12 on lines are counted")


def waits() -> None:
    time.sleep(0.3)


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_lines_of_a_named_function_are_sampled_and_nothing_is_traced(scheduler: str) -> None:
    with taskscope.profile(lines=[waits], display=False) as run:
        dask.delayed(waits)().compute(scheduler=scheduler)
    recording = run.recording
    assert (recording.measured_lines, sys.gettrace()) == ((), None)
    (message,) = recording.messages
    # In how many blocks of this session that was so, may follow.
    assert message.text.startswith(
        "lines are not counted: that needs Python 3.12 or later; recording.lines() has sampled ones, which "
        "are estimates"
    )
    (function,) = recording.lines(function=waits).functions
    assert (1, None) in [(line.number - waits.__code__.co_firstlineno, line.hits) for line in function.lines]
