"""What does it cost to count lines of named functions, and is it true?

Cost: the CPU time of code that is not named, with and without a named function beside it, interleaved, in
one thread; line_profiler beside ours where it is installed. Truth: tasks whose function is named, on threads
and processes: the seconds of its lines beside the measured time of its tasks.
"""

from __future__ import annotations

import importlib.util
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import dask

import taskscope
from benchmarks.harness import Table, main, spread
from taskscope.sources.line_meter import LineMeter

N_STEPS = 200_000


def named(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


def work(seconds: float) -> int:
    time.sleep(seconds / 2)
    until = time.perf_counter() + seconds / 2
    total = 0
    while time.perf_counter() < until:
        total += sum(range(200_000))
    return total


def loop(n: int) -> int:
    total = 0
    for i in range(n):
        total += i * 2
    return total


def one_more(n: int) -> int:
    return n + 1


def calls(n: int) -> int:
    total = 0
    for _ in range(n // 4):
        total = one_more(total)
    return total


def raises(n: int) -> int:
    total = 0
    for _ in range(n // 10):
        try:
            int("no number")
        except ValueError:
            total += 1
    return total


def throws(n: int) -> int:
    def fail() -> None:
        raise ValueError

    total = 0
    for _ in range(n // 10):
        try:
            fail()
        except ValueError:
            total += 1
    return total


@contextmanager
def ours() -> Iterator[None]:
    meter = LineMeter()
    refusal = meter.open()
    assert refusal is None, refusal
    meter.add(named.__code__)
    before = meter.begin()
    try:
        yield
    finally:
        meter.end(before)
        meter.close()


@contextmanager
def theirs() -> Iterator[None]:
    import line_profiler

    # Its stubs do not know what it takes over from its C code.
    profiler: Any = line_profiler.LineProfiler()
    profiler.add_function(named)
    profiler.enable()
    try:
        yield
    finally:
        profiler.disable()


def cpu_s(function: Callable[[int], int], n: int, context: AbstractContextManager[None]) -> float:
    with context:
        # What the first call of a function pays once is no part of the ratio.
        function(100)
        began = time.thread_time()
        function(n)
        return time.thread_time() - began


def costs(*, quick: bool) -> Table:
    rounds = 5 if quick else 25
    profilers = {"taskscope": ours}
    if importlib.util.find_spec("line_profiler"):
        profilers["line_profiler"] = theirs
    rows = []
    for name, profiler in profilers.items():
        for function in (loop, calls, raises, throws, named):
            ratios, per_line = [], []
            for _ in range(rounds):
                plain = cpu_s(function, N_STEPS, nullcontext())
                profiled = cpu_s(function, N_STEPS, profiler())
                ratios.append(profiled / plain)
                per_line.append(1e6 * (profiled - plain) / (2 * N_STEPS))
            each = spread(per_line) if function is named else "–"
            rows.append([name, function.__name__, spread(ratios, "{:.3f}"), f"{min(ratios):.3f}", each])
    note = f"Python {platform.python_version()}; `named` is measured, the others are not."
    columns = ["profiler", "code", "CPU time, times that without", "least", "µs a line"]
    return Table("Code beside a function whose lines are counted", columns, rows, note)


def truths(*, quick: bool) -> Table:
    n_tasks, rows = 8 if quick else 40, []
    for scheduler in ("threads", "processes", "synchronous"):
        with taskscope.profile(lines=[work], display=False) as run:
            dask.compute([dask.delayed(work)(0.05, pure=False) for _ in range(n_tasks)], scheduler=scheduler)
        lines = run.recording.lines(function=work)
        (found,) = lines.functions
        first = found.lines[0].number
        called = sum(line.hits or 0 for line in found.lines if line.number == first)
        parts = found.seconds / lines.task_seconds
        rows.append([scheduler, str(n_tasks), f"{called:,}", f"{parts:.4f}"])
    note = (
        "Tasks sleep for 25 ms and compute for 25 ms; what is missing to 1 is our own work, and Dask's call."
    )
    columns = ["scheduler", "tasks", "hits of the first line", "lines' seconds / tasks' time"]
    return Table("Lines' seconds beside tasks' measured time", columns, rows, note)


def measure(*, quick: bool) -> list[Table]:
    return [costs(quick=quick), truths(quick=quick)]


if __name__ == "__main__":
    main(__doc__, measure)
