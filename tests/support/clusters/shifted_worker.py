"""A worker on another address, whose clock is not the scheduler's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from distributed import Client, Worker

__all__ = ["SHIFTED", "scheduler_address", "set_clock", "shifted_worker"]

SHIFTED = "tcp://127.0.0.2"
"""How its address begins."""

_SCRIPT = """
import asyncio, sys, time
true_time, time.ahead_s = time.time, float(sys.argv[2])
time.time = lambda: true_time() + time.ahead_s
from distributed import Worker
async def main():
    async with Worker(sys.argv[1], nthreads=1, host="127.0.0.2", dashboard=False, nanny=None) as worker:
        await worker.finished()
asyncio.run(main())
"""


def scheduler_address(client: Client) -> str:
    """Return where a client's scheduler listens."""
    return str(client.scheduler_info()["address"])


@contextmanager
def shifted_worker(client: Client, ahead_s: float) -> Iterator[str]:
    """Yield the address of a worker whose clock is so many seconds ahead; it ends with the block."""
    address, before = scheduler_address(client), set(client.scheduler_info(n_workers=-1)["workers"])
    with subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, address, str(ahead_s)], stderr=subprocess.DEVNULL
    ) as process:
        try:
            client.wait_for_workers(len(before) + 1)
            (worker,) = set(client.scheduler_info(n_workers=-1)["workers"]) - before
            yield worker
        finally:
            process.kill()


def set_clock(client: Client, worker: str, ahead_s: float) -> None:
    """Set the clock of such a worker."""

    def set_it(ahead_s: float, dask_worker: Worker) -> None:
        import time

        time.ahead_s = ahead_s  # type: ignore[attr-defined]  # see _SCRIPT
        # Else distributed sends nothing until the earlier clock's time, which may be hours later.
        dask_worker.batched_stream.next_deadline = None

    client.run(set_it, ahead_s, workers=[worker])
