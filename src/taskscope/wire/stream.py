"""The new rows of a recorder, for a page or a file that grows: the tables of the stream decide which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.model.redaction import Redaction
from taskscope.model.tables.activities import ActivityRows
from taskscope.model.tables.columns import RowBlock, distinct
from taskscope.model.tables.records import Message, Run
from taskscope.model.tables.stacks import StackRows
from taskscope.record import Recorder
from taskscope.record.progress import ProgressReader
from taskscope.record.recorder import NewTasks
from taskscope.record.tables.log import Reader
from taskscope.record.tables.recent import is_within
from taskscope.record.tables.stacklog import StackPlace
from taskscope.record.writers.graph import GraphPart, GraphPlace, ResultEvent
from taskscope.wire.writer import Columns, FrameWriter, row_columns

_T = TypeVar("_T")

_PAGE_TASKS = 200_000
_FILE_TASKS = 10_000
"""Most tasks that are read at a time: of a message to a page, and of a part of a file with its keys."""

_MAX_ROWS = 65_536
_MAX_RUNNING = 200
_KEYS_PER_PART = 4_000


class NewRows:
    """Adds each row to a writer once, and before it the rows that it refers to.

    A page gets keys with its tasks; a file has the graphs of runs, whose keys its rows refer to, and only
    rows of runs from `first_run` to `last_run`, and of times from `start_s` on.
    """

    def __init__(
        self,
        recorder: Recorder,
        writer: FrameWriter,
        redaction: Redaction,
        *,
        cursor: int = 0,
        first_run: int = 0,
        start_s: float = -math.inf,
    ) -> None:
        self._recorder, self._writer, self._redaction = recorder, writer, redaction
        self._first_run, self._start_s = first_run, start_s
        self.last_run: int | None = None
        """The last run of the stream; None: all runs that follow."""
        self._graphs = NewGraphs(recorder, first_run) if writer.has_graphs else None
        logs: dict[str, Any] = {
            "resources": recorder.resources,
            # The cache usage of this process is in a file once the recording is complete.
            "cache": recorder.holdings if writer.has_graphs else recorder.held,
            "activities": recorder.activities,
            "worker_samples": recorder.workers,
            "transfers": recorder.activities.logged,
            **recorder.events,
        }
        self._logs = {name: Reader(log, _MAX_ROWS) for name, log in logs.items() if name in writer.tables}
        if writer.has_graphs:
            cursor = recorder.tasks.first_row_of(first_run)
        self._tasks = Reader(recorder.tasks, _FILE_TASKS if writer.has_graphs else _PAGE_TASKS, cursor)
        self._n = dict.fromkeys(("groups", "lanes", "sources", "messages"), 0)
        self._versions = {"runs": 0, "seconds": 0}
        self._messages: list[Message] = []
        self._kept: dict[int, NDArray[np.int32]] = {}
        """The requested keys that the stream has, of graphs that may grow."""
        self._stacks = StackPlace()
        self._metrics: dict[int, str] = {}
        self._progress = ProgressReader(recorder)
        self._runs: set[int] = set()
        """The runs that the stream has."""
        self._new_runs: list[Run] = []

    def close(self) -> None:
        """Release the recorder's rows for this stream."""
        if self._graphs is not None:
            self._graphs.close()

    @property
    def has_rows(self) -> bool:
        """Whether there are rows of logs that were not added."""
        return any(reader.has_more for reader in (self._tasks, *self._logs.values()))

    @property
    def has_more(self) -> bool:
        """Whether there is anything that was not added."""
        recorder = self._recorder
        return (
            self.has_rows
            or self._versions != {"runs": recorder.version, "seconds": recorder.metered.version}
            or self._n["messages"] < recorder.messages_log.n_kinds
        )

    @property
    def runs(self) -> list[Run]:
        """The runs that go on, and those that have ended since the rows before were added."""
        return [*self._progress.going.values(), *self._new_runs]

    def write(self) -> None:
        """Write everything that is new as frames."""
        self.add()
        while self.has_rows:
            self.add()
        self._writer.frame()

    def add(self) -> None:
        """Add new rows to the next frame, of long tables a part."""
        recorder, writer, graphs = self._recorder, self._writer, self._graphs
        first, tasks = recorder.read_tasks(self._tasks, has_keys=graphs is None)
        rows: dict[str, tuple[int, Any]] = {name: reader.next() for name, reader in self._logs.items()}
        results = [] if graphs is None else graphs.results()
        running = [] if graphs is None else recorder.in_flight(self._first_run, _MAX_RUNNING)
        # Graphs, runs, groups and lanes are read last and written first: the rows read before refer to them.
        parts = [] if graphs is None else [(run, part) for run, part in graphs.parts() if self._is_mine(run)]
        self._add_records()
        for run, part in parts:
            self._add_graph(run, part)
        for new in tasks:
            self._add_tasks(first, new)
            first += len(new.block)
        writer.add_progress(self._hidden(self._progress.next(self._new_runs)))
        for result in results:
            self._add_result(result)
        for name, (number, found) in rows.items():
            self._add_rows(name, found, number if graphs is None else None)
        if graphs is not None:
            self._add_stacks()
            writer.standing["running"] = self._running(running)
        writer.state |= {
            "now_s": recorder.now_s(),
            "active": recorder.is_active(),
            "n_cores": recorder.limits.n_cores,
            "limit_bytes": recorder.limits.memory_bytes,
        }

    def _hidden(self, records: Iterable[_T]) -> list[_T]:
        return list(map(self._redaction.record, records))

    def _is_mine(self, run: int) -> bool:
        return run >= self._first_run and (self.last_run is None or run <= self.last_run)

    def _mine(self, run: NDArray[np.int32]) -> NDArray[np.bool_]:
        mine = run >= self._first_run
        return mine if self.last_run is None else mine & (run <= self.last_run)

    def _add_records(self) -> None:
        recorder, writer = self._recorder, self._writer
        self._add_runs()
        writer.add_groups(self._hidden(self._new("groups", recorder.groups)))
        writer.add_records("lanes", self._hidden(self._new("lanes", recorder.lanes)))
        self._n["messages"] = recorder.messages_log.n_kinds
        messages = recorder.messages_log.messages(self._start_s)
        if messages != self._messages:
            # A message that is repeated has another count.
            self._messages = messages
            writer.replace_records("messages", self._hidden(messages))
        self._versions["seconds"], seconds = recorder.metered.seconds_since(self._versions["seconds"])
        writer.add_records("seconds", self._hidden(s for s in seconds if self._is_mine(s.run)))

    def _new(self, table: str, rows: Sequence[_T]) -> Sequence[_T]:
        new = rows[self._n[table] :]
        self._n[table] += len(new)
        return new

    def _add_runs(self) -> None:
        """Add the runs that changed, and runs that have got a metric of the user's."""
        recorder = self._recorder
        self._versions["runs"], runs = recorder.runs_since(self._versions["runs"])
        metrics = dict(recorder.metrics)
        named = sorted(metrics.keys() - self._metrics.keys() - {run.run for run in runs})
        self._metrics = metrics
        runs += [run for number in named for run in recorder.runs(number, number)]
        if self._graphs is not None:
            # A file that grows keeps each.
            runs = [run for run in runs if run.n_runs == 1]
        self._new_runs = [run for run in runs if self._is_mine(run.run)]
        self._runs.update(run.run for run in self._new_runs)
        names = [metrics.get(run.run) for run in self._new_runs]
        names = [name and self._redaction.text(name) for name in names]
        self._writer.add_runs(self._hidden(self._new_runs), names)

    def _add_graph(self, run: int, part: GraphPart) -> None:
        writer, place = self._writer, part.place
        is_known = place.keys == place.linked == place.settled == part.n_keys
        if not is_known:
            writer.add_graph(run, part.start, is_known=False)
        writer.add_keys(run, self._redaction.keys(part.keys), part.group)
        first_linked = place.linked - len(part.links.n_dependencies)
        writer.add_links(run, first_linked, part.links.n_dependencies, part.links.edges)
        writer.add_by_key("data", run, part.data, nbytes=part.data_sizes)
        if part.kept is not None:
            new = part.kept[~np.isin(part.kept, self._kept.get(run, ()))]
            writer.add_by_key("kept", run, distinct(new))
            self._kept[run] = part.kept
        if is_known:
            # Last, for a frame may end before it.
            writer.add_graph(run, part.start, is_known=True)

    def _add_tasks(self, first: int, new: NewTasks) -> None:
        block, errors = new.block, new.errors
        if self._graphs is None:
            assert new.keys is not None
            assert new.group is not None
            self._writer.add_tasks_with_keys(first, block, errors, new.keys, new.group)
        elif self._is_mine(block.run):
            # Of a run that was forgotten in a hurry, not all keys may have come.
            kept = np.flatnonzero(block.task < self._writer.n_keys(block.run))
            self._writer.add_tasks(block.part(kept), self._redaction.errors(errors))

    def _add_result(self, result: ResultEvent) -> None:
        if self._is_mine(result.run):
            has_key = result.tasks < self._writer.n_keys(result.run)
            for table, column, values in result.columns():
                tasks = result.tasks[has_key]
                self._writer.add_by_key(table, result.run, tasks, **{column: values[has_key]})

    def _running(self, blocks: Sequence[RowBlock]) -> Columns:
        rows = [(b, b.task < self._writer.n_keys(b.run)) for b in blocks if self._is_mine(b.run)]
        return self._writer.running_columns([b.part(np.flatnonzero(m)[:_MAX_RUNNING]) for b, m in rows])

    def _add_rows(self, name: str, rows: Any, first: int | None) -> None:  # noqa: ANN401 - rows of any log
        writer, start_s = self._writer, self._start_s
        match name:
            case "resources":
                writer.add_rows(name, rows.part(rows.time >= start_s), first)
            case "cache":
                writer.add_rows(name, rows.part(self._mine(rows.run)), first)
            case "activities":
                self._add_activities(rows, first)
            case "worker_samples":
                writer.add_workers(self._hidden(w for w in rows if w.time_s >= start_s), first)
            case "transfers":
                writer.add_transfers(self._hidden(t for t in rows if t.stop_s >= start_s))
            case _:
                mine = (row for row in rows if is_within(row, self._runs, start_s, math.inf))
                writer.add_records(name, self._hidden(mine))

    def _add_activities(self, rows: ActivityRows, first: int | None) -> None:
        if len(rows):
            sources = self._new("sources", self._recorder.activities.sources)
            self._writer.add_sources(self._redaction.sources(sources))
        if self._graphs is not None:
            n_keys = {run: self._writer.n_keys(run) for run in distinct(rows.run).tolist()}
            has_key = rows.task < np.array([n_keys[run] for run in rows.run.tolist()], np.int64)
            rows = rows.part(np.flatnonzero(self._mine(rows.run) & has_key))
        self._writer.add_activities(rows, first)

    def _add_stacks(self) -> None:
        log, writer, redaction = self._recorder.stacks, self._writer, self._redaction
        if log.interval_s is None:
            return
        is_first = self._stacks == StackPlace()
        part = log.since(self._stacks)
        self._stacks = part.place
        if is_first:
            writer.add_sampling(log.interval_s, log.cycle_s, 0)
        writer.add_calls(
            self._hidden(part.functions),
            part.parent,
            part.function,
            redaction.texts(part.prefixes),
            redaction.texts(part.workers, "address"),
        )
        # The counts of an unfinished cycle are written again at its end.
        writer.standing.pop("open_stacks", None)
        writer.add_rows("stacks", self._mine_of(part.rows))
        writer.standing["open_stacks"] = row_columns(self._mine_of(part.open_rows))

    def _mine_of(self, rows: StackRows) -> StackRows:
        return rows.part(self._mine(rows.run))


