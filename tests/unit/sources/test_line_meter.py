"""Lines of functions, counted and timed: what runs how often, and what is in no line's time."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from taskscope.sources.line_meter import HAS_LOCAL_EVENTS, LineMeter

pytestmark = pytest.mark.skipif(not HAS_LOCAL_EVENTS, reason="sys.monitoring came with Python 3.12")

SOURCE = """\
def work(n):
    total = 0
    for i in range(n):
        total += i
    wait()
    return total

def fib(n):
    if n < 2:
        wait()
        return n
    return fib(n - 1) + fib(n - 2)

def numbers():
    yield 1
    wait()
    yield 2

def fails():
    wait()
    raise ValueError("on purpose")

def catches():
    try:
        fails()
    except ValueError:
        wait(3)
    return 1

async def fetches():
    await pause()
    wait()
    return 2

def outer():
    def inner():
        wait()
        return 3
    return inner()

def cleans_up():
    try:
        yield 1
    finally:
        wait()
"""


class Clock:
    """Seconds that pass while functions wait, and a thousand each time that the meter works."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._is_working = False

    def wait(self, seconds: float = 1.0) -> None:
        self.now_s += seconds

    def __call__(self) -> float:
        if self._is_working:
            self.now_s += 1000.0
        self._is_working = not self._is_working
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("taskscope.sources.line_meter.perf_counter", clock)
    monkeypatch.setattr("taskscope.sources.line_meter.thread_time", lambda: clock.now_s / 2)
    return clock


@pytest.fixture
def names(clock: Clock) -> dict[str, Any]:
    async def pause() -> None:
        await asyncio.sleep(0)
        clock.wait(100)

    space: dict[str, Any] = {"wait": clock.wait, "pause": pause}
    exec(compile(SOURCE, "work.py", "exec"), space)
    return space


@pytest.fixture
def meter() -> Iterator[LineMeter]:
    faults: list[BaseException] = []
    meter = LineMeter(faults.append)
    assert meter.open() is None
    yield meter
    meter.close()
    assert faults == []


def counted(meter: LineMeter, task: Callable[[], object]) -> dict[int, tuple[int, float]]:
    """Return hits and seconds by line of what is measured in a task."""
    before = meter.begin()
    try:
        task()
    finally:
        rows = meter.end(before)
    return {line: (hits, seconds) for _, _, _, line, hits, seconds, _, _ in rows}


def test_each_line_is_counted_and_has_the_time_of_what_it_calls(
    meter: LineMeter, names: dict[str, Any]
) -> None:
    meter.add(names["work"].__code__)
    assert counted(meter, lambda: names["work"](3)) == {2: (1, 0), 3: (4, 0), 4: (3, 0), 5: (1, 1), 6: (1, 0)}


def test_an_exception_ends_the_line_that_it_leaves(meter: LineMeter, names: dict[str, Any]) -> None:
    meter.add(names["fails"].__code__)
    assert counted(meter, names["catches"]) == {20: (1, 1), 21: (1, 0)}


def test_a_recursion_counts_the_time_of_a_line_once(meter: LineMeter, names: dict[str, Any]) -> None:
    meter.add(names["fib"].__code__)
    # Five waits in all, each in the outermost line, too.
    assert counted(meter, lambda: names["fib"](4)) == {9: (9, 0), 10: (5, 5), 11: (5, 0), 12: (4, 5)}


def test_a_generator_is_not_running_while_it_waits_to_be_asked(
    meter: LineMeter, names: dict[str, Any], clock: Clock
) -> None:
    meter.add(names["numbers"].__code__)

    def task() -> None:
        for _ in names["numbers"]():
            clock.wait(50)

    assert counted(meter, task) == {15: (1, 0), 16: (1, 1), 17: (1, 0)}


def test_a_coroutine_is_not_running_while_it_waits(meter: LineMeter, names: dict[str, Any]) -> None:
    meter.add(names["fetches"].__code__)

    def task() -> None:
        coroutine = names["fetches"]()
        coroutine.send(None)
        names["wait"](1000)
        with pytest.raises(StopIteration):
            coroutine.send(None)

    assert counted(meter, task) == {31: (1, 100), 32: (1, 1), 33: (1, 0)}


def test_a_tool_id_that_is_free_is_used_and_given_back() -> None:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on
    taken = [tool for tool in (2, 3, 4, 5) if monitoring.get_tool(tool) is None]
    try:
        for tool in taken:
            monitoring.use_tool_id(tool, f"other {tool}")
        meter = LineMeter()
        refusal = meter.open()
        assert refusal is not None
        assert refusal.startswith("profilers have taken all tool ids of `sys.monitoring` (other 3, other 4")
        monitoring.free_tool_id(4)
        assert meter.open() is None
        assert monitoring.get_tool(4) == "taskscope"
        meter.close()
        assert monitoring.get_tool(4) is None
        assert [monitoring.get_events(4) if monitoring.get_tool(4) else 0] == [0]
    finally:
        for tool in taken:
            monitoring.free_tool_id(tool)


def test_lines_agree_with_line_profiler_in_the_same_run(meter: LineMeter) -> None:
    line_profiler = pytest.importorskip("line_profiler", reason="it is the reference, not a dependency")

    def work() -> None:
        for _ in range(10):
            time.sleep(0.002)
        time.sleep(0.03)

    profiler = line_profiler.LineProfiler(work)
    # It may have given the function another code.
    meter.add(work.__code__)
    ours = counted(meter, lambda: profiler.runcall(work))
    ((_, theirs),) = profiler.get_stats().timings.items()
    assert {line: hits for line, (hits, _) in ours.items()} == {line: hits for line, hits, _ in theirs}
    unit = profiler.get_stats().unit
    seconds = {line: time * unit for line, _, time in theirs}
    assert {line: s for line, (_, s) in ours.items()} == pytest.approx(seconds, rel=0.05, abs=0.002)
