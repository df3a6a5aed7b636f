"""Which tasks have run in a kernel, as schedulers themselves say it: what a recording is compared with.

A kernel imports it for Dask's local schedulers; each scheduler of ``distributed`` in its process preloads it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dask.callbacks import Callback
from dask.typing import Key
from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin

_tasks: list[tuple[int, str, str]] = []
"""The cell that began it, its key, and how it ended, of each task."""


_cell = 0
_of_local_schedulers = Callback(posttask=lambda key, *_: _tasks.append((_cell, str(key), "memory")))


def begin_cell(cell: int) -> None:
    """Know which cell is about to run, and count the tasks of Dask's own schedulers from then on."""
    global _cell  # noqa: PLW0603 - a kernel has one
    _cell = cell
    # Dask loses its callbacks where computes of two threads overlap.
    _of_local_schedulers.register()


class _OnScheduler(SchedulerPlugin):
    name = "ground-truth"

    def __init__(self) -> None:
        self._cells: dict[Key, int] = {}

    def update_graph(self, scheduler: Scheduler, *, tasks: list[Key], **_: Any) -> None:
        for key in tasks:
            self._cells.setdefault(key, _cell)

    def transition(self, key: Key, start: str, finish: str, *args: Any, **_: Any) -> None:
        if start == "processing" and finish in {"memory", "erred"}:
            _tasks.append((self._cells.get(key, 0), str(key), finish))
        if finish == "forgotten":
            self._cells.pop(key, None)


def dask_setup(scheduler: Scheduler) -> None:
    """Count the tasks of a scheduler; distributed calls it."""
    scheduler.add_plugin(_OnScheduler())


def write(path: str) -> None:
    """Write down what has run."""
    Path(path).write_text(json.dumps(_tasks), encoding="utf-8")
