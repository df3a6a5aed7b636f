"""The append-only, bounded event log that sources write and everything else reads."""

from __future__ import annotations

import itertools
import math
import os
import sys
import threading
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import OptionError
from taskscope.model.clock import SYSTEM_CLOCK, Clock, Dates, whole_ticks
from taskscope.model.guard import Guard
from taskscope.model.keys import KeyBlock
from taskscope.model.recording import RecordedData, join_rows
from taskscope.model.tables.activities import Steal
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import GraphColumns, RowBlock, TaskLinks
from taskscope.model.tables.process import ResourceLimits, ResourceRows
from taskscope.model.tables.records import (
    IN_THREADS,
    Group,
    Lane,
    Message,
    PrefixProgress,
    Run,
    RunningTask,
    TaskBlock,
)
from taskscope.model.tables.workers import LogLine, WorkerSample
from taskscope.options import DEFAULT_MAX_TASKS
from taskscope.record.messages import MessageLog
from taskscope.record.run import (
    RunState,
    links_of,
    prefix_progress,
    tasks_in_flight,
    without_ended,
)
from taskscope.record.runs import AnyRun, RunTable
from taskscope.record.tables.activities import ActivityLog
from taskscope.record.tables.cache_usage import Holding, HoldingLog
from taskscope.record.tables.groups import GroupTable, LaneTable
from taskscope.record.tables.log import Log, Reader, TaskLog, count_by_run
from taskscope.record.tables.recent import RecentLog
from taskscope.record.tables.stacklog import CountedCalls, StackLog, with_waits
from taskscope.record.tables.sums import MeasuredLineLog, MetricLog, PeakLineLog
from taskscope.record.writers.graph import GraphPart, GraphPlace, GraphShape, LandingLog, ResultEvent
from taskscope.record.writers.runlog import RunLog, take

_MAX_WORKER_SAMPLES = 200_000
_MAX_STEALS = 100_000
_MAX_RUNS = 10_000
_MOST_WAITING = 200
"""How many computes may begin before one is folded."""
_MAX_LOG_LINES = 10_000
_MAX_SAMPLES = 500_000
_MAX_HELD_ROWS = 300_000


_Sample: TypeAlias = tuple[float, float, int, int, bool, float, float, float]
"""The values of `ResourceRows`, in its order."""


class NewTasks(NamedTuple):
    """Tasks of a run, their errors by number, and their groups and keys where these were requested."""

    block: RowBlock
    errors: Mapping[int, str]
    group: NDArray[np.uint32] | None
    keys: KeyBlock | None


