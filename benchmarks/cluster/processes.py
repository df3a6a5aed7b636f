"""A scheduler in a process of its own, so that its CPU time can be read, and many workers in two others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil

_SCHEDULER = """
import asyncio, os
from distributed import Scheduler
async def main():
    async with Scheduler(port=0, dashboard_address=":0") as scheduler:
        print(os.getpid(), scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(main())
"""
_WORKERS = """
import asyncio, sys
from distributed import Worker
async def main():
    # Without servers of their own: fifty of them take a process half a minute to begin.
    workers = [Worker(sys.argv[1], nthreads=1, dashboard=False) for _ in range(int(sys.argv[2]))]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))
asyncio.run(main())
"""
_FEW = 4
# Each worker samples its process's threads: fifty in one process would do nothing else.
_WITHOUT_PROFILE = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
_QUIET = {"DASK_LOGGING__DISTRIBUTED": "error"}


@contextmanager
def processes(n_workers: int = 2) -> Iterator[tuple[psutil.Process, str]]:
    """Run a scheduler, which is yielded with its address, and two processes with half of the workers each."""
    environment = os.environ | _QUIET | ({} if n_workers <= _FEW else _WITHOUT_PROFILE)
    with subprocess.Popen(
        [sys.executable, "-c", _SCHEDULER], stdout=subprocess.PIPE, text=True, env=environment
    ) as scheduler:
        assert scheduler.stdout is not None
        pid, address = scheduler.stdout.readline().split()
        command = [sys.executable, "-c", _WORKERS, address, str(n_workers // 2)]
        workers = [subprocess.Popen(command, env=environment) for _ in range(2)]
        try:
            yield psutil.Process(int(pid)), address
        finally:
            ending: list[subprocess.Popen[Any]] = [*workers, scheduler]
            for process in ending:
                process.kill()
                process.wait()


def cpu_s(process: psutil.Process) -> float:
    """Return the CPU time that a process has taken."""
    return float(sum(process.cpu_times()[:2]))
