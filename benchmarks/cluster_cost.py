"""What recording costs the scheduler: CPU time of its process per task, beside what distributed offers."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import psutil
from distributed import Client, get_task_stream, performance_report

import taskscope
from benchmarks.harness import Table, differences, interleaved, spread

_SCHEDULER = """
import asyncio, os, sys
from distributed import Scheduler
async def main():
    async with Scheduler(port=0, dashboard_address=":0") as scheduler:
        print(os.getpid(), scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(main())
"""
_WORKER = """
import asyncio, sys
from distributed import Worker
async def main():
    async with Worker(sys.argv[1], nthreads=1) as worker:
        await worker.finished()
asyncio.run(main())
"""


def increment(number: int) -> int:
    return number + 1


def measure_cost(n_tasks: int, repetitions: int) -> Table:
    return Table(
        f"Scheduler: CPU time per task of {n_tasks:,} trivial tasks, 2 workers of 1 thread, in microseconds",
        ("variant", "all of it", "above bare"),
        _rows(n_tasks, repetitions),
    )


def _rows(n_tasks: int, repetitions: int) -> Iterator[tuple[str, str, str]]:
    with (
        _processes() as (scheduler, address),
        Client(address) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        client.wait_for_workers(2)
        report = str(Path(folder) / "report.html")
        around: dict[str, Callable[[], Any]] = {
            "bare": nullcontext,
            "taskscope, by polling": lambda: taskscope.profile(display=False),
            "get_task_stream": get_task_stream,
            "performance_report": lambda: performance_report(filename=report),
        }

        def variant(make: Callable[[], Any]) -> Callable[[], float]:
            def once() -> float:
                before = sum(scheduler.cpu_times()[:2])
                with make():
                    client.gather(client.map(increment, range(n_tasks), pure=False))
                return (sum(scheduler.cpu_times()[:2]) - before) / n_tasks * 1e6

            return once

        measured = interleaved(
            {name: variant(make) for name, make in around.items()}, repetitions=repetitions
        )
    for name, values in measured.items():
        above = spread(differences(values, measured["bare"], scale=1.0), "{:.0f}")
        yield name, spread(values, "{:.0f}"), "" if name == "bare" else above


@contextmanager
def _processes() -> Iterator[tuple[psutil.Process, str]]:
    with subprocess.Popen([sys.executable, "-c", _SCHEDULER], stdout=subprocess.PIPE, text=True) as scheduler:
        assert scheduler.stdout is not None
        pid, address = scheduler.stdout.readline().split()
        workers = [subprocess.Popen([sys.executable, "-c", _WORKER, address]) for _ in range(2)]
        try:
            yield psutil.Process(int(pid)), address
        finally:
            ending: list[subprocess.Popen[Any]] = [*workers, scheduler]
            for process in ending:
                process.kill()
                process.wait()
