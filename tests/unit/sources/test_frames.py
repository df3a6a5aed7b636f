"""What sampling does to threads: how soon they give up the interpreter's lock, and that their values go."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from taskscope.sources.cluster.plugin import Sampler
from taskscope.sources.stacks import SoonerSwitching, current_frames


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
    Sampler(worker).sample(1.0, 0.1)


@pytest.mark.parametrize("sample", [current_frames, _on_worker])
def test_a_sample_leaves_no_frame_in_a_cycle_that_garbage_collection_has_to_find(
    sample: Callable[[], object],
) -> None:
    # Values of all threads would live on, and on Python 3.11 that collection killed workers.
    sample()
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            sample()
        assert gc.collect() == 0
    finally:
        gc.enable()
