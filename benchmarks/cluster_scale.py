"""A thousand workers without a cluster: made-up answers of a scheduler, fed through the source."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Hashable, Iterator
from typing import Any

import psutil

from benchmarks.harness import Table
from taskscope.recorder import Recorder
from taskscope.sources.cluster.link import Link
from taskscope.sources.cluster.ownership import Ownership
from taskscope.sources.cluster.runs import TrackedRun, announce
from taskscope.sources.cluster.stream import TaskStream
from taskscope.sources.cluster.transfers import TransferLogs
from taskscope.sources.cluster.workers import Workers

_N_WORKERS = 1_000
_N_THREADS = 4
_PER_ANSWER = 2_000
_PER_GRAPH = 100_000
_N_PARTS = 10


class _MadeUp(Link):
    """Answers as a scheduler would that has `_PER_ANSWER` more records each time."""

    def __init__(self, n_tasks: int) -> None:
        super().__init__("tcp://10.0.0.1:8786", {})
        self._n_tasks = n_tasks
        self._n_told = 0
        self._random = random.Random(0)
        self._now = time.time()

    async def ask(self, op: str, **arguments: Any) -> Any:
        if op == "get_task_stream_index":
            return min(self._n_told + _PER_ANSWER, self._n_tasks)
        first, self._n_told = self._n_told, min(self._n_told + _PER_ANSWER, self._n_tasks)
        return [self._record(number) for number in range(first, self._n_told)]

    def _record(self, number: int) -> dict[str, Any]:
        worker = self._random.randrange(_N_WORKERS)
        stop = self._now + number * 1e-4
        steps = [{"action": "compute", "start": stop - 0.01, "stop": stop}]
        if number % 4 == 0:
            source = f"tcp://10.0.{(worker + 1) % 250}.1:{worker}"
            steps.insert(
                0, {"action": "transfer", "start": stop - 0.02, "stop": stop - 0.01, "source": source}
            )
        return {
            "key": _key(number),
            "worker": address(worker),
            "thread": self._random.randrange(_N_THREADS) + 1,
            "status": "OK",
            "nbytes": 1_000,
            "startstops": tuple(steps),
            "stimulus_id": f"task-finished-{stop + 0.0002!r}",
        }


def _key(number: int) -> tuple[str, int]:
    return f"step{number // 10_000 % 20}-{number // _PER_GRAPH:016x}", number


def address(worker: int) -> str:
    return f"tcp://10.0.{worker % 250}.1:{40_000 + worker}"


def measure_scale(n_tasks: int) -> Table:
    return Table(
        f"{n_tasks:,} tasks of {_N_WORKERS:,} workers of {_N_THREADS} threads, a quarter with a transfer",
        ("tasks so far", "CPU µs per task", "memory above the start", "rows held"),
        _rows(n_tasks),
        "Made-up answers of 2,000 records each, of graphs of 100,000 tasks; making one is not counted. Up to "
        "a million rows are held; of older tasks their graphs are kept.",
    )


def _pull(recorder: Recorder) -> None:
    while recorder.pull(1.0):
        pass


def _rows(n_tasks: int) -> Iterator[tuple[str, ...]]:
    recorder = Recorder()
    link, ownership = _MadeUp(n_tasks), Ownership()
    workers = Workers(link.address)
    workers.update({"workers": {address(i): {"name": i, "nthreads": _N_THREADS} for i in range(_N_WORKERS)}})
    stream = TaskStream(link, workers, ownership, TransferLogs(link, workers, recorder), recorder)
    start_bytes, told = psutil.Process().memory_info().rss, 0
    for part in range(1, _N_PARTS + 1):
        took_s = 0.0
        until = part * n_tasks // _N_PARTS
        while told < until:
            graph: dict[Hashable, tuple[Hashable, ...]] = {
                _key(n): () for n in range(told, min(told + _PER_GRAPH, n_tasks))
            }
            begin_s = time.process_time()
            run = TrackedRun(recorder.begin(), None, None, False, lambda: None)
            announce(run, graph, ())
            ownership.take(run, graph)
            took_s += time.process_time() - begin_s
            told += len(graph)
            while link._n_told < told:
                asyncio.run(stream.ask())
                begin_s = time.process_time()
                stream.fold(wait_for_graphs=False)
                _pull(recorder)
                took_s += time.process_time() - begin_s
            begin_s = time.process_time()
            run.over, run.status = recorder.clock.perf_counter(), "finished"
            ownership.forget(run)
            run.end(run.over)
            _pull(recorder)
            took_s += time.process_time() - begin_s
        held_bytes = psutil.Process().memory_info().rss - start_bytes
        yield (
            f"{told:,}",
            f"{took_s / (n_tasks / _N_PARTS) * 1e6:.1f}",
            f"{held_bytes / 1e6:.0f} MB",
            f"{recorder.cursor - recorder.dropped:,}",
        )
