"""What does an explanation cost at the recorder's limits?

CPU time and memory of `explain()` for a million tasks on 16 threads, and for 100,000 tasks on 200 workers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Table, main, spread
from benchmarks.synthetic import synthetic

_N_ROUNDS = 3
_MEGABYTE = 1e6


def _memory_bytes(which: str) -> int:
    """Return what the kernel says of this process: its memory now, ``VmRSS``, or its peak, ``VmHWM``."""
    found = re.search(rf"{which}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def _row(n_tasks: int, n_workers: int | None) -> tuple[str, ...]:
    before_bytes = _memory_bytes("VmRSS")
    recording = synthetic(n_tasks, is_random=False, n_workers=n_workers)
    own_bytes = _memory_bytes("VmRSS") - before_bytes
    cpu_s, extra_bytes = [], []
    for _ in range(_N_ROUNDS):
        # The peak of a process is that since this was written (man 5 proc).
        Path("/proc/self/clear_refs").write_text("5")
        began_bytes, began_s = _memory_bytes("VmRSS"), time.process_time()
        recording.explain()
        cpu_s.append(time.process_time() - began_s)
        extra_bytes.append((_memory_bytes("VmHWM") - began_bytes) / _MEGABYTE)
    where = "16 threads" if n_workers is None else f"{n_workers} workers"
    return f"{n_tasks:,}", where, spread(cpu_s), spread(extra_bytes, "{:.0f}"), f"{own_bytes / _MEGABYTE:.0f}"


def measure(*, quick: bool) -> list[Table]:
    """Return one table."""
    columns = ("tasks", "where", "CPU time, s", "memory beside it, MB", "the recording, MB")
    sizes: list[tuple[int, int | None]] = [(100_000, 200)] if quick else [(100_000, 200), (1_000_000, None)]
    rows: Iterator[tuple[str, ...]] = (_row(*size) for size in sizes)
    return [Table("Explanations at the recorder's limits", columns, rows, f"Of {_N_ROUNDS} rounds.")]


if __name__ == "__main__":
    main(__doc__, measure)