class Recorder:
    """Everything recorded in one process.

    Sources call `begin`, write to the returned `RunLog`, and mark its end; none of this takes a lock. One
    reader at a time folds logs into columns (`pull`) and reads these.

    Raises
    ------
    OptionError
        If `max_tasks` is not a positive integer.
    """

    def __init__(  # noqa: PLR0915 - an attribute a line
        self, *, max_tasks: int = DEFAULT_MAX_TASKS, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self.id = uuid.uuid4().hex
        self.clock = clock
        self.origin = clock.perf_counter()
        self._dates = Dates(clock)
        self.messages_log = MessageLog(self.now_s)
        self.limits = ResourceLimits()
        """The limits of the machine, for comparison with `resources`."""
        self._resources = Log(ResourceRows, _MAX_SAMPLES)
        self._samples: list[_Sample] = []
        self.held = Log(CacheRows, _MAX_HELD_ROWS)
        self.follow_held = False
        """Whether a reader may need `held` while computes run; a recording makes its own from its tables."""
        self.metrics: dict[int, str] = {}
        """The name of the user's cache metric, by run; runs without one are not here."""
        self.holdings = Log(CacheRows, _MAX_HELD_ROWS)
        """The results in workers' memory, which are in `held`, too."""
        self.activities = ActivityLog()
        self.workers: RecentLog[WorkerSample] = RecentLog(_MAX_WORKER_SAMPLES)
        self.steals, self.logs = RecentLog[Steal](_MAX_STEALS), RecentLog[LogLine](_MAX_LOG_LINES)
        self.events: Mapping[str, RecentLog[Any]] = {"steals": self.steals, "logs": self.logs}
        """Logs of records that pages, files and recordings get as they are, by the names of their tables."""
        self.metered = MetricLog(self.warn)
        self.stacks = StackLog(self.now_s)
        self.measured_lines = MeasuredLineLog()
        self.peak_lines = PeakLineLog()
        self.tasks = TaskLog(_checked(max_tasks))
        self._groups, self._lanes = GroupTable(), LaneTable(os.getpid())
        self._run_ids = itertools.count()
        self._runs = RunTable()
        self.landings = LandingLog()
        self._polls = HoldingLog()
        """Results in workers' memory, by poll of a cluster."""
        self._arrived: deque[RunLog] = deque()
        self._active: list[RunState] = []
        self._lock = threading.RLock()

    # Written by sources ---------------------------------------------------------------------------------

    def begin(self) -> RunLog:
        """Start a run; safe from any thread."""
        log = self.new_log()
        self.put(log)
        return log

    def new_log(self) -> RunLog:
        """Return a new run's log, which is not recorded until it is `put`."""
        self.compare_clocks()
        return RunLog(next(self._run_ids), self.clock, self.fault)

    def compare_clocks(self) -> None:
        """Notice that the computer has slept or that its wall clock was set, where a recording may begin."""
        self._dates.compare()

    def date(self, time_s: float) -> datetime:
        """Return the date of a moment, in seconds after the recorder's zero."""
        return self._dates.at(self.origin + time_s)

    def put(self, log: RunLog) -> None:
        """Start its run; safe from any thread.

        Where computes come faster than one thread can fold them beside, this thread helps.
        """
        self._arrived.append(log)
        if len(self._arrived) > _MOST_WAITING:
            self.pull()

    def fault(self, where: str, error: BaseException) -> None:
        """Count a fault of taskscope, which the user's computation must never see."""
        try:
            self.messages_log.fault(where, error)
        except Exception:  # noqa: BLE001 - the stack is full, or a handler of the user's loggers raises
            return

    def guard(self, where: str) -> Guard:
        """Return a context manager that counts the errors of a block of taskscope's own code."""
        return Guard(where, self.fault)

    def warn(self, words: str, *names: object) -> None:
        """Add a message the user should see; the same text is counted, not repeated."""
        self.messages_log.add("warning", words, *names)

    def note_fused(self, fused: Mapping[str, str]) -> None:
        """Record which groups are fused into the tasks of new groups, by their names."""
        self._groups.note_fused(fused)

    def note_holdings(self, run: int, time_s: float, holdings: Sequence[Holding]) -> None:
        """Record the groups of a run whose results in workers' memory changed; in seconds after the zero."""
        self._polls.note(run, time_s, holdings)

    def note_sample(self, sample: _Sample) -> None:
        """Record a sample of CPU and memory, the values of `ResourceRows`; safe from any thread."""
        self._samples.append(sample)

    def note_lock(self, wanted: float, *, is_held: bool) -> None:
        """Count for the runs in threads of this process whether one had the lock at a moment of the clock."""
        for log in self._logs():
            if log.start <= wanted and log.stop is None and log.scheduler in IN_THREADS:
                log.note_lock(1, int(is_held))

    def hand_over_samples(self, start_s: float, run: int, counted: Sequence[CountedCalls]) -> None:
        """Add a cycle of samples of one run that others counted; see `StackLog.hand_over`."""
        self.stacks.hand_over(start_s, counted)
        with self._lock:
            self._runs.touch_over(run)

    # Folded and read by one reader at a time --------------------------------------------------------------

    def pull(self, budget_s: float = 0.001, *, at_once: bool = True) -> bool:
        """Fold what writers appended, for about `budget_s` seconds; True if more is waiting.

        If not `at_once`, computes whose rows can wait are left out.
        """
        deadline = self.clock.perf_counter() + budget_s
        with self._lock:
            self._admit()
            self._fold_samples()
            more = False
            for state in list(self._active):
                if at_once or not state.can_wait():
                    more |= self._fold_run(state, deadline)
            for run, rows in self._polls.fold(self._groups):
                self.holdings.append(rows)
                self._append_cache_rows(rows, None)
                self._runs.touch_over(run)
            return more

    def _fold_samples(self) -> None:
        samples = take(self._samples, 1)
        if samples:
            self._resources.append(ResourceRows.of(samples))

    @property
    def resources(self) -> Log[ResourceRows]:
        """The samples of CPU and memory."""
        with self._lock:
            self._fold_samples()
            return self._resources

    def _admit(self) -> None:
        """Add the started runs in their order; the oldest that are over make room, and are added up."""
        while self._arrived:
            log = self._arrived.popleft()
            state = RunState(
                log, self._groups, self.origin, follow_held=self.follow_held, landings=self.landings
            )
            self._active.append(state)
            self._runs.add(state)
        while len(self._runs) > _MAX_RUNS and (oldest := self._runs.oldest()).log is None:
            while oldest.rows_held:
                self._runs.dropped(count_by_run(self.tasks.drop(oldest.rows_held)))
            self.metrics.pop(self._runs.add_up_oldest(self._groups.groups), None)

    def _fold_run(self, state: RunState, deadline: float) -> bool:
        """Fold a run until `deadline`, on the clock's axis; return whether more waits."""
        now = self.clock.perf_counter
        # Rows before the graph: a person waits for them. Rows appended after this can wait.
        was_over, came = state.run.stop_s is not None, False
        waiting = state.slices_waiting()
        while waiting:
            block = state.take_rows(self._lanes.id)
            if block is not None:
                state.rows_held += len(block)
                self._runs.dropped(count_by_run(self.tasks.append(block)))
                came = True
            state.take_activities(self._lanes.id, self.activities)
            waiting -= 1
            if now() >= deadline:
                break
        while state.graph.advance() and now() < deadline:
            pass
        self._runs.update(state)
        self._append_cache_rows(state.take_cache_rows(self.now_s()), state.metric_name)
        sealed = state.seal()
        if sealed or (was_over and came):
            # It may have ended while it was folded: its counts are read again only if it changes.
            self._runs.touch(state.run.run)
        if sealed:
            self._active.remove(state)
            self._runs.ended(state)
            return False
        return waiting > 0 or state.graph.is_being_counted or state.owes_cache_rows

    def _append_cache_rows(self, rows: CacheRows, metric: str | None) -> None:
        if metric is not None and len(rows):
            self.metrics[int(rows.run[0])] = metric
        self.held.append(rows)

    def pull_all(self) -> None:
        while self.pull(0.1):
            pass

    @property
    def max_tasks(self) -> int:
        """How many tasks are kept at most."""
        return self.tasks.max_rows

    @max_tasks.setter
    def max_tasks(self, value: int) -> None:
        self.tasks.max_rows = _checked(value)

    @property
    def cursor(self) -> int:
        """How many tasks have ever been folded in; it never goes back."""
        return self.tasks.cursor

    @property
    def dropped(self) -> int:
        """How many of them were dropped, always the oldest."""
        return self.tasks.dropped

    def dropped_of(self, first_run: int, last_run: int | None) -> int:
        with self._lock:
            return sum(s.counts.n_ended - s.rows_held for s in self._runs.window(first_run, last_run))

    def lanes_of(self, first_run: int, last_run: int | None) -> frozenset[int]:
        with self._lock:
            return frozenset().union(*(s.counts.lanes for s in self._runs.window(first_run, last_run)))

    @property
    def groups(self) -> Sequence[Group]:
        """All groups by first appearance; an element's place is its id."""
        return self._groups.groups

    @property
    def lanes(self) -> Sequence[Lane]:
        """All lanes by first appearance; an element's place is its id."""
        return self._lanes.lanes

    @property
    def messages(self) -> list[Message]:
        """Messages to the user, oldest first."""
        return self.messages_log.messages()

    @property
    def version(self) -> int:
        """A number that grows whenever a run starts, ends or changes."""
        return self._runs.version

    @property
    def next_run(self) -> int:
        """The number that the next run will get, at the earliest."""
        with self._lock:
            return max([self._runs.next_run, *(log.run + 1 for log in list(self._arrived))])

    def open_window(self) -> int:
        """Return the number that the next run will get, at the earliest.

        Where the oldest runs are added up, those before it are not added to it until `close_window`.
        """
        with self._lock:
            first_run = self.next_run
            self._runs.open_window(first_run)
            return first_run

    def close_window(self, first_run: int) -> None:
        with self._lock:
            self._runs.close_window(first_run)

    def now_s(self) -> float:
        return self.seconds(self.clock.perf_counter())

    def seconds(self, moment: float) -> float:
        """Return a moment on the clock's axis as seconds after this recorder's zero, as it is recorded."""
        return whole_ticks(moment - self.origin)

    def going(self) -> list[RunLog]:
        """Return the logs of the computes that go on; safe from any thread."""
        return [log for log in self._logs() if log.stop is None]

    def _logs(self) -> list[RunLog]:
        """Return the logs of the runs that are admitted and not folded to their end; safe from any thread."""
        return [state.log for state in list(self._active) if state.log is not None]

    def is_computing(self) -> bool:
        """Whether a compute goes on now; once it has ended, its tasks may still have to be folded."""
        return any(log.stop is None for log in [*list(self._arrived), *self._logs()])

    def is_active(self) -> bool:
        """Whether a compute is running, or one that is over has tasks still running or not folded."""
        return bool(self._arrived or self._active)

    def tasks_since(self, cursor: int, limit: int) -> tuple[int, TaskBlock]:
        """Return up to `limit` tasks from row `cursor` on, and the number of the first one.

        That number is greater than `cursor` when rows in between were dropped.
        """
        with self._lock:
            first, parts = self.tasks.parts_since(cursor, limit)
            return first, join_rows([(block, self._runs[block.run].graph) for block in parts])

    def read_tasks(self, reader: Reader[RowBlock], *, has_keys: bool) -> tuple[int, list[NewTasks]]:
        """Return the number of the reader's next task, and tasks from it on, by block."""
        with self._lock:
            first, blocks = reader.parts()
            return first, [self._new_tasks(block, has_keys=has_keys) for block in blocks]

    def _new_tasks(self, block: RowBlock, *, has_keys: bool) -> NewTasks:
        graph = self._runs[block.run].graph
        errors = {}
        if graph.errors:
            failed = block.task[np.isin(block.task, list(graph.errors))]
            errors = {task: graph.errors[task] for task in failed.tolist()}
        group, keys = graph.identify(block.task) if has_keys else (None, None)
        return NewTasks(block, errors, group, keys)

    def run_numbers(self, first_run: int) -> list[int]:
        """Return the numbers of the runs from `first_run` on."""
        with self._lock:
            return [state.run.run for state in self._runs.window(first_run, None) if state.run.n_runs == 1]

    def graph_part(
        self, run: int, at: GraphPlace, limit: int
    ) -> tuple[GraphPart | None, tuple[int, int], bool]:
        """Return the next part of a graph, how many keys are met and linked, and whether the run is over."""
        with self._lock:
            state = self._runs.get(run)
            if state is None:
                return None, (0, 0), True
            return state.graph.part(at, limit), state.graph.reached, state.log is None

    def follow_results(self, first_run: int) -> deque[ResultEvent]:
        """Return a queue of results of the runs from `first_run` on, until `leave_results`."""
        with self._lock:
            queue = self.landings.follow(first_run)
            states = self._runs.window(first_run, None)
            queue.extendleft(event for state in states for event in state.graph.landed())
            return queue

    def leave_results(self, queue: deque[ResultEvent]) -> None:
        self.landings.leave(queue)

    def in_flight(self, first_run: int, limit: int) -> list[RowBlock]:
        """Return the tasks in flight of runs from `first_run` on, up to `limit` of each, stopping now."""
        with self._lock:
            return self._in_flight(self._runs.window(first_run, None), self.now_s(), limit)

    def links(self, row: int, limit: int) -> TaskLinks | None:
        """Return up to `limit` dependencies and as many dependents of a task; None if it was dropped."""
        with self._lock:
            at = self.tasks.task_at(row)
            if at is None:
                return None
            run, task = at
            return links_of(self._runs[run], task, self.tasks, self._groups.groups, limit)

    def rows_of(self, run: int, tasks: NDArray[np.int32]) -> dict[int, int]:
        """Return the rows of these tasks of a run by their numbers, without those that were dropped."""
        with self._lock:
            return self.tasks.rows_of(run, tasks)

    def runs_since(self, version: int) -> tuple[int, list[Run]]:
        """Return the newest version and the runs that are new or changed since `version`, oldest first."""
        with self._lock:
            return self._runs.version, self._runs.since(version)

    def running(self) -> list[RunningTask]:
        """Return the tasks in flight, at most 1,000, longest running first."""
        with self._lock:
            return tasks_in_flight(list(self._active), self._lanes)

    def graph_shape(self, run: int) -> GraphShape | None:
        """Return the shape of the graph of a run that goes on; None before all of it was seen."""
        with self._lock:
            state = self._runs.get(run)
            builder = None if state is None else state.graph.builder
            return None if builder is None else builder.graph_shape()

    def ended(self, run: int) -> NDArray[np.int32] | None:
        """Return the numbers of a run's tasks that ended or do not have to run; None if some were dropped."""
        with self._lock:
            state = self._runs.get(run)
            blocks = [block.task for block in self.tasks.of_runs({run})]
            if state is None or sum(map(len, blocks)) < state.counts.n_ended:
                return None
            return np.concatenate([*blocks, state.graph.needs()[0]])

    def progress(self, first_run: int = 0, last_run: int | None = None) -> list[PrefixProgress]:
        """Return how far each prefix of each run in the window is, in order of appearance."""
        with self._lock:
            rows = []
            for state in self._runs.window(first_run, last_run):
                in_flight = state.count_in_flight() if isinstance(state, RunState) else {}
                rows += prefix_progress(state, self._groups.groups, in_flight)
            return rows

    def runs(self, first_run: int = 0, last_run: int | None = None) -> list[Run]:
        with self._lock:
            self._admit()
            states = self._runs.window(first_run, last_run)
            return [s.describe() if isinstance(s, RunState) else s.run for s in states]

    def snapshot(
        self,
        first_run: int = 0,
        last_run: int | None = None,
        *,
        start_s: float = 0.0,
        stop_s: float | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> RecordedData:
        """Return the recording of these runs, both included and by default up to the last."""
        with self._lock:
            self.pull_all()
            cursor = self.tasks.cursor
            running = self._in_flight(self._runs.window(first_run, last_run), self.now_s())
            # A task that ends between two reads is in flight in the first one and a row in the second.
            self.pull_all()
            states = self._runs.window(first_run, last_run)
            runs, (graphs, n_ended) = tuple(s.run for s in states), _graphs(states)
            numbers = {run.run for run in runs}
            blocks = self.tasks.of_runs(graphs)
            held = sum(map(len, blocks))
            now_s = self.now_s()
            in_flight = without_ended(running, self.tasks.parts_since(cursor, sys.maxsize)[1], now_s)
            until_s = math.inf if stop_s is None else stop_s
            events: dict[str, Any] = {
                name: log.between(numbers, start_s, until_s) for name, log in self.events.items()
            }
            started_at = self.date(start_s)
            return RecordedData(
                started_at=started_at,
                zero_s=start_s,
                runs=runs,
                groups=tuple(self._groups.groups),
                lanes=tuple(self._lanes.lanes),
                blocks=(*blocks, *in_flight),
                graphs=graphs,
                resources=self._samples_of(start_s, last_run, until_s),
                messages=tuple(self.messages_log.messages(start_s, until_s)),
                now_s=now_s,
                dropped=n_ended - held,
                metadata=dict(metadata or {}),
                stacks=with_waits(self.stacks.between(first_run, last_run), started_at),
                activities=self.activities.columns(graphs.keys()),
                transfers=self.activities.transfers(start_s, stop_s),
                holdings=self._cache_rows_between(first_run, last_run, until_s),
                workers=self.workers.between(numbers, start_s, until_s),
                metrics=self.metered.between(first_run, last_run),
                measured_lines=self.measured_lines.between(first_run, last_run),
                peak_lines=self.peak_lines.between(first_run, last_run),
                **events,
            )

    def _in_flight(self, states: Sequence[AnyRun], now_s: float, limit: int | None = None) -> list[RowBlock]:
        going = (s for s in states if isinstance(s, RunState))
        return [b for s in going if (b := s.in_flight(now_s, self._lanes.id, limit)) is not None]

    def samples_since(self, start_s: float) -> ResourceRows:
        """Return the samples from this time on; a session has many that are older."""
        blocks = (rows for _, rows in self.resources.blocks() if len(rows) and rows.time[-1] >= start_s)
        rows = self.resources.joined([*blocks])
        return rows.part(rows.time >= start_s)

    def _samples_of(self, start_s: float, last_run: int | None, until_s: float) -> ResourceRows:
        # The last sample of a compute is taken right after its end, and none between computes.
        later = [] if last_run is None else self._runs.window(last_run + 1, None)
        next_s = min(
            (state.run.start_s for state in later), default=until_s if last_run is None else math.inf
        )
        rows = self.samples_since(start_s)
        return rows.part((rows.time <= until_s) | (rows.time < next_s))

    def _cache_rows_between(self, first_run: int, last_run: int | None, until_s: float) -> CacheRows:
        rows = self.holdings.rows()
        last = math.inf if last_run is None else last_run
        return rows.part((rows.run >= first_run) & (rows.run <= last) & (rows.time <= until_s))

    def clear(self) -> None:
        """Drop all rows and all ended runs; ids and the cursor continue. Idempotent."""
        with self._lock:
            self._active = [state for state in self._active if not state.discard()]
        if self.is_active() or not self._polls.is_empty():
            self.pull_all()
        with self._lock:
            self.tasks.clear()
            self.held.clear()
            self.metrics.clear()
            self.holdings.clear()
            self.activities.clear()
            self.workers.clear()
            for log in self.events.values():
                log.clear()
            self.metered.clear()
            self.stacks.clear()
            self.measured_lines.clear()
            self.peak_lines.clear()
            self._runs.clear()


def _graphs(states: Sequence[AnyRun]) -> tuple[dict[int, GraphColumns], int]:
    """Return the graphs of runs, and how many tasks of all have ended."""
    graphs, n_ended = {}, 0
    for state in states:
        n_ended += state.counts.n_ended
        columns = state.graph.columns()
        if columns is not None:
            graphs[state.run.run] = columns
    return graphs, n_ended


def _checked(max_tasks: int) -> int:
    if type(max_tasks) is not int or max_tasks < 1:
        raise OptionError(f"max_tasks must be a positive whole number of tasks, got {max_tasks!r}")
    return max_tasks
