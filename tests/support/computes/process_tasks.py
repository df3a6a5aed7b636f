"""Tasks for other processes: importable there, and made to wait for each other through named pipes."""

from __future__ import annotations

import os
import time
from pathlib import Path


class OwnReduceError(Exception):
    """An exception that pickles only what its own recipe names, as many libraries' do."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    def __reduce__(self) -> tuple[type[OwnReduceError], tuple[int]]:
        return OwnReduceError, (self.code,)


def truth(_key: str) -> tuple[int, float, float]:
    """Return where and when this ran."""
    start = time.perf_counter()
    return os.getpid(), start, time.perf_counter()


def total(parts: list[int]) -> int:
    return sum(parts)


def fail(text: str) -> None:
    raise ValueError(text)


def fail_by_own_recipe(code: int) -> None:
    raise OwnReduceError(code)


def interrupt() -> None:
    raise KeyboardInterrupt


def unpicklable() -> object:
    return (i for i in range(3))


def pass_through(pipe: str) -> str:
    """Wait until the other end of the named pipe is opened and closed."""
    with Path(pipe).open() as waiting:
        return waiting.read()


def pid() -> int:
    return os.getpid()
