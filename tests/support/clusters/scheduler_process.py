"""A scheduler and a worker in a process of their own, which can be stopped and killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

_SCRIPT = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(
        n_workers=1, threads_per_worker=2, dashboard_address=":0", processes=False, protocol="tcp://"
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@contextmanager
def scheduler_process() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the scheduler's address and its process, which ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            yield cast("IO[str]", process.stdout).readline().strip(), process
        finally:
            process.kill()
