"""What sampling does to threads: how soon they give up the interpreter's lock, and that their values go."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType, SimpleNamespace

import pytest

from taskscope.sources import stacks
from taskscope.sources.cluster import plugin
from taskscope.sources.stacks import SoonerSwitching, current_frames

_SAMPLERS = (stacks.__file__, plugin.__file__)


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before_s = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before_s)


def test_threads_switch_sooner_while_it_is_wanted_and_as_before_afterwards() -> None:
    sys.setswitchinterval(0.003)
    switching, seen = SoonerSwitching(), []
    for is_wanted in (True, True, False, False, True, False):
        switching.want(is_wanted)
        seen.append(round(sys.getswitchinterval(), 6))
    assert seen == [0.0005, 0.0005, 0.003, 0.003, 0.0005, 0.003]


def test_what_the_user_sets_meanwhile_stays() -> None:
    switching = SoonerSwitching()
    switching.want(True)
    sys.setswitchinterval(0.02)
    switching.want(False)
    assert sys.getswitchinterval() == pytest.approx(0.02)


def test_who_has_threads_switch_yet_sooner_is_left_alone() -> None:
    sys.setswitchinterval(0.0001)
    switching = SoonerSwitching()
    switching.want(True)
    assert sys.getswitchinterval() == pytest.approx(0.0001)
    switching.want(False)
    assert sys.getswitchinterval() == pytest.approx(0.0001)


def _on_worker() -> None:
    worker = SimpleNamespace(active_threads={0: "task"}, active_threads_lock=threading.Lock())
    plugin.WorkerSampler(worker).sample(1.0, 0.1)


@pytest.mark.parametrize("sample", [current_frames, _on_worker])
def test_a_sample_leaves_no_frame_in_a_cycle_that_garbage_collection_has_to_find(
    sample: Callable[[], object],
) -> None:
    # Values of all threads would live on, and on Python 3.11 that collection killed workers.
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(5):
            sample()
        gc.collect()
        # Threads of other tests may leave cycles of their own.
        frames = [found for found in gc.garbage if isinstance(found, FrameType)]
        assert [frame.f_code.co_name for frame in frames if frame.f_code.co_filename in _SAMPLERS] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
