"""What polling asks of a scheduler with many workers, how often, and what share of its time that takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil
from distributed import Client

import taskscope
from benchmarks.cluster.processes import cpu_s, processes
from benchmarks.harness import Table
from taskscope.sources.cluster.connection import Link

_TASK_S = 0.5
_EACH_S = 1.5
_IDLE_S = 3.0


@dataclass(slots=True)
class _Asked:
    """How often a message was sent, and one example of what with."""

    times: int = 0
    arguments: dict[str, Any] = field(default_factory=dict)


def nap(_: int) -> None:
    time.sleep(_TASK_S)


def measure_asks(n_workers: int, compute_s: float = 15.0) -> Table:
    return Table(
        f"What polling asks, {n_workers} workers of 1 thread, tasks of {_TASK_S:g} s for {compute_s:g} s",
        ("message", "asked a second", "CPU ms of the scheduler each", "share of the scheduler's time"),
        _rows(n_workers, compute_s),
        "Counted while a block was profiled, its beginning and end included; then each message was sent for "
        f"{_EACH_S:g} s, one after the other, and what the scheduler does anyway taken off.",
    )


def _rows(n_workers: int, compute_s: float) -> Iterator[tuple[str, str, str, str]]:
    with processes(n_workers) as (scheduler, address), Client(address) as client:
        client.wait_for_workers(n_workers)
        client.gather(client.map(nap, range(n_workers), pure=False))
        n_tasks = int(n_workers * compute_s / _TASK_S)
        with _counted() as asked:
            begin_s = time.perf_counter()
            with taskscope.profile(display=False):
                client.gather(client.map(nap, range(n_tasks), pure=False))
            took_s = time.perf_counter() - begin_s
        each_s = asyncio.run(_ask_all(asked, scheduler, address))
        shares = {op: each_s[op] * one.times / took_s for op, one in asked.items()}
        for op, one in sorted(asked.items(), key=lambda item: -shares[item[0]]):
            yield op, f"{one.times / took_s:.2f}", f"{each_s[op] * 1e3:.2f}", f"{shares[op]:.2%}"
        yield "all", "", "", f"{sum(shares.values()):.2%}"


@contextmanager
def _counted() -> Iterator[dict[str, _Asked]]:
    """Count what is asked of schedulers meanwhile."""
    asked: dict[str, _Asked] = {}
    ask = Link.ask

    async def counting(self: Link, op: str, **arguments: Any) -> Any:
        one = asked.setdefault(op, _Asked())
        one.times += 1
        one.arguments = arguments
        return await ask(self, op, **arguments)

    Link.ask = counting  # type: ignore[method-assign]  # to be counted
    try:
        yield asked
    finally:
        Link.ask = ask  # type: ignore[method-assign]  # see above


async def _ask_all(asked: dict[str, _Asked], scheduler: psutil.Process, address: str) -> dict[str, float]:
    """Return the CPU seconds of the scheduler for one of each."""
    link, found = Link(address, {}), {}
    before, begin_s = cpu_s(scheduler), time.perf_counter()
    await asyncio.sleep(_IDLE_S)
    idle = (cpu_s(scheduler) - before) / (time.perf_counter() - begin_s)
    for op, one in asked.items():
        before, begin_s, times, took_s = cpu_s(scheduler), time.perf_counter(), 0, 0.0
        while took_s < _EACH_S:
            await link.ask(op, **one.arguments)
            times, took_s = times + 1, time.perf_counter() - begin_s
        found[op] = max(cpu_s(scheduler) - before - idle * took_s, 0.0) / times
    await link.close()
    return found