class NewGraphs:
    """Reads graphs of runs from `first_run` on, and results, each part once; on one thread."""

    def __init__(self, recorder: Recorder, first_run: int) -> None:
        self._recorder, self._next_run = recorder, first_run
        self._places: dict[int, GraphPlace] = {}
        self._results = recorder.follow_results(first_run)

    def close(self) -> None:
        self._recorder.leave_results(self._results)

    def results(self) -> list[ResultEvent]:
        """Return results that entered or left the cache, or were valued, since."""
        return [self._results.popleft() for _ in range(len(self._results))]

    def parts(self) -> Iterator[tuple[int, GraphPart]]:
        """Yield the new parts, each with its run: at least all keys that are met now."""
        new = self._recorder.run_numbers(self._next_run)
        self._next_run = max(new, default=self._next_run - 1) + 1
        self._places |= dict.fromkeys(new, GraphPlace())
        for run in list(self._places):
            yield from self._parts_of(run)

    def _parts_of(self, run: int) -> Iterator[tuple[int, GraphPart]]:
        target: tuple[int, int] | None = None
        while True:
            part, reached, is_over = self._recorder.graph_part(run, self._places[run], _KEYS_PER_PART)
            if part is None or part.is_empty:
                if is_over:
                    del self._places[run]
                return
            target = target or reached
            self._places[run] = part.place
            yield run, part
            if not is_over and part.place.keys >= target[0] and part.place.linked >= target[1]:
                return
