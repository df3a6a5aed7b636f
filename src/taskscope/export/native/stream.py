"""A file that is written while recording, so that a killed process leaves what it had recorded."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.redaction import Redact, Redaction, without_credentials
from taskscope.export.native.writer import FileWriter, TooLongError, stack_columns
from taskscope.model.forklock import ForkLock
from taskscope.model.recording import LogEnds, RecordedData, count_tasks
from taskscope.model.tables.activities import ActivityRows
from taskscope.model.tables.columns import RowBlock
from taskscope.model.tables.records import Message, flag_codes
from taskscope.model.tables.stacks import StackRows
from taskscope.record import Recorder
from taskscope.record.pump import Tick
from taskscope.record.tables.log import Reader
from taskscope.record.tables.stacklog import StackPlace
from taskscope.record.writers.graph import GraphPart, ResultEvent

_INTERVAL_S = 0.3
"""From one look to the next: what was recorded is in the file after that, a tick of the pump, and writing."""

_JOIN_S = 10.0


class FileStream:
    """Writes what is new at most three times a second while computes run, on a thread of its own.

    Where tasks hold the interpreter's lock it comes later: a killed file was behind by 1.45 s at most.

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
        self._file: BinaryIO | None = None
        self._changes: Changes | None = None
        self.last_run: int | None = None
        """The last run that belongs to the file; None: all that come."""
        self._thread: threading.Thread | None = None
        self._starting = ForkLock()
        """What keeps the thread from being started while it is being stopped."""
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._pid = os.getpid()

    def tick(self, tick: Tick) -> None:
        """Have something written soon; called on the pump's thread."""
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

    def finish(self, recording: RecordedData) -> bool:
        """Write the rest of what was recorded, and the end, after `stop`; close the file.

        Return whether that could be done; if not, the recording is to be saved whole.
        """
        file, changes = self._file, self._changes
        if file is None or changes is None or os.getpid() != self._pid:
            return False
        try:
            if any(run.run < self._first_run for run in recording.runs):
                # Of computes from before it has no tasks.
                return False
            if not self._is_there(file):
                return False
            changes.finish(recording)
        except Exception as error:  # noqa: BLE001 - it is saved whole then, which says what is wrong
            if not isinstance(error, TooLongError):
                self._recorder.fault(f"finishing {str(self.path)!r}", error)
            return False
        finally:
            self.close()
        return True

    def _is_there(self, file: BinaryIO) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.path.lstat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Leave the file as far as it was written, and have the recorder keep nothing more for it."""
        if os.getpid() != self._pid or (self._thread is not None and self._thread.is_alive()):
            return
        if self._changes is not None:
            self._changes.close()
        if self._file is not None:
            self._file.close()
        self._file = self._changes = None

    def _run(self) -> None:
        try:
            if self._overwrite:
                self.path.unlink(missing_ok=True)
            file = self.path.open("xb")
            self.made = True
            self._write(file)
        except TooLongError as error:
            name = repr(str(self.path))
            self._recorder.warn(f"{name} is not written any more while recording, only at the end: {error}")
        except Exception as error:  # noqa: BLE001 - a full disk must not end the recording
            self._recorder.fault(f"writing {str(self.path)!r} while recording", error)

    def _write(self, file: BinaryIO) -> None:
        changes = Changes(
            self._recorder,
            file,
            first_run=self._first_run,
            start_s=self._start_s,
            metadata=self._metadata,
            redact=self._redact,
        )
        try:
            while not self._stop.is_set():
                self._wake.clear()
                start_s = time.monotonic()
                changes.last_run = self.last_run
                changes.write()
                took_s = time.monotonic() - start_s
                # However slow the disk, the computation has half of the time for itself.
                self._stop.wait(max(_INTERVAL_S - took_s, took_s))
                self._wake.wait()
        except BaseException:
            changes.close()
            file.close()
            raise
        self._file, self._changes = file, changes


_MAX_SERIES_ROWS = 65_536
_MAX_RUNNING = 200


class Changes:
    """Says each thing once, in such an order that every frame refers only to what is there by then.

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
        self._ended_as: RecordedData | None = None
        """What was recorded, once that is known: what was folded or noted only then does not belong to it."""
        self._version = self._n_groups = self._n_lanes = self._n_sources = 0
        self._messages: list[Message] = []
        self._stacks_place = StackPlace()
        self._new_activities = Reader(recorder.activities, _MAX_SERIES_ROWS)
        self._new_holdings = Reader(recorder.holdings, _MAX_SERIES_ROWS)
        self._new_samples = Reader(recorder.resources, recorder.resources.max_rows)
        self._new_workers = Reader(recorder.workers, recorder.workers.max_records)
        self._new_steals = Reader(recorder.steals, recorder.steals.max_records)
        self._new_transfers = Reader(recorder.activities.logged, recorder.activities.logged.max_records)
        self._unsized: NDArray[np.int64] = np.empty((0, 2), np.int64)
        """Numbers of activities whose bytes are not known, in the log and in the file."""
        self._told: set[int] = set()
        """The runs that the file has."""
        self._known: dict[int, bool] = {}
        self._kept: dict[int, NDArray[np.int32]] = {}
        self._follower = recorder.follow(first_run)
        self._new_metered = Reader(recorder.metered_rows, _MAX_SERIES_ROWS, recorder.metered_rows.cursor)
        self._readers: tuple[Reader[Any], ...] = (
            self._follower.tasks,
            self._new_activities,
            self._new_holdings,
            self._new_metered,
        )
        started_at = recorder.started_at + timedelta(seconds=start_s)
        self._writer = FileWriter(file, started_at, start_s, now_s=start_s, grows=True)
        self._writer.add_metadata(self._redaction.metadata(metadata))

    def close(self) -> None:
        """Have the recorder keep nothing more for this file."""
        self._follower.close()

    def write(self) -> None:
        """Write everything that is new; it counts as written."""
        while self._next():
            pass
        self._writer.frame()

    def finish(self, recording: RecordedData) -> None:
        """Write what is still missing, and the end; ValueError where it cannot become just that."""
        ends = recording.ends
        self.last_run = max((run.run for run in recording.runs), default=self._first_run - 1)
        if ends is None or not self._ends_at(ends):
            raise ValueError("more was written than was recorded")
        self._ended_as = recording
        writer, redaction = self._writer, self._redaction
        while self._next():
            pass
        for run, graph in recording.graphs.items():
            if writer.n_keys(run) != len(graph.keys) or (len(graph.keys) and not self._known.get(run)):
                raise ValueError("a graph has grown since it was recorded")
        for block in recording.blocks[len(recording.blocks) - ends.in_flight :]:
            writer.add_tasks(block, {})
        writer.add_metadata(redaction.metadata(recording.metadata))
        writer.add_records("messages", list(map(redaction.record, recording.messages)))
        writer.add_records("runs", list(map(redaction.record, recording.runs)))
        stacks = redaction.stacks(recording.stacks)
        if any(run.is_on_cluster for run in recording.runs):
            # They were asked for, or stand for another time than was told before.
            writer.add_stacks(stacks)
        elif stacks.interval_s is not None:
            writer.add_sampling(stacks.interval_s, stacks.cycle_s, stacks.dropped, 0)
            writer.add_lines(stacks)
        writer.add_records("metrics", list(map(redaction.record, recording.metrics)))
        writer.add_records("measured_lines", list(map(redaction.record, recording.measured_lines)))
        writer.add_records("peak_lines", list(map(redaction.record, recording.peak_lines)))
        writer.add_records("totals", list(map(redaction.record, recording.totals)))
        n_all = recording.dropped + count_tasks(recording)
        writer.standing = {}
        writer.state |= {
            "now_s": recording.now_s,
            "n_dropped": max(n_all - writer.n_added("tasks"), 0),
            "n_activities_dropped": recording.activities.dropped,
        }
        writer.frame(is_last=True)

    def _ends_at(self, ends: LogEnds) -> bool:
        """Read no further than to these ends; return whether no more was read before."""
        numbers = (ends.tasks, ends.activities, ends.holdings, ends.metered)
        for reader, end in zip(self._readers, numbers, strict=True):
            reader.end = end
        # A compute may have begun as the block ended.
        has_later = self.last_run is not None and max(self._told, default=-1) > self.last_run
        return not has_later and not any(reader.is_beyond for reader in self._readers)

    def _is_mine(self, run: NDArray[np.int32]) -> NDArray[np.bool_]:
        mine = run >= self._first_run
        return mine if self.last_run is None else mine & (run <= self.last_run)

    def _next(self) -> bool:
        """Add what is new, of long tables a part; return whether there is more."""
        follower, recorder, writer = self._follower, self._recorder, self._writer
        whole = self._ended_as
        metered = self._metered()
        rows = follower.rows()
        landed = list(follower.landed())
        running = follower.in_flight(_MAX_RUNNING)
        first_activity, activities = self._new_activities.next()
        _, holdings = self._new_holdings.next()
        _, steals = self._new_steals.next()
        # What is read last is named by what was read before, and is written first.
        graphs = [(run, part) for run, part in follower.graphs() if self._is_mine(np.array(run))]
        self._tables()
        for run, part in graphs:
            self._graph(run, part)
        for block, errors in rows:
            if self._is_mine(np.array(block.run)):
                self._tasks(block, errors)
        for block in metered:
            if self._is_mine(np.array(block.run)):
                writer.add_metered(block.part(block.task < writer.n_keys(block.run)))
        for told in landed:
            self._landed(told)
        self._activities(first_activity, activities)
        last_s = np.inf if whole is None else whole.holdings.time.max(initial=-np.inf)
        writer.add_holdings(holdings.part(self._is_mine(holdings.run) & (holdings.time <= last_s)))
        recorded = {id(steal) for steal in (() if whole is None else whole.steals)}
        mine = [s for s in steals if (s.run in self._told if whole is None else id(s) in recorded)]
        writer.add_records("steals", list(map(self._redaction.record, mine)))
        self._samples()
        self._stacks()
        writer.standing["running"] = self._running(running)
        writer.state["now_s"] = recorder.now_s()
        writer.state["active"] = recorder.is_active()
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
        writer.add_records("runs", list(map(redaction.record, mine)))
        messages = recorder.messages_log.messages(self._start_s)
        if messages != self._messages:
            self._messages = messages
            writer.add_records("messages", list(map(redaction.record, messages)))

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

    def _tasks(self, block: RowBlock, errors: Mapping[int, str]) -> None:
        # Of a run that was forgotten in a hurry, not all keys may have come.
        told = block.part(block.task < self._writer.n_keys(block.run))
        texts = {task: self._redaction.remark(text) for task, text in errors.items()}
        self._writer.add_tasks(told, texts)

    def _metered(self) -> list[RowBlock]:
        """Return the tasks that were told of which the CPU time has become known."""
        numbers, blocks = self._recorder.newly_metered(self._new_metered)
        # What is read from now on has it.
        n_told = int(np.searchsorted(numbers, self._follower.tasks.cursor))
        told: list[RowBlock] = []
        for block in blocks:
            told.append(block.part(slice(n_told)))
            n_told = max(n_told - len(block), 0)
        return told

    def _landed(self, told: ResultEvent) -> None:
        if not self._is_mine(np.array(told.run)):
            return
        is_told = told.tasks < self._writer.n_keys(told.run)
        if self._ended_as is not None:
            is_told &= _is_in(told, self._ended_as)
        tasks = told.tasks[is_told]
        if told.enter is not None:
            self._writer.add_by_key("landed", told.run, tasks, time_s=told.enter[is_told])
        if told.values is not None:
            self._writer.add_by_key("valued", told.run, tasks, value=told.values[is_told])
        if told.skipped is not None:
            self._writer.add_by_key("skipped", told.run, tasks, is_skipped=told.skipped[is_told])

    def _running(self, blocks: Sequence[RowBlock]) -> dict[str, NDArray[np.generic]]:
        rows = [(b, b.task < self._writer.n_keys(b.run)) for b in blocks if self._is_mine(np.array(b.run))]
        told = [b.part(np.flatnonzero(mine)[:_MAX_RUNNING]) for b, mine in rows]
        none = np.empty(0, np.int64)
        return {
            "key": np.concatenate([none, *(self._writer.key_rows(b.run, b.task) for b in told)]),
            "lane": np.concatenate([none, *(b.lane for b in told)]),
            "observed_by": np.concatenate([none, *(flag_codes(b.flags, "observed_by") for b in told)]),
            "start_s": np.concatenate([np.empty(0), *(b.start for b in told)]),
        }

    def _activities(self, first: int, rows: ActivityRows) -> None:
        log, writer = self._recorder.activities, self._writer
        if len(self._unsized):
            nbytes = log.nbytes_of(self._unsized[:, 0])
            known = ~np.isnan(nbytes)
            if known.any():
                writer.add("completed", {"row": self._unsized[known, 1], "nbytes": nbytes[known]})
                self._unsized = self._unsized[~known]
        sources = log.sources[self._n_sources :]
        if len(rows):
            self._n_sources += len(sources)
            writer.add_sources(list(map(self._redaction.source, sources)))
            n_keys = {run: writer.n_keys(run) for run in np.unique(rows.run).tolist()}
            is_told = rows.task < np.array([n_keys[run] for run in rows.run.tolist()])
            mine = np.flatnonzero(self._is_mine(rows.run) & is_told)
            unsized = mine[np.isnan(rows.nbytes[mine])]
            places = writer.n_added("activities") + np.flatnonzero(np.isnan(rows.nbytes[mine]))
            self._unsized = np.concatenate([self._unsized, np.column_stack([first + unsized, places])])
            writer.add_activities(rows.part(mine))
        _, transfers = self._new_transfers.next()
        whole = self._ended_as
        recorded = {id(transfer) for transfer in (() if whole is None else whole.transfers)}
        writer.add_transfers(
            [
                self._redaction.record(t)
                for t in transfers
                if (t.stop_s >= self._start_s if whole is None else id(t) in recorded)
            ]
        )

    def _samples(self) -> None:
        _, samples = self._new_samples.next()
        whole = self._ended_as
        # A sample is of the moment at which it was begun, and may be noted after a later one was asked for.
        mine_s = (
            samples.time >= self._start_s if whole is None else np.isin(samples.time, whole.resources.time)
        )
        self._writer.add_resources(samples.part(mine_s))
        _, workers = self._new_workers.next()
        recorded = {id(worker) for worker in (() if whole is None else whole.workers)}
        self._writer.add_workers(
            [
                self._redaction.record(w)
                for w in workers
                if (w.time_s >= self._start_s if whole is None else id(w) in recorded)
            ]
        )

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
        # What was counted so far of a cycle is told again at its end.
        writer.standing.pop("open_stacks", None)
        whole = self._ended_as
        # A cycle that began after the recording was taken began after all that are in it.
        last_s = np.inf if whole is None else whole.stacks.rows.start.max(initial=-np.inf)
        writer.add_stack_rows(self._mine(part.rows.part(part.rows.start <= last_s)))
        writer.standing["open_stacks"] = stack_columns(self._mine(part.open_rows))

    def _mine(self, rows: StackRows) -> StackRows:
        return rows.part(self._is_mine(rows.run))


def _is_in(told: ResultEvent, recording: RecordedData) -> NDArray[np.bool_]:
    """Return which of these were known when a recording was taken."""
    graph = recording.graphs.get(told.run)
    if graph is None:
        return np.zeros(len(told.tasks), np.bool_)
    known = np.zeros(len(graph.keys), np.bool_)
    if told.enter is not None:
        known = ~np.isnan(graph.enter_times())
    elif told.values is not None and graph.values is not None:
        known = ~np.isnan(graph.values)
    elif told.skipped is not None:
        known[graph.skipped] = True
    within = told.tasks < len(known)
    found: NDArray[np.bool_] = np.append(known, False)[np.where(within, told.tasks, -1)]
    if told.skipped is not None:
        found = within & (found == told.skipped)
    return found
