"""What sampling does to threads: how soon they give up the interpreter's lock, and that their values go."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import FrameType

import pytest

from taskscope.sources import stacks
from taskscope.sources.stacks import SwitchInterval, current_frames


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before_s = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before_s)


def test_the_shortest_interval_that_is_wanted_holds_and_then_the_one_before() -> None:
    sys.setswitchinterval(0.003)
    one, other, seen = SwitchInterval(), SwitchInterval(), []
    wants = [(one, 0.001), (other, 0.0005), (one, None), (one, 0.01), (other, None), (one, None)]
    for switching, wanted_s in wants:
        switching.want(wanted_s)
        seen.append(round(sys.getswitchinterval(), 6))
    assert seen == [0.001, 0.0005, 0.0005, 0.0005, 0.003, 0.003]


def test_an_interval_that_another_tool_has_set_since_stays() -> None:
    one, other = SwitchInterval(), SwitchInterval()
    one.want(0.0001)
    sys.setswitchinterval(0.02)
    other.want(0.0002)
    one.want(None)
    other.want(None)
    assert sys.getswitchinterval() == pytest.approx(0.02)


def test_a_sample_leaves_no_frame_in_a_cycle_that_garbage_collection_has_to_find() -> None:
    # Values of all threads would live on, and on Python 3.11 that collection killed workers.
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(5):
            current_frames()
        gc.collect()
        # Threads of other tests may leave cycles of their own.
        frames = [found for found in gc.garbage if isinstance(found, FrameType)]
        assert [frame.f_code.co_name for frame in frames if frame.f_code.co_filename == stacks.__file__] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
