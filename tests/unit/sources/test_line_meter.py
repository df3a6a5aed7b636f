"""Lines of functions, counted and timed: what runs how often, and what is in no line's time."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from taskscope.sources.line_meter import HAS_LOCAL_EVENTS, LineMeter, Sought

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


def test_a_line_has_the_time_of_measured_functions_that_it_calls_without_our_work_in_them(
    meter: LineMeter, names: dict[str, Any]
) -> None:
    for name in ("catches", "fails"):
        meter.add(names[name].__code__)
    assert counted(meter, names["catches"]) == {
        20: (1, 1),
        21: (1, 0),
        24: (1, 0),
        25: (1, 1),
        26: (1, 0),
        27: (1, 3),
        28: (1, 0),
    }


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


def test_a_generator_that_is_closed_runs_what_it_does_then(meter: LineMeter, names: dict[str, Any]) -> None:
    meter.add(names["cleans_up"].__code__)

    def task() -> None:
        generator = names["cleans_up"]()
        next(generator)
        generator.close()

    assert counted(meter, task) == {42: (1, 0), 43: (1, 0), 45: (1, 1)}


def test_a_coroutine_is_not_running_while_it_waits(meter: LineMeter, names: dict[str, Any]) -> None:
    meter.add(names["fetches"].__code__)

    def task() -> None:
        coroutine = names["fetches"]()
        coroutine.send(None)
        names["wait"](1000)
        with pytest.raises(StopIteration):
            coroutine.send(None)

    assert counted(meter, task) == {31: (1, 100), 32: (1, 1), 33: (1, 0)}


@pytest.mark.parametrize("sought", [((("work.py", "outer.<locals>.inner", 36),), ()), ((), ("inner",))])
def test_a_function_in_a_function_is_found_by_its_place_or_its_name(
    meter: LineMeter, names: dict[str, Any], sought: Sought
) -> None:
    meter.seek(sought)
    assert counted(meter, names["outer"]) == {37: (1, 1), 38: (1, 0)}


def test_code_that_was_sent_is_the_function_that_was_named(meter: LineMeter, names: dict[str, Any]) -> None:
    names["work"].__code__ = names["work"].__code__.replace(co_filename="<dynamic-code>")
    meter.seek(((("work.py", "work", 1),), ()))
    before = meter.begin()
    names["work"](0)
    assert {row[:3] for row in meter.end(before)} == {("work.py", "work", 1)}


def test_a_function_of_the_same_name_elsewhere_is_another_one(
    meter: LineMeter, names: dict[str, Any]
) -> None:
    meter.seek(((("other.py", "work", 1), ("work.py", "work", 2)), ()))
    assert counted(meter, lambda: names["work"](3)) == {}


def test_a_function_that_an_earlier_meter_did_not_seek_is_found(names: dict[str, Any]) -> None:
    found = []
    for name in ("work", "fails", "work"):
        meter = LineMeter()
        assert meter.open() is None
        meter.seek(((), (name,)))
        before = meter.begin()
        names["work"](1)
        with pytest.raises(ValueError, match="on purpose"):
            names["fails"]()
        found.append({function for _, function, *_ in meter.end(before)})
        meter.close()
    assert found == [{"work"}, {"fails"}, {"work"}]


def test_nothing_is_counted_outside_of_tasks_nor_for_other_threads(
    meter: LineMeter, names: dict[str, Any]
) -> None:
    meter.add(names["work"].__code__)
    names["work"](3)

    def task() -> None:
        thread = threading.Thread(target=names["work"], args=(3,))
        thread.start()
        thread.join()

    assert counted(meter, task) == {}


def test_a_task_in_a_task_has_lines_of_its_own(meter: LineMeter, names: dict[str, Any]) -> None:
    meter.add(names["work"].__code__)
    inner = []

    def task() -> None:
        names["work"](1)
        inner.append(counted(meter, lambda: names["work"](2)))
        names["work"](1)

    outer = counted(meter, task)
    assert (outer[3][0], inner[0][3][0]) == (4, 3)


def test_the_cpu_time_of_the_thread_is_measured_like_the_other(
    meter: LineMeter, names: dict[str, Any]
) -> None:
    meter.add(names["work"].__code__)
    before = meter.begin()
    names["work"](0)
    assert {row[3]: row[6] for row in meter.end(before)} == {2: 0, 3: 0, 5: 0.5, 6: 0}


def test_threads_measure_beside_each_other(meter: LineMeter) -> None:
    def work() -> None:
        for _ in range(1_000):
            pass

    meter.add(work.__code__)
    found: list[dict[int, tuple[int, float]]] = []
    threads = [threading.Thread(target=lambda: found.append(counted(meter, work))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = work.__code__.co_firstlineno
    assert [{line - first: hits for line, (hits, _) in each.items()} for each in found] == [
        {1: 1_001, 2: 1_000}
    ] * 4


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
