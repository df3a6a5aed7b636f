"""What goes wrong around profilers must not touch the user's result."""

from __future__ import annotations

import threading
from collections.abc import Callable

import dask
import dask.threaded
import pytest

from taskscope.diagnostics import CacheProfiler, Profiler, ResourceProfiler
from taskscope.diagnostics.profilers import RecordedProfiler
from tests.support.waiting import PATIENCE_S

KINDS: list[Callable[[], RecordedProfiler]] = [
    Profiler,
    lambda: ResourceProfiler(dt=0.01),
    CacheProfiler,
    lambda: CacheProfiler(metric=abs),
]
GRAPH = {"a": (abs, -1), "b": (abs, "a")}


@pytest.fixture(params=KINDS, ids=["tasks", "resources", "cache", "metric"])
def profiler(request: pytest.FixtureRequest) -> RecordedProfiler:
    made: RecordedProfiler = request.param()
    return made


def test_two_threads_that_enter_the_same_profiler(profiler: RecordedProfiler) -> None:
    both = threading.Barrier(2)
    answers: list[object] = []

    def work() -> None:
        with profiler:
            both.wait(PATIENCE_S)
            answers.append(dask.get(GRAPH, "b"))
            both.wait(PATIENCE_S)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [1, 1]
    assert len(profiler.recording.runs) == 2
