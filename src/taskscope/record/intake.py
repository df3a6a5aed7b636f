"""The way of what writers append into columns, run by run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from taskscope.model.clock import Clock, whole_ticks
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.record.run import RunState, RunTable
from taskscope.record.tables.activities import ActivityLog
from taskscope.record.tables.cache_usage import HoldingLog
from taskscope.record.tables.groups import GroupTable, LaneTable
from taskscope.record.tables.log import Log, TaskLog, count_by_run
from taskscope.record.writers.graph import LandingLog
from taskscope.record.writers.runlog import RunLog

_MAX_RUNS = 10_000


class Intake:
    """Adds started runs to the recorder in their order, and appends the new rows of running ones."""

    def __init__(
        self,
        clock: Clock,
        origin: float,
        *,
        runs: RunTable,
        tasks: TaskLog,
        groups: GroupTable,
        lanes: LaneTable,
        activities: ActivityLog,
        holdings: Log[CacheRows],
        append_held: Callable[[CacheRows, str | None], None],
        follows_held: Callable[[], bool],
    ) -> None:
        self._clock = clock
        self._origin = origin
        self._runs = runs
        self._tasks = tasks
        self._groups = groups
        self._lanes = lanes
        self._activities = activities
        self._holdings = holdings
        self._append_cache_rows = append_held
        self._follows_held = follows_held
        self.landings = LandingLog()
        self.looks = HoldingLog()
        """Results in workers' memory, by poll of a cluster."""
        self._arrived: deque[RunLog] = deque()
        self._active: list[RunState] = []

    def put(self, log: RunLog) -> None:
        """Add a starting run to the queue; safe from any thread."""
        self._arrived.append(log)

    @property
    def next_run(self) -> int:
        """The number of the run after those that wait to be admitted; 0 if there are none."""
        return max((log.run for log in list(self._arrived)), default=-1) + 1

    def going(self) -> list[RunLog]:
        """Return the logs of the runs that were let in and go on; safe from any thread."""
        return [state.log for state in list(self._active) if state.log is not None]

    def is_computing(self) -> bool:
        """Whether a compute goes on, let in or not; safe from any thread."""
        return any(log.stop is None for log in [*list(self._arrived), *self.going()])

    def is_empty(self) -> bool:
        """Whether every run is over and folded; safe from any thread."""
        return not (self._arrived or self._active)

    def is_folded(self) -> bool:
        """Whether nothing waits to be folded; safe from any thread."""
        return self.is_empty() and self.looks.is_empty()

    def admit(self) -> None:
        """Add the started runs; the oldest that are over make room."""
        while self._arrived:
            state = RunState(
                self._arrived.popleft(),
                self._groups,
                self._origin,
                follow_held=self._follows_held(),
                landings=self.landings,
            )
            self._active.append(state)
            self._runs.add(state)
        while len(self._runs) > _MAX_RUNS and self._runs.oldest().log is None:
            self._forget_oldest_run()

    def fold(self, deadline: float) -> bool:
        """Fold until `deadline`, on the clock's axis; return whether more is waiting."""
        more = False
        for state in list(self._active):
            more |= self._fold_run(state, deadline)
        self._fold_looks()
        return more

    def _forget_oldest_run(self) -> None:
        state = self._runs.oldest()
        while state.rows_held:
            self._runs.dropped(count_by_run(self._tasks.drop_oldest_block()))
        self._runs.forget(state.run.run)

    def _fold_run(self, state: RunState, deadline: float) -> bool:
        now: Callable[[], float] = self._clock.perf_counter
        # Rows before the graph: a person waits for them. Rows appended after this can wait.
        was_over, came = state.run.stop_s is not None, False
        waiting = state.slices_waiting()
        while waiting:
            block = state.take_rows(self._lanes.id)
            if block is not None:
                state.rows_held += len(block)
                gone = self._tasks.append(block)
                self._runs.dropped(count_by_run(gone))
                came = True
            state.take_activities(self._lanes.id, self._activities)
            waiting -= 1
            if now() >= deadline:
                break
        while state.graph.advance() and now() < deadline:
            pass
        self._runs.update(state)
        self._append_cache_rows(state.take_cache_rows(whole_ticks(now() - self._origin)), state.metric_name)
        sealed = state.seal()
        if sealed or (was_over and came):
            # It may have ended while it was folded: its counts are read again only if it changes.
            self._runs.touch(state.run.run)
        if sealed:
            self._active.remove(state)
            return False
        return waiting > 0 or state.graph.is_being_counted or state.owes_cache_rows

    def _fold_looks(self) -> None:
        for run, rows in self.looks.fold(self._groups):
            self._holdings.append(rows)
            self._append_cache_rows(rows, None)
            self._runs.touch_over(run)
