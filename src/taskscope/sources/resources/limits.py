"""How much CPU and memory this process may use, container limits included."""

from __future__ import annotations

from pathlib import Path

import psutil
from dask.system import CPU_COUNT

__all__ = ["cpu_limit", "memory_limit_bytes"]

_MEMORY_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def cpu_limit() -> int:
    """Return how many cores this process may use: Dask's own count, which knows cgroups and affinity."""
    return int(CPU_COUNT)


def memory_limit_bytes(files: tuple[Path, ...] = _MEMORY_FILES) -> int:
    """Return how many bytes of memory this process may use: the machine's, or its control group's if less."""
    limit = int(psutil.virtual_memory().total)
    for file in files:
        try:
            text = file.read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit() and int(text) > 0:
            limit = min(limit, int(text))
    return limit
