"""How a workload is written: a function that prepares, and returns the work that is recorded."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeAlias

__all__ = ["Prepare", "Work", "blocks_for", "count_in_python", "hash_blocks"]

Work: TypeAlias = Callable[[], object]
Prepare: TypeAlias = Callable[[ExitStack], Work]
_BLOCK = bytes(1 << 20)


@functools.cache
def _blocks_per_s() -> float:
    began_s = time.thread_time()
    for _ in range(200):
        hashlib.sha256(_BLOCK)
    return 200 / (time.thread_time() - began_s)


def blocks_for(cpu_s: float) -> int:
    """Return how many blocks take a core of this machine `cpu_s` seconds."""
    return max(round(cpu_s * _blocks_per_s()), 1)


def hash_blocks(n: int, *_needed: object) -> int:
    """Hash so many blocks, which releases the interpreter's lock."""
    for _ in range(n):
        hashlib.sha256(_BLOCK)
    return n


def count_in_python(n: int, *_needed: object) -> int:
    """Run a loop of Python: about 50 ns a step."""
    total = 0
    for i in range(n):
        total += i % 7
    return total
