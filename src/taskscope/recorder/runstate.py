"""One run on the reader's side: its log, its graph, and the counts that progress is made of."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import cast

import numpy as np

from taskscope.model.columns import SCHEDULER_OBSERVED, RowBlock, narrow_sizes, round_down_f4
from taskscope.model.held import HeldRows
from taskscope.model.records import INTERRUPTED, RUNNING, Run, RunStatus
from taskscope.recorder.activities import ActivityLog
from taskscope.recorder.appended import LaneBuffer, LaneKey
from taskscope.recorder.deductions import Deductions
from taskscope.recorder.fold import MAX_ROWS, take, take_rows
from taskscope.recorder.graph import GraphBuilder
from taskscope.recorder.graphsource import joined_sources
from taskscope.recorder.grouped import GroupSums, sum_by_group
from taskscope.recorder.landings import Landed, LandingLog
from taskscope.recorder.occupancy import Occupancy, metric_name
from taskscope.recorder.rungraph import RunGraph
from taskscope.recorder.runlog import RunLog
from taskscope.recorder.tables import GroupTable
from taskscope.recorder.unknown_lanes import UnknownLanes

__all__ = ["RunState"]

_MAX_LANDED = 20_000


class RunState:
    """What the reader knows of one run.

    Parameters
    ----------
    log
        Where the run's writers append.
    groups
        The recorder's group table.
    origin
        The recorder's zero on the clock's axis.
    follow_held
        Whether to tell what the scheduler holds while the run goes on.
    landings
        Gets what is folded of landings.
    """

    def __init__(
        self,
        log: RunLog,
        groups: GroupTable,
        origin: float,
        *,
        follow_held: bool = False,
        landings: LandingLog,
    ) -> None:
        self.log: RunLog | None = log
        self.groups = groups
        self.origin = origin
        self._graph = RunGraph(log.run)
        self.ended: dict[int, GroupSums] = defaultdict(GroupSums.zero)
        """Sums over the rows so far, by group id."""
        self.deductions = Deductions()
        """What to take off these, and off the graph's counts."""
        self.occupancy: Occupancy | None = None
        self.rows_held = 0
        """How many of the run's rows the store holds."""
        self._follow_held = follow_held
        self._landings = landings
        self._unknown = UnknownLanes()
        self.run = self.describe()

    @property
    def n_ended(self) -> int:
        """How many of its tasks came to an end, also those that are no longer held."""
        return sum(sum(sums.counts) for sums in self.ended.values())

    def describe(self) -> Run:
        """Return the run as it stands."""
        log = self.log
        if log is None:
            return self.run
        return Run(
            run=log.run,
            label=log.label,
            cell=log.cell,
            scheduler=log.scheduler,
            n_workers=log.n_workers,
            n_tasks=log.n_tasks,
            start_s=log.start - self.origin,
            stop_s=None if log.stop is None else log.stop - self.origin,
            status=cast("RunStatus", log.status),
            error=log.error,
            execution_count=log.execution_count,
            source_crc=log.source_crc,
        )

    def take_rows(self, lane_id: Callable[[LaneKey], int]) -> RowBlock | None:
        """Fold a bounded number of the rows that were appended since; None when there were none."""
        log, builder = self.log, self.graph.builder
        if log is None:
            return None
        if builder is None:
            if log.stop is not None:
                # A fault of ours kept the graph from us: what its rows are about will never be known.
                log.discard()
            return None
        raw = take_rows(log, lane_id, self._unknown)
        landed = take(log.landed, 2, _MAX_LANDED)
        told = self.deductions.take(log)
        self._grow(log, builder)
        self._take_landed(log, builder, landed)
        spared = self.deductions.fold(told, builder)
        if spared is not None:
            self._landings.append(Landed(log.run, spared[0], spared=spared[1]))
        if raw is None:
            return None
        tasks = builder.numbers(raw.keys)
        builder.errors.update({int(tasks[i]): text for i, text in raw.errors.items()})
        block = raw.to_block(log.run, tasks, self.origin)
        if self.occupancy is not None:
            self.occupancy.note_sizes(tasks, raw.size)
        for group_id, sums in sum_by_group(block, builder.groups(tasks, raw.keys)):
            self.ended[group_id].add(sums)
            self.groups.add(group_id, sums)
        return block

    def take_activities(self, lane_id: Callable[[LaneKey], int], into: ActivityLog) -> None:
        """Fold a bounded number of the activities that were appended since."""
        log, builder = self.log, self.graph.builder
        if log is None or builder is None or not (log.activities or log.activity_bytes):
            return
        n_told, n_activities = len(log.activity_bytes), len(log.activities)
        activities = take(log.activities, 1)
        # Bytes are told after their activity; those of one that has to wait wait with it.
        told = take(log.activity_bytes, 1, n_told) if len(activities) == n_activities else []
        self._grow(log, builder)
        if activities:
            keys = [a.key for a in activities]
            tasks = builder.numbers(keys)
            lanes = [lane_id(a.lane) for a in activities]
            groups = builder.groups(tasks, keys)
            into.add(log.run, tasks, groups, lanes, activities, self.origin)
        for token, nbytes in told:
            into.complete(token, nbytes)

    @property
    def graph(self) -> RunGraph:
        """Its graph, from when the source has told it."""
        log = self.log
        if self._graph.builder is None and log is not None and log.graph_source is not None:
            grows = log.graph_source.grows
            ids = self.groups.ids_of_others if log.is_of_others else self.groups.ids
            builder = self._graph.begin(log.graph_source, log.start - self.origin, ids)
            log.graph_source = None
            if self._follow_held and not (grows or log.is_held_elsewhere):
                self.occupancy = Occupancy(log.run, builder, has_metric=log.metric is not None)
        return self._graph

    def _grow(self, log: RunLog, builder: GraphBuilder) -> None:
        # After rows and landings were taken: a key is announced before either.
        sources = take(log.graph_growth, 1)
        if sources:
            builder.grow(joined_sources(sources))

    def _take_landed(self, log: RunLog, builder: GraphBuilder, landed: list[object]) -> None:
        if landed:
            tasks = builder.numbers(landed[::2])
            times = np.array(landed[1::2], np.float64) - self.origin
            builder.land(tasks, times)
            self._landings.append(Landed(log.run, tasks, enter=times))
            if self.occupancy is not None:
                self.occupancy.note_landings(tasks, times)
        values = take(log.values, 2, _MAX_LANDED)
        if values:
            tasks, amounts = builder.numbers(values[::2]), np.array(values[1::2], np.float64)
            builder.measure(tasks, amounts)
            self._landings.append(Landed(log.run, tasks, values=amounts))
            if self.occupancy is not None:
                self.occupancy.note_values(len(values) // 2)

    def in_flight(
        self, now_s: float, lane_id: Callable[[LaneKey], int], limit: int | None = None
    ) -> RowBlock | None:
        """Return the tasks in flight as rows that stop now, interrupted if the run is over, else running.

        Of those that taskscope cannot look at, at most `limit`.
        """
        log, builder = self.log, self.graph.builder
        if log is None or builder is None:
            return None
        found = log.in_flight()
        sent, unknown = log.sent(limit), self._unknown.copy()
        unseen = np.array([False] * len(found) + [lane is None for lane, _, _ in sent], bool)
        found += [
            (lane or unknown.place(start, math.inf, *log.sent_to.get(key, ())), key, start)
            for lane, key, start in sent
        ]
        if not found:
            return None
        self._grow(log, builder)
        n = len(found)
        start = np.array([start for _, _, start in found], np.float64) - self.origin
        return RowBlock(
            log.run,
            builder.numbers([key for _, key, _ in found]),
            start,
            round_down_f4(np.maximum(now_s - start, 0.0)),
            np.full(n, np.nan, np.float32),
            narrow_sizes(np.full(n, np.nan)),
            np.array([lane_id(lane) for lane, _, _ in found], np.uint16),
            ((RUNNING if log.stop is None else INTERRUPTED) | SCHEDULER_OBSERVED * unseen).astype(np.uint8),
        )

    def slices_waiting(self) -> int:
        """Return how often `take_rows` must be called to fold all that writers have appended so far."""
        log = self.log
        if log is None:
            return 0
        sizes = [
            len(log.landed) / (2 * _MAX_LANDED),
            self.deductions.slices_waiting(log),
            len(log.values) / (2 * _MAX_LANDED),
            len(log.remote) / (RunLog.REMOTE_WIDTH * MAX_ROWS),
            len(log.reported) / (RunLog.REPORTED_WIDTH * MAX_ROWS),
            len(log.failed) / MAX_ROWS,
            len(log.unseen) / MAX_ROWS,
            len(log.graph_growth) / MAX_ROWS,
            len(log.activities) / MAX_ROWS,
            len(log.activity_bytes) / MAX_ROWS,
            *(len(lane) / (LaneBuffer.WIDTH * MAX_ROWS) for lane in list(log.lanes.values())),
        ]
        return math.ceil(max(sizes))

    def take_held(self, now_s: float) -> HeldRows:
        """Return the rows of what the scheduler held that are settled by now; with the end, the last ones."""
        occupancy, log, builder = self.occupancy, self.log, self.graph.builder
        if occupancy is None or log is None or builder is None:
            return HeldRows.empty()
        over = self.over
        rows = occupancy.advance(now_s, over=over)
        if over and log.stop is not None and builder.complete and not occupancy.behind:
            self.occupancy = None
            rows = HeldRows.concat([rows, occupancy.close(log.stop - self.origin)])
        return rows

    @property
    def metric_name(self) -> str | None:
        """The name of the user's cache metric; None without one."""
        return None if self.log is None or self.log.metric is None else metric_name(self.log.metric)

    @property
    def owes_held(self) -> bool:
        """Whether the run is over and not all of what was held has been told."""
        return self.occupancy is not None and self.over

    @property
    def over(self) -> bool:
        """Whether the compute has ended, none of its tasks is in flight, and all was folded."""
        log = self.log
        return log is None or (log.stop is not None and not log.in_flight() and not self.slices_waiting())

    def seal(self) -> bool:
        """Let go of the log and the key objects once the run is over and all is folded; True when done."""
        log = self.log
        if log is None:
            return True
        graph = self.graph
        if not self.over or graph.is_being_counted or self.occupancy is not None:
            return False
        self.run = self.describe()
        graph.seal()
        self.log = None
        return True
