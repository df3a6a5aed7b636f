"""What goes wrong around profilers must not touch the user's result."""

from __future__ import annotations

import threading
from collections.abc import Callable

import dask
import dask.threaded
import pytest

from taskscope.diagnostics import CacheProfiler, Profiler, ResourceProfiler
from taskscope.diagnostics.profilers import RecordedProfiler
from taskscope.session import current
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


def test_register_twice_and_unregister_when_absent(profiler: RecordedProfiler) -> None:
    profiler.unregister()
    profiler.register()
    profiler.register()
    assert dask.get(GRAPH, "b") == 1
    profiler.unregister()
    profiler.unregister()
    assert len(profiler.recording.runs) == 1
    assert dask.get(GRAPH, "b") == 1
    assert len(profiler.recording.runs) == 1
    assert not current().held


def test_clear_while_running_and_before_anything(profiler: RecordedProfiler) -> None:
    profiler.clear()
    assert profiler.results == []

    def clear(value: int) -> int:
        profiler.clear()
        return value

    with profiler:
        assert dask.get({"a": (abs, -1), "b": (clear, "a")}, "b") == 1
    assert profiler.recording.runs[0].status == "finished"


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
    assert not current().held


def test_the_user_s_own_exception_comes_through(profiler: RecordedProfiler) -> None:
    error = LookupError("mine")

    def fail() -> None:
        raise error

    with pytest.raises(LookupError) as raised, profiler:
        dask.threaded.get({"a": (fail,)}, "a")
    assert raised.value is error
    assert [run.status for run in profiler.recording.runs] == ["erred"]
