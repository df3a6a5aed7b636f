"""A file that is written while recording, so that a killed process leaves its recorded rows."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import format_duration
from taskscope.analysis.redaction import Redact, Redaction, without_credentials
from taskscope.model.forklock import ForkLock
from taskscope.model.tables.activities import ActivityRows
from taskscope.model.tables.columns import RowBlock
from taskscope.model.tables.records import Message, Run
from taskscope.model.tables.stacks import StackRows
from taskscope.record import Recorder
from taskscope.record.follower import NewRows
from taskscope.record.progress import ProgressReader
from taskscope.record.pump import Tick
from taskscope.record.tables.log import Reader
from taskscope.record.tables.stacklog import StackPlace
from taskscope.record.writers.graph import GraphPart, ResultEvent
from taskscope.wire.writer import Columns, FrameWriter, TooLongError, stack_columns

_INTERVAL_S = 0.3
"""The pause between two writes: a row is in the file after this, a tick of the pump, and writing."""

_JOIN_S = 10.0


class FileStream:
    """Writes new rows at most three times a second while computes run, on a thread of its own.

    Where tasks hold the interpreter's lock it is written later: a killed file was behind by 1.45 s at most.

    Nothing is written of a block whose computes last less than a tenth of a second; the file is made when
    there is something to write. Its owner puts the complete recording into its place at the end.
    """

    def __init__(
        self,
        recorder: Recorder,
        path: Path,
        *,
        first_run: int,
        start_s: float,
        metadata: Mapping[str, object],
        overwrite: bool = False,
        redact: Redact = False,
    ) -> None:
        self._recorder = recorder
        self.path = path
        self._metadata = metadata
        self._overwrite = overwrite
        self.made = False
        """Whether the file is there and of this stream."""
        self._first_run = first_run
        self._start_s = start_s
        self._redact = redact
        self.last_run: int | None = None
        """The last run that belongs to the file; None: all that come."""
        self._thread: threading.Thread | None = None
        self._starting = ForkLock()
        """What keeps the thread from being started while it is being stopped."""
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._pid = os.getpid()

    def tick(self, tick: Tick) -> None:
        """Schedule a write; called on the pump's thread."""
        if os.getpid() != self._pid or not (tick.active or tick.final):
            return
        with self._starting:
            if self._thread is None and tick.active and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="taskscope-file", daemon=True)
                self._thread.start()
        self._wake.set()

    def stop(self) -> None:
        """End the thread and wait for it; the file is left as far as it was written."""
        if os.getpid() != self._pid:
            return
        with self._starting:
            self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_JOIN_S)

    def _run(self) -> None:
        name = repr(str(self.path))
        with self._recorder.guard(f"writing {name} while recording"):
            if self._overwrite:
                self.path.unlink(missing_ok=True)
            file = self.path.open("xb")
            self.made = True
            try:
                self._write(file)
            except TooLongError as error:
                most = format_duration(error.args[0])
                self._recorder.warn(
                    f"{name} is not written any more while recording, only at the end: its times end {most} "
                    "after taskscope began to record"
                )

    def _write(self, file: BinaryIO) -> None:
        changes = Changes(
            self._recorder,
            file,
            first_run=self._first_run,
            start_s=self._start_s,
            metadata=self._metadata,
            redact=self._redact,
        )
        with closing(changes), file:
            while not self._stop.is_set():
                self._wake.clear()
                start_s = time.monotonic()
                changes.last_run = self.last_run
                changes.write()
                took_s = time.monotonic() - start_s
                # However slow the disk, the computation has half of the time for itself.
                self._stop.wait(max(_INTERVAL_S - took_s, took_s))
                self._wake.wait()


_MAX_SERIES_ROWS = 65_536
_MAX_RUNNING = 200


