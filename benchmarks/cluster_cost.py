"""What recording costs the scheduler: CPU time of its process per task, beside what distributed offers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import psutil
from distributed import Client, get_task_stream, performance_report

import taskscope
from benchmarks.harness import Table, differences, interleaved, spread
from taskscope.sources.cluster.link import Link

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
    workers = [Worker(sys.argv[1], nthreads=1) for _ in range(int(sys.argv[2]))]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))
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
            "taskscope, by push": lambda: taskscope.profile(display=False, transport="push"),
            "get_task_stream": get_task_stream,
            "performance_report": lambda: performance_report(filename=report),
            "dashboard page open": lambda: _page(client.dashboard_link),
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
def _page(link: str) -> Iterator[None]:
    """Hold a session of the dashboard's status page open, as a browser that shows it does."""
    from bokeh.client import pull_session

    session = pull_session(url=link)
    try:
        yield
    finally:
        session.close()


_ASKS: dict[str, tuple[dict[str, Any], float]] = {
    "identity": ({"n_workers": -1}, 1.0),
    "processing": ({}, 2.0),
    "get_task_stream_index": ({}, 5.0),
    "get_task_stream": ({"start_index": 0}, 5.0),
}
"""What polling asks, with what, and how often a second at most; the stream holds as many as are new then."""


def measure_asks(n_workers: int) -> Table:
    return Table(
        f"Scheduler: CPU time of what polling asks, {n_workers} workers of 1 thread, 200 new tasks a look",
        ("message", "ms each", "most a second", "share of the scheduler's time"),
        _asks(n_workers),
        "The rate adapts: a look's answers take at most a twentieth of all time, from asking to having them.",
    )


def _asks(n_workers: int) -> Iterator[tuple[str, str, str, str]]:
    with _processes(n_workers // 2) as (scheduler, address), Client(address) as client:
        client.wait_for_workers(n_workers // 2 * 2)
        shares = []
        for name, each_s in asyncio.run(_ask_all(client, scheduler, address)).items():
            per_second = _ASKS[name][1]
            shares.append(each_s * per_second)
            yield name, f"{each_s * 1e3:.2f}", f"{per_second:g}", f"{shares[-1]:.2%}"
        yield "all", "", "", f"{sum(shares):.2%}"


async def _ask_all(client: Client, scheduler: psutil.Process, address: str) -> dict[str, float]:
    link, repetitions = Link(address, {}), 200
    await link.ask("get_task_stream_index")
    await asyncio.to_thread(lambda: client.gather(client.map(increment, range(200), pure=False)))
    found = {}
    for name, (arguments, _) in _ASKS.items():
        # What the scheduler does without us, heartbeats above all, is taken off.
        before, begin_s = sum(scheduler.cpu_times()[:2]), time.perf_counter()
        await asyncio.sleep(3.0)
        idle = (sum(scheduler.cpu_times()[:2]) - before) / (time.perf_counter() - begin_s)
        before, begin_s = sum(scheduler.cpu_times()[:2]), time.perf_counter()
        for _ in range(repetitions):
            await link.ask(name, **arguments)
        took_s = time.perf_counter() - begin_s
        spent_s = sum(scheduler.cpu_times()[:2]) - before - idle * took_s
        found[name] = max(spent_s, 0.0) / repetitions
    await link.close()
    return found


@contextmanager
def _processes(n_each: int = 1) -> Iterator[tuple[psutil.Process, str]]:
    with subprocess.Popen([sys.executable, "-c", _SCHEDULER], stdout=subprocess.PIPE, text=True) as scheduler:
        assert scheduler.stdout is not None
        pid, address = scheduler.stdout.readline().split()
        workers = [subprocess.Popen([sys.executable, "-c", _WORKER, address, str(n_each)]) for _ in range(2)]
        try:
            yield psutil.Process(int(pid)), address
        finally:
            ending: list[subprocess.Popen[Any]] = [*workers, scheduler]
            for process in ending:
                process.kill()
                process.wait()
