"""Tasks that write down what they did, and what was written: the truth that a recording is held against."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Done:
    """What one execution of a task wrote; times are wall-clock seconds."""

    name: str
    pid: int
    thread: int
    start: float
    stop: float


def work(folder: Path, name: str, seconds: float, *needed: object) -> str:
    """Take some time, and write down from when to when."""
    start = time.time()
    time.sleep(seconds)
    stop = time.time()
    line = f"{name} {os.getpid()} {threading.get_ident()} {start!r} {stop!r}\n"
    # One write of a short line to a file of the process's own: nothing of it is torn or lost by a kill.
    with (folder / str(os.getpid())).open("a", buffering=1) as file:
        file.write(line)
    return name


def work_after(signal: Path, folder: Path, name: str, *needed: object) -> str:
    """Write down when and where this has begun, as ``begun-name``; work once there is a file of that path."""
    (folder.parent / f"begun-{name}").write_text(f"{time.time()!r} {threading.get_ident()}")
    while not signal.exists():
        time.sleep(0.02)
    return work(folder, name, 0.0, *needed)


def attempt(folder: Path, name: str, n_failures: int, signal: Path | None = None) -> int:
    """Fail this often, each time with a text of its own; then wait for a file of that path, if there is one.

    Each attempt is written down as ``attempt N of NAME``; the one that does not fail is returned.
    """
    number = 1
    while (folder / f"{name}-{number}").exists():
        number += 1
    (folder / f"{name}-{number}").touch()
    if number > n_failures and signal is not None:
        work_after(signal, folder / "done", f"{name}.{number}")
        return number
    work(folder / "done", f"{name}.{number}", 0.01)
    if number <= n_failures:
        raise ValueError(f"no luck of {name}")
    return number


def fail(message: str) -> None:
    raise ValueError(message)


def read_truth(folder: Path) -> list[Done]:
    """Return what tasks wrote, by name."""
    found = []
    for file in folder.iterdir():
        for line in file.read_text().splitlines():
            name, pid, thread, start, stop = line.split()
            found.append(Done(name, int(pid), int(thread), float(start), float(stop)))
    return sorted(found, key=lambda done: done.name)


def spend(end: Path) -> None:
    """Compute, here and not in C, until this file is there.

    Workers sample where the interpreter's lock changes hands: in the loop only while that lasts over 5 ms.
    """
    while not end.exists():
        for _ in range(1_000_000):
            pass


def what_is_there(dask_scheduler: Any) -> dict[str, list[str]]:
    """Run on the scheduler: return the names of everything a tool may have put there."""
    tasks = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return {
        "plugins": sorted(dask_scheduler.plugins),
        "handlers": sorted(dask_scheduler.handlers),
        "feeds": sorted(name for name in tasks if "feed" in name),
        "streams": sorted(str(handler) for handler in dask_scheduler.stream_handlers.values()),
        "comms": sorted(str(op) for op in dask_scheduler._comms.values() if op == "feed"),
        "logs": [str(handler.get_name()) for handler in logging.getLogger("distributed").handlers],
    }