class Changes:
    """Writes each row once, in such an order that every frame refers only to rows before it.

    Raises
    ------
    OptionError
        If `redact` is neither True, False nor a function.
    """

    def __init__(
        self,
        recorder: Recorder,
        file: BinaryIO,
        *,
        first_run: int,
        start_s: float,
        metadata: Mapping[str, object],
        redact: Redact = False,
    ) -> None:
        self._redaction = Redaction.of(redact)
        self._recorder = recorder
        self._first_run = first_run
        self.last_run: int | None = None
        """The last run that belongs to it; None: all that come."""
        self._start_s = start_s
        self._version = self._n_groups = self._n_lanes = self._n_sources = 0
        self._messages: list[Message] = []
        self._stacks_place = StackPlace()
        self._new_activities = Reader(recorder.activities, _MAX_SERIES_ROWS)
        self._new_holdings = Reader(recorder.holdings, _MAX_SERIES_ROWS)
        self._new_samples = Reader(recorder.resources, recorder.resources.max_rows)
        self._new_workers = Reader(recorder.workers, recorder.workers.max_records)
        self._new_steals = Reader(recorder.steals, recorder.steals.max_records)
        self._new_transfers = Reader(recorder.activities.logged, recorder.activities.logged.max_records)
        self._told: set[int] = set()
        """The runs that the file has."""
        self._new_runs: list[Run] = []
        self._progress = ProgressReader(recorder)
        self._known: dict[int, bool] = {}
        self._kept: dict[int, NDArray[np.int32]] = {}
        self._follower = recorder.follow(first_run)
        self._readers: tuple[Reader[Any], ...] = (
            self._follower.tasks,
            self._new_activities,
            self._new_holdings,
        )
        started_at = recorder.started_at + timedelta(seconds=start_s)
        self._writer = FrameWriter.of_file(file, started_at, start_s, now_s=start_s, grows=True)
        self._writer.add_metadata(self._redaction.metadata(metadata))

    def close(self) -> None:
        """Release the recorder's rows for this file."""
        self._follower.close()

    def write(self) -> None:
        """Write everything that is new; it counts as written."""
        while self._next():
            pass
        self._writer.frame()

    def _is_mine(self, run: NDArray[np.int32]) -> NDArray[np.bool_]:
        mine = run >= self._first_run
        return mine if self.last_run is None else mine & (run <= self.last_run)

    def _next(self) -> bool:
        """Add new rows, a part of long tables; return whether there are more."""
        follower, recorder, writer = self._follower, self._recorder, self._writer
        rows = follower.rows()
        landed = list(follower.landed())
        running = follower.in_flight(_MAX_RUNNING)
        _, activities = self._new_activities.next()
        _, holdings = self._new_holdings.next()
        _, steals = self._new_steals.next()
        # Graphs are read last and written first: the rows read before refer to them.
        graphs = [(run, part) for run, part in follower.graphs() if self._is_mine(np.array(run))]
        self._tables()
        for run, part in graphs:
            self._graph(run, part)
        for new in rows:
            if self._is_mine(np.array(new.block.run)):
                self._tasks(new)
        writer.add_progress(list(map(self._redaction.record, self._progress.next(self._new_runs))))
        for told in landed:
            self._landed(told)
        self._activities(activities)
        writer.add_cache(holdings.part(self._is_mine(holdings.run)))
        mine = [self._redaction.record(steal) for steal in steals if steal.run in self._told]
        writer.add_records("steals", mine)
        self._samples()
        self._stacks()
        writer.standing["running"] = self._running(running)
        writer.state["now_s"] = recorder.now_s()
        # The cache usage of this process is written when the recording is complete.
        writer.state |= {"active": recorder.is_active(), "cache_unknown": True}
        return any(reader.has_more for reader in self._readers)

    def _tables(self) -> None:
        recorder, redaction, writer = self._recorder, self._redaction, self._writer
        self._version, runs = recorder.runs_since(self._version)
        groups, lanes = recorder.groups[self._n_groups :], recorder.lanes[self._n_lanes :]
        self._n_groups += len(groups)
        self._n_lanes += len(lanes)
        writer.add_groups(list(map(redaction.record, groups)))
        writer.add_records("lanes", list(map(redaction.record, lanes)))
        mine = [run for run in runs if self._is_mine(np.array(run.run))]
        self._told.update(run.run for run in mine)
        self._new_runs = mine
        writer.add_records("runs", list(map(redaction.record, mine)))
        messages = recorder.messages_log.messages(self._start_s)
        if messages != self._messages:
            self._messages = messages
            writer.replace_records("messages", list(map(redaction.record, messages)))

    def _graph(self, run: int, part: GraphPart) -> None:
        writer, place = self._writer, part.place
        is_known = place.keys == place.linked == place.settled == part.n_keys
        if not is_known and self._known.get(run) is not False:
            writer.add_graph(run, part.start, is_known=False, is_valued=False)
            self._known[run] = False
        first_linked = place.linked - len(part.links.n_dependencies)
        writer.add_keys(run, self._redaction.keys(part.keys), part.group)
        writer.add_links(run, first_linked, part.links.n_dependencies, part.links.edges)
        writer.add_by_key("data", run, part.data, nbytes=part.data_sizes)
        if part.kept is not None:
            new = np.setdiff1d(part.kept, self._kept.get(run, np.empty(0, np.int32)))
            self._kept[run] = part.kept
            writer.add_by_key("kept", run, new)
        if is_known and self._known.get(run) is not True:
            # Last, for a frame may end before it.
            writer.add_graph(run, part.start, is_known=True, is_valued=False)
            self._known[run] = True

    def _tasks(self, new: NewRows) -> None:
        # Of a run that was forgotten in a hurry, not all keys may have come.
        kept = np.flatnonzero(new.block.task < self._writer.n_keys(new.block.run))
        texts = {task: self._redaction.remark(text) for task, text in new.errors.items()}
        self._writer.add_tasks(new.block.part(kept), texts)

    def _landed(self, told: ResultEvent) -> None:
        if not self._is_mine(np.array(told.run)):
            return
        is_told = told.tasks < self._writer.n_keys(told.run)
        tasks = told.tasks[is_told]
        if told.enter is not None:
            self._writer.add_by_key("landed", told.run, tasks, time_s=told.enter[is_told])
        if told.values is not None:
            self._writer.add_by_key("valued", told.run, tasks, value=told.values[is_told])
        if told.skipped is not None:
            self._writer.add_by_key("skipped", told.run, tasks, is_skipped=told.skipped[is_told])

    def _running(self, blocks: Sequence[RowBlock]) -> Columns:
        rows = [(b, b.task < self._writer.n_keys(b.run)) for b in blocks if self._is_mine(np.array(b.run))]
        return self._writer.running_columns([b.part(np.flatnonzero(m)[:_MAX_RUNNING]) for b, m in rows])

    def _activities(self, rows: ActivityRows) -> None:
        log, writer = self._recorder.activities, self._writer
        sources = log.sources[self._n_sources :]
        if len(rows):
            self._n_sources += len(sources)
            writer.add_sources(list(map(self._redaction.source, sources)))
            n_keys = {run: writer.n_keys(run) for run in np.unique(rows.run).tolist()}
            is_told = rows.task < np.array([n_keys[run] for run in rows.run.tolist()])
            writer.add_activities(rows.part(np.flatnonzero(self._is_mine(rows.run) & is_told)))
        _, transfers = self._new_transfers.next()
        writer.add_transfers([self._redaction.record(t) for t in transfers if t.stop_s >= self._start_s])

    def _samples(self) -> None:
        _, samples = self._new_samples.next()
        self._writer.add_resources(samples.part(samples.time >= self._start_s))
        _, workers = self._new_workers.next()
        self._writer.add_workers([self._redaction.record(w) for w in workers if w.time_s >= self._start_s])

    def _stacks(self) -> None:
        log, writer, redaction = self._recorder.stacks, self._writer, self._redaction
        if log.interval_s is None:
            return
        is_first = self._stacks_place == StackPlace()
        part = log.since(self._stacks_place)
        self._stacks_place = part.place
        if is_first:
            writer.add_sampling(log.interval_s, log.cycle_s, 0, 0)
        writer.add_calls(
            list(map(redaction.record, part.functions)),
            part.parent,
            part.function,
            list(map(redaction.name, part.prefixes)),
            list(map(without_credentials, part.workers)),
        )
        # The counts of an unfinished cycle are written again at its end.
        writer.standing.pop("open_stacks", None)
        writer.add_stack_rows(self._mine(part.rows))
        writer.standing["open_stacks"] = stack_columns(self._mine(part.open_rows))

    def _mine(self, rows: StackRows) -> StackRows:
        return rows.part(self._is_mine(rows.run))
