"""A ``.taskscope`` file that another process writes, read as far as it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from taskscope.analysis.progress import (
    Progress,
    Remaining,
    estimate_stop,
    measure_progress,
    seconds_by_prefix,
)
from taskscope.analysis.totals import ResourceTotals, total_samples
from taskscope.codec import END, HEADER, Budget, Decoder, Section, has_frame, read_frames
from taskscope.export.native.reader import record_of, rows_of, stored_as
from taskscope.model.streams import FILE, RECORDS, STREAMED
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import Estimate, Group, Lane, PrefixProgress, Run, RunningTask
from taskscope.schema import columns_of

_BY_ROW = ("state", "groups", "lanes", "runs", "progress", "running")
_TABLES = {
    name: FILE[name] for name in (*FILE,) if name in {*_BY_ROW, "keys", "errors", "tasks", "resources"}
}
_RECENT_TASKS = 500
_ENDLESS = 2**62
"""Of the rows that are read only the last ones are kept."""


class FollowedFile:
    """The present numbers of a file; `read` takes the frames that were written since the last call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb")
        budget = Budget(_ENDLESS)
        self._decoder, self._frames = Decoder(_TABLES, budget), read_frames(self._file, budget)
        self.is_over = False
        """Whether it is complete."""
        self.now_s = 0.0
        self.n_cores: float | None = None
        self.limit_bytes: float | None = None
        self.runs: dict[int, Run] = {}
        self.groups: list[Group] = []
        self.lanes: list[Lane] = []
        self.running: list[RunningTask] = []
        self.resources = ResourceTotals()
        self._progress: dict[tuple[int, str], PrefixProgress] = {}
        self._group = np.empty(0, np.int64)
        self._run = np.empty(0, np.int64)
        """The group and the compute of each key."""
        self._recent: list[tuple[int, float]] = []
        """The keys of the tasks that ended last, and how long they took."""

    def close(self) -> None:
        self._file.close()

    def was_replaced(self) -> bool:
        """Return whether another file is at its path now, or it was cut.

        Raises
        ------
        OSError
            If there is none.
        """
        at_path, own = self.path.stat(), os.fstat(self._file.fileno())
        return not os.path.samestat(at_path, own) or at_path.st_size < self._file.tell()

    def read(self) -> bool:
        """Return whether there was anything new.

        Raises
        ------
        DamagedFileError
            If it is no recording, or damaged.
        """
        is_new = False
        while not self.is_over and has_frame(self._file):
            is_new = True
            kind, content = next(self._frames)
            if kind == HEADER:
                self._decoder.header(content)
            else:
                self._add(self._decoder.batch(content))
            self.is_over = kind == END
        return is_new

    def _add(self, batch: Mapping[str, Section]) -> None:
        self.running = []
        for name, section in batch.items():
            columns: Mapping[str, Any] = section.columns
            if name in _BY_ROW:
                self._add_records(name, list(rows_of(columns, len(next(iter(columns.values()))))))
            elif name == "keys":
                self._group = np.concatenate([self._group, columns["group"]])
                self._run = np.concatenate([self._run, columns["run"]])
            elif name == "tasks":
                new = zip(columns["key"].tolist(), columns["duration_s"].tolist(), strict=True)
                self._recent = [*self._recent, *new][-_RECENT_TASKS:]
            elif name == "resources":
                kept = {
                    c.name: stored_as(c, columns[STREAMED.get(c.name, c.name)])
                    for c in columns_of(ResourceRows)
                }
                self.resources = total_samples(ResourceRows(**kept), ())

    def _add_records(self, name: str, rows: list[dict[str, Any]]) -> None:
        match name:
            case "state":
                state = rows[0]
                self.now_s, self.n_cores = state["now_s"], state["n_cores"]
                self.limit_bytes = state["limit_bytes"]
            case "groups" | "lanes":
                known: list[Any] = getattr(self, name)
                for row in rows:
                    known.append(record_of(RECORDS[name], {"id": len(known), **row}, name))
            case "runs":
                self.runs |= {int(row["run"]): record_of(Run, row, name) for row in rows}
            case "progress":
                made = [record_of(PrefixProgress, row, name) for row in rows]
                self._progress |= {(row.run, row.prefix): row for row in made}
            case "running":
                self.running = [self._task(row) for row in rows]

    def _task(self, row: Mapping[str, Any]) -> RunningTask:
        key, lane = int(row["key"]), row["lane"]
        return RunningTask(
            run=int(self._run[key]),
            lane=None if lane is None else int(lane),
            group=int(self._group[key]),
            key_text="",
            start_s=self.now_s if row["start_s"] is None else row["start_s"],
        )

    def progress(self) -> Progress:
        """Return how far the computes of the file are."""
        runs, rows = list(self.runs.values()), list(self._progress.values())
        found = {run.run: self._estimate(run) for run in runs if run.status == "running"}
        estimates = {run: estimate for run, estimate in found.items() if estimate is not None}
        return measure_progress(rows, runs, self.now_s, estimates)

    def _estimate(self, run: Run) -> Estimate | None:
        recent = ((self._group[key], seconds) for key, seconds in self._recent if self._run[key] == run.run)
        in_flight = (
            (task.group, max(self.now_s - task.start_s, 0.0)) for task in self.running if task.run == run.run
        )
        return estimate_stop(
            Remaining(
                run,
                self.now_s,
                [row for row in self._progress.values() if row.run == run.run],
                seconds_by_prefix(self.groups, recent),
                seconds_by_prefix(self.groups, in_flight),
            )
        )
