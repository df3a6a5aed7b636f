"""What recording costs the scheduler: CPU time of its process, beside what distributed offers."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from distributed import Client, get_task_stream, performance_report

import taskscope
from benchmarks.cluster.processes import cpu_s, processes
from benchmarks.harness import Table, differences, interleaved, spread

_NAP_S = 0.5
_WATCHING = "taskscope, on before"
"""As in a notebook with the extension: without the workers' plugins, which a block installs and removes."""


def increment(number: int) -> int:
    return number + 1


def nap(_: int) -> None:
    time.sleep(_NAP_S)


def measure_cost(n_tasks: int, repetitions: int) -> Table:
    def compute(client: Client) -> float:
        client.gather(client.map(increment, range(n_tasks), pure=False))
        return n_tasks / 1e6

    return Table(
        f"Scheduler: CPU time per task of {n_tasks:,} trivial tasks, 2 workers of 1 thread, in microseconds",
        ("variant", "all of it", "above bare"),
        _rows(2, compute, "{:.0f}", repetitions),
    )


def measure_share(n_workers: int, compute_s: float, repetitions: int) -> Table:
    n_tasks = int(n_workers * compute_s / _NAP_S)

    def compute(client: Client) -> float:
        begin_s = time.perf_counter()
        client.gather(client.map(nap, range(n_tasks), pure=False))
        return (time.perf_counter() - begin_s) / 100

    return Table(
        f"Scheduler: share of its time, {n_workers} workers of 1 thread, {n_tasks:,} tasks of {_NAP_S:g} s, "
        "in percent",
        ("variant", "all of it", "above bare"),
        _rows(n_workers, compute, "{:.2f}", repetitions),
    )


def _rows(
    n_workers: int, compute: Callable[[Client], float], form: str, repetitions: int
) -> Iterator[tuple[str, str, str]]:
    """Yield, for each variant, the scheduler's CPU seconds in units of what `compute` returned."""
    with (
        processes(n_workers) as (scheduler, address),
        Client(address) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        client.wait_for_workers(n_workers)
        compute(client)
        report = str(Path(folder) / "report.html")
        around: dict[str, Callable[[], Any]] = {
            "bare": nullcontext,
            _WATCHING: lambda: taskscope.profile(display=False),
            "taskscope": lambda: taskscope.profile(display=False),
            "get_task_stream": get_task_stream,
            "performance_report": lambda: performance_report(filename=report),
            "dashboard page open": lambda: _page(client.dashboard_link),
        }

        def variant(name: str, make: Callable[[], Any]) -> Callable[[], float]:
            before, during = (make, nullcontext) if name == _WATCHING else (nullcontext, make)

            def once() -> float:
                with before():
                    client.submit(increment, 0, pure=False).result()
                    began_s = cpu_s(scheduler)
                    with during():
                        unit = compute(client)
                    return (cpu_s(scheduler) - began_s) / unit

            return once

        measured = interleaved(
            {name: variant(name, make) for name, make in around.items()}, repetitions=repetitions
        )
    for name, values in measured.items():
        above = spread(differences(values, measured["bare"], scale=1.0), form)
        yield name, spread(values, form), "" if name == "bare" else above


@contextmanager
def _page(link: str) -> Iterator[None]:
    """Hold a session of the dashboard's status page open, as a browser that shows it does."""
    from bokeh.client import pull_session

    session = pull_session(url=link)
    try:
        yield
    finally:
        session.close()
