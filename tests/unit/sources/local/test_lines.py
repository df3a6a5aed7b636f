"""Lines of named functions, in tasks of every local scheduler."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask
import pytest

import taskscope
from taskscope.errors import UnknownNameError
from taskscope.model.tables.stacks import MeasuredLine
from taskscope.options import Named
from taskscope.recording import Recording
from taskscope.session import current
from taskscope.sources.line_meter import HAS_LOCAL_EVENTS

pytestmark = pytest.mark.skipif(not HAS_LOCAL_EVENTS, reason="sys.monitoring came with Python 3.12")


def step(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


def fails(n: int) -> int:
    if n == 2:
        raise ValueError("on purpose")
    return n


FIRST = step.__code__.co_firstlineno
STEP_OF_3 = {1: 1, 2: 4, 3: 3, 4: 1}


def computed(lines: Sequence[Named], *numbers: int, function: Any = step, **options: Any) -> Recording:
    task = dask.delayed(function, pure=False)
    with taskscope.profile(lines=lines, display=False) as run:
        dask.compute(*(task(n) for n in numbers), **options)
    return run.recording


def hits(lines: Sequence[MeasuredLine], first: int = FIRST) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in lines:
        found[each.line - first] = found.get(each.line - first, 0) + each.hits
    return found


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
@pytest.mark.parametrize("named", [step, "step", dask.delayed(step)])
def test_each_line_of_a_named_function_is_counted_in_each_task(scheduler: str, named: Named) -> None:
    recording = computed([named], 3, 3, scheduler=scheduler)
    assert hits(recording.measured_lines) == {line: 2 * n for line, n in STEP_OF_3.items()}
    tasks = recording.to_pandas("tasks")
    for key in tasks.key:
        mine = [each for each in recording.measured_lines if each.key == key]
        assert hits(mine) == STEP_OF_3
        (taken_s,) = (tasks.stop_s - tasks.start_s)[tasks.key == key]
        assert sum(each.seconds for each in mine) <= taken_s
    assert {(each.function, each.prefix) for each in recording.measured_lines} == {("step", "step")}
    assert recording.messages == ()


def test_lines_of_an_executor_of_the_user_are_counted() -> None:
    with ThreadPoolExecutor(2) as pool:
        recording = computed([step], 3, scheduler=pool)
    assert hits(recording.measured_lines) == STEP_OF_3


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_lines_up_to_an_exception_are_counted_and_it_comes_through(scheduler: str) -> None:
    with (
        pytest.raises(ValueError, match="on purpose"),
        taskscope.profile(lines=[fails], display=False) as run,
    ):
        dask.delayed(fails)(2).compute(scheduler=scheduler)
    assert hits(run.recording.measured_lines, fails.__code__.co_firstlineno) == {1: 1, 2: 1}


def test_nothing_is_measured_once_the_block_has_ended() -> None:
    computed([step], 3, scheduler="threads")
    assert current().source.lines.meter is None
    if sys.version_info >= (3, 12):
        assert [sys.monitoring.get_tool(tool) for tool in (3, 4)] == [None, None]
    recording = computed([], 3, scheduler="threads")
    assert recording.measured_lines == ()


def test_blocks_in_blocks_measure_what_any_of_them_names() -> None:
    with taskscope.profile(lines=[step], display=False) as outer:
        with taskscope.profile(lines=[fails], display=False) as inner:
            dask.compute(dask.delayed(step)(3), dask.delayed(fails)(1), scheduler="threads")
        dask.delayed(fails)(1).compute(scheduler="threads")
        dask.delayed(step)(3).compute(scheduler="threads")
    assert {each.function for each in inner.recording.measured_lines} == {"step", "fails"}
    by_run = {
        (each.run - outer.recording.runs[0].run, each.function) for each in outer.recording.measured_lines
    }
    assert by_run == {(0, "step"), (0, "fails"), (2, "step")}


def test_a_name_that_nothing_has_is_answered_with_the_nearest() -> None:
    recording = computed([step, "stepp"], 3, scheduler="threads")
    with pytest.raises(UnknownNameError, match=r"unknown function 'stepp'; did you mean 'step'\?"):
        recording.lines(function="stepp")


def test_a_function_without_source_has_its_numbers() -> None:
    space: dict[str, Any] = {}
    exec(compile("def made(n):\n    return n\n", "<no file>", "exec"), space)
    recording = computed([space["made"]], 3, function=space["made"], scheduler="threads")
    (line,) = recording.lines(function="made").functions[0].lines
    assert (line.number, line.hits, line.source) == (2, 1, None)
    assert "Its source is not here, or has changed." in str(recording.lines())


def test_what_a_task_gave_is_not_kept_alive() -> None:
    class Value:
        pass

    alive = []

    def make(_n: int) -> int:
        value = Value()
        alive.append(id(value))
        return 1

    computed([make], 1, function=make, scheduler="threads")
    gc.collect()
    assert [each for each in gc.get_objects() if isinstance(each, Value)] == []
    assert len(alive) == 1


def test_an_interrupt_in_a_named_function_leaves_nothing() -> None:
    def interrupted(_n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), taskscope.profile(lines=[interrupted], display=False) as run:
        dask.delayed(interrupted)(1).compute(scheduler="synchronous")
    first = interrupted.__code__.co_firstlineno
    assert hits(run.recording.measured_lines, first) == {1: 1}
    assert current().source.lines.meter is None
