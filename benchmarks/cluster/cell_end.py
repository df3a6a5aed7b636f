"""What does the end of a profiled cell on a cluster cost who ran it?

Pairs of the same computation, plain and profiled, one after the other. Watched is the same session in both
(`%load_ext taskscope`), so what is measured is the cell: its beginning, its end, and what it shows.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

import dask
from distributed import Client, LocalCluster
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

import taskscope
from benchmarks.harness import Table, differences, interleaved, main, spread
from taskscope.session import current

__all__ = ["measure"]

ALLOWED_MS = 50
COLUMNS = ("workload", "pairs", "plain, ms", "profiled, ms more", "rows are complete after, ms more")
WORKLOADS = {"one task": (1, 0.0), "20 tasks of 20 ms": (20, 0.02), "200 trivial tasks": (200, 0.0)}
CLUSTER = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
SETUP = f"""
import dask, time
from distributed import Client
from benchmarks.cluster.cell_end import compute
client = Client(**{CLUSTER!r})
%load_ext taskscope
"""


def measure(*, quick: bool) -> list[Table]:
    pairs = 5 if quick else 15
    return [
        Table("A block that shows nothing, in a script", COLUMNS, _blocks(pairs), _allowed()),
        Table(
            "A cell with %%profile, in a kernel without a page",
            COLUMNS[:-1],
            _cells(pairs),
            f"{_allowed()} As nbconvert and papermill run notebooks: the cell waits until its picture is "
            "complete. Measured by who sent the cell, until the kernel was idle.",
        ),
    ]


def _allowed() -> str:
    return f"Two worker processes with one thread each. At most {ALLOWED_MS} ms are allowed."


def spend(seconds: float) -> None:
    time.sleep(seconds)


def compute(n_tasks: int, seconds: float) -> None:
    dask.compute(*[dask.delayed(spend, pure=False)(seconds) for _ in range(n_tasks)])


def _timed(run: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    run()
    return time.perf_counter() - start_s


def _blocks(pairs: int) -> Iterator[tuple[str, ...]]:
    holder = object()
    with LocalCluster(**CLUSTER) as cluster, Client(cluster):
        current().hold(holder)
        for name, workload in WORKLOADS.items():
            block = _Block(*workload)
            block.plain()
            measured = interleaved({"plain": block.plain, "profiled": block.profiled}, repetitions=pairs)
            yield (*_row(name, measured), spread([s * 1e3 for s in block.complete_s], "{:.0f}"))
        current().release(holder)


class _Block:
    def __init__(self, n_tasks: int, seconds: float) -> None:
        self._workload = (n_tasks, seconds)
        self.complete_s: list[float] = []

    def plain(self) -> float:
        return _timed(lambda: compute(*self._workload))

    def profiled(self) -> float:
        run = taskscope.profile(display=False)
        took_s = _timed(lambda: self._compute_in(run))
        # Not part of the cell, nor of the plain one after it.
        self.complete_s.append(_timed(lambda: run.recording.runs))
        return took_s

    def _compute_in(self, run: taskscope.profile) -> None:
        with run:
            compute(*self._workload)


def _cells(pairs: int) -> Iterator[tuple[str, ...]]:
    with _Kernel() as kernel:
        kernel.run(SETUP)
        for name, (n_tasks, seconds) in WORKLOADS.items():
            cell = f"compute({n_tasks}, {seconds})"
            kernel.run(cell)
            kernel.run(f"%%profile\n{cell}")
            cells = {"plain": cell, "profiled": f"%%profile\n{cell}"}
            kinds = {kind: functools.partial(kernel.timed, code) for kind, code in cells.items()}
            measured = interleaved(kinds, repetitions=pairs)
            yield _row(name, measured)
        kernel.run("client.shutdown()")


def _row(name: str, measured: dict[str, list[float]]) -> tuple[str, ...]:
    more = differences(measured["profiled"], measured["plain"], scale=1e3)
    plain = spread([s * 1e3 for s in measured["plain"]], "{:.0f}")
    return (name, str(len(more)), plain, spread(more, "{:.0f}"))


class _Kernel:
    manager: KernelManager
    client: BlockingKernelClient

    def __enter__(self) -> Self:
        self.manager, self.client = start_new_kernel(kernel_name="python3")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def timed(self, code: str) -> float:
        return _timed(lambda: self.run(code))

    def run(self, code: str) -> None:
        reply = self.client.execute_interactive(code, timeout=120.0, output_hook=lambda _message: None)
        if reply["content"]["status"] != "ok":
            raise RuntimeError("\n".join(reply["content"]["traceback"]))


if __name__ == "__main__":
    main(__doc__, measure)
