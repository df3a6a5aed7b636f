"""Read all rows of some runs once, at the reader's pace: a file is written from it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from taskscope.model.tables.columns import RowBlock
from taskscope.record.run import RunState
from taskscope.record.tables.groups import LaneTable
from taskscope.record.tables.log import Reader, TaskLog
from taskscope.record.writers.graph import GraphPart, GraphPlace, LandingLog, ResultEvent

_KEYS_PER_PART = 4_000
_MAX_ROWS = 10_000


class NewRows(NamedTuple):
    """Rows of the recorder from number `first` on, and the errors of their tasks, by task."""

    first: int
    block: RowBlock
    errors: dict[int, str]


class Follower:
    """Made by `Recorder.follow`; may be read on any one thread.

    Rows, landings and tasks in flight are read first, then graphs, which then contain all keys that those
    name by number.
    """

    def __init__(
        self,
        first_run: int,
        lock: threading.RLock,
        runs: Mapping[int, RunState],
        tasks: TaskLog,
        landings: LandingLog,
        lanes: LaneTable,
        now_s: Callable[[], float],
    ) -> None:
        self._first_run = first_run
        self._lock = lock
        self._runs = runs
        self._landings = landings
        self._lanes = lanes
        self._now_s = now_s
        self.tasks = Reader(tasks, _MAX_ROWS, tasks.first_row_of(first_run))
        """How far it has read the rows; other threads leave it alone."""
        self._places: dict[int, GraphPlace] = {}
        self._next_run = first_run
        self._queue = landings.follow()
        self._queue.extendleft(
            landed for run, state in runs.items() if run >= first_run for landed in state.graph.landed()
        )

    def close(self) -> None:
        self._landings.leave(self._queue)
        self._queue.clear()

    def rows(self) -> list[NewRows]:
        """Return some of the new rows, by block; empty when there are none."""
        with self._lock:
            first, blocks = self.tasks.parts()
            firsts = accumulate(map(len, blocks), initial=first)
            return [
                NewRows(first, block, self._errors(block))
                for first, block in zip(firsts, blocks, strict=False)
                if block.run >= self._first_run
            ]

    def _errors(self, block: RowBlock) -> dict[int, str]:
        errors = self._runs[block.run].graph.errors
        if not errors:
            return {}
        failed = block.task[np.isin(block.task, list(errors))]
        return {task: errors[task] for task in failed.tolist()}

    def landed(self) -> Iterator[ResultEvent]:
        """Yield what landed since, or was valued."""
        for _ in range(len(self._queue)):
            landed = self._queue.popleft()
            if landed.run >= self._first_run:
                yield landed

    def in_flight(self, limit: int) -> list[RowBlock]:
        """Return the tasks in flight, up to `limit` of each run, as rows that stop now."""
        with self._lock:
            now_s = self._now_s()
            blocks = [state.in_flight(now_s, self._lanes.id, limit) for state in self._going()]
        return [block for block in blocks if block is not None]

    def _going(self) -> list[RunState]:
        return [s for run, s in self._runs.items() if run >= self._first_run and s.log is not None]

    def graphs(self) -> Iterator[tuple[int, GraphPart]]:
        """Yield the new parts of the graphs, each with its run: at least all keys that are met now."""
        with self._lock:
            new = self._new_runs()
            self._next_run = max(new, default=self._next_run - 1) + 1
            self._places |= dict.fromkeys(new, GraphPlace())
        for run in list(self._places):
            yield from self._parts(run)

    def _new_runs(self) -> list[int]:
        return [run for run in self._runs if run >= self._next_run]

    def _parts(self, run: int) -> Iterator[tuple[int, GraphPart]]:
        target: tuple[int, int] | None = None
        while True:
            at = self._places[run]
            with self._lock:
                state = self._runs.get(run)
                part = None if state is None else state.graph.part(at, _KEYS_PER_PART)
                n_met, n_processed = (0, 0) if state is None else state.graph.reached
                is_over = state is None or state.log is None
            if part is None or part.is_empty:
                if is_over:
                    del self._places[run]
                return
            target = target or (n_met, n_processed)
            self._places[run] = part.place
            yield run, part
            if not is_over and part.place.keys >= target[0] and part.place.linked >= target[1]:
                return
