"""A recorder whose rows are simply put in, for tests of what reads a recorder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import RowBlock
from taskscope.model.tables.process import ResourceLimits, ResourceRows
from taskscope.model.tables.records import Group, Lane, Message, PrefixProgress, Run, RunningTask, TaskBlock
from taskscope.model.tables.workers import WorkerSample
from taskscope.record import Recorder
from taskscope.record.tables.activities import ActivityLog
from taskscope.record.tables.log import Log, Reader, RowNumbers
from taskscope.record.tables.metrics import MetricLog
from taskscope.record.tables.recent import RecentLog
from taskscope.record.writers.graph import GraphShape
from tests.support.recordings.task_blocks import Row, block_of


class FakeRecorder:
    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self.id = "rec"
        self.rows = list(rows)
        self.dropped = 0
        self.groups = [Group(0, "sum-1", "sum")]
        self.lanes = [Lane(0, "main", 1, "thread 1")]
        self.messages: list[Message] = []
        self.now_running: list[RunningTask] = []
        self.active = False
        self.resources = Log(ResourceRows, 1_000)
        self.limits = ResourceLimits()
        self.held = Log(CacheRows, 1_000)
        self.metrics: dict[int, str] = {}
        self.activities = ActivityLog()
        self.new_activities = self.activities.news
        self.metered_rows = Log(RowNumbers, 1_000)
        self.metered = MetricLog(lambda text: None)
        self.workers: RecentLog[WorkerSample] = RecentLog(10)
        self.faults: list[tuple[str, BaseException]] = []
        self.version = 0
        self._runs: dict[int, tuple[int, Run]] = {}
        self.progress_rows: dict[int, list[PrefixProgress]] = {}
        self.progress_asked: list[tuple[int, int | None]] = []

    def as_recorder(self) -> Recorder:
        return cast("Recorder", self)

    def now_s(self) -> float:
        return 0.0

    @property
    def cursor(self) -> int:
        return len(self.rows)

    def set_run(self, run: Run, finished: int = 0) -> None:
        self.version += 1
        self._runs[run.run] = (self.version, run)
        self.progress_rows[run.run] = [
            PrefixProgress(run.run, "sum", run.n_tasks, finished, 0, 0, 0, float(finished))
        ]

    def tasks_since(self, cursor: int, limit: int) -> tuple[int, TaskBlock]:
        first = max(cursor, self.dropped)
        return first, block_of(self.rows[first : first + limit])

    def newly_metered(self, reader: Reader[RowNumbers]) -> tuple[NDArray[np.int64], list[RowBlock]]:
        return reader.next()[1].row, []

    def runs_since(self, version: int) -> tuple[int, list[Run]]:
        return self.version, [
            run for at, run in sorted(self._runs.values(), key=lambda r: r[0]) if at > version
        ]

    def runs(self, first_run: int, last_run: int) -> list[Run]:
        return [run for number, (_, run) in self._runs.items() if first_run <= number <= last_run]

    def running(self) -> list[RunningTask]:
        return list(self.now_running)

    def progress(self, first_run: int = 0, last_run: int | None = None) -> list[PrefixProgress]:
        self.progress_asked.append((first_run, last_run))
        last = max(self.progress_rows, default=-1) if last_run is None else last_run
        return [row for run, rows in self.progress_rows.items() if first_run <= run <= last for row in rows]

    def graph_shape(self, run: int) -> GraphShape | None:
        return None

    def ended(self, run: int) -> NDArray[np.int32] | None:
        return None

    def is_active(self) -> bool:
        return self.active

    def fault(self, where: str, error: BaseException) -> None:
        self.faults.append((where, error))


def run_of(run: int, n_tasks: int = 4, status: str = "running") -> Run:
    stop_s = None if status == "running" else 2.0
    return Run(run, None, None, "threads", 2, n_tasks, 0.0, stop_s, status, None)  # type: ignore[arg-type]
