"""One run on the reader's side, and its progress."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from taskscope.model.clock import whole_ticks
from taskscope.model.keys import key_text
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import (
    NOT_HELD,
    SKIPPED,
    Neighbour,
    RowBlock,
    TaskLinks,
    cut_links,
    distinct,
    round_down_f4,
    stored_measures,
)
from taskscope.model.tables.records import (
    BEFORE,
    IN_THREADS,
    INTERRUPTED,
    RUNNING,
    Group,
    PrefixProgress,
    Run,
    RunningTask,
    RunStatus,
    join_flags,
    join_progress,
)
from taskscope.record.tables.activities import ActivityLog
from taskscope.record.tables.cache_usage import Occupancy, metric_name
from taskscope.record.tables.groups import GroupSums, GroupTable, LaneTable, sum_by_group
from taskscope.record.tables.log import TaskLog
from taskscope.record.writers.graph import (
    GraphBuilder,
    GraphSource,
    LandingLog,
    ResultEvent,
    RunGraph,
    joined_sources,
)
from taskscope.record.writers.runlog import (
    MAX_ROWS,
    LaneBuffer,
    LaneKey,
    RunLog,
    TakenRows,
    UnknownLanes,
    n_takes,
    take,
)

_MAX_WAITING = 20_000
_MAX_ADJUSTED = 5_000
"""Most keys of each kind that are taken at a time."""


_Adjustments: TypeAlias = tuple[list[object], list[object]]
"""What a log has of tasks that need not run and of superseded ones, flat."""


class RunCounts:
    """How many tasks of runs ended and how, and adjustments of these counts, by group id."""

    def __init__(self) -> None:
        self.ended: dict[int, GroupSums] = defaultdict(GroupSums.zero)
        """Sums over the folded rows."""
        self.lanes: set[int] = set()
        """Ids of the lanes that tasks ended in."""
        self.skipped: Counter[int] = Counter()
        """How many tasks do not have to run, as a cluster has their results, or those of their dependents."""
        self.released: Counter[int] = Counter()
        """How many tasks were released before they ran."""
        self.superseded: Counter[tuple[int, int]] = Counter()
        """How many rows of a group and status count no more: the task has another, or is in flight."""

    @property
    def n_ended(self) -> int:
        """How many tasks ended, also those whose rows were dropped."""
        return sum(sum(sums.counts) for sums in self.ended.values())

    @staticmethod
    def slices_waiting(log: RunLog) -> float:
        """Return how often `take` must be called to take all that were appended before."""
        return max(len(log.needs), len(log.superseded)) / (2 * _MAX_ADJUSTED)

    @staticmethod
    def take(log: RunLog) -> _Adjustments:
        return take(log.needs, 2, _MAX_ADJUSTED), take(log.superseded, 2, _MAX_ADJUSTED)

    def fold(
        self, pending: _Adjustments, builder: GraphBuilder
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]] | None:
        """Count the adjustments; return whether tasks have to run, where that is new, else None."""
        needs, superseded = pending
        groups = builder.groups(builder.numbers(superseded[::2])).tolist()
        for group, status in zip(groups, superseded[1::2], strict=True):
            self.superseded[group, cast("int", status)] += 1
        if not needs:
            return None
        tasks, before, after = builder.set_needs(builder.numbers(needs[::2]), np.array(needs[1::2], np.uint8))
        groups = builder.groups(tasks).tolist()
        for counts, need in ((self.skipped, SKIPPED), (self.released, NOT_HELD)):
            for group, was, now in zip(
                groups, (before == need).tolist(), (after == need).tolist(), strict=True
            ):
                counts[group] += now - was
        return (tasks, after) if len(tasks) else None


class Counted(Protocol):
    """What progress is made of: a run, or many that are added up."""

    @property
    def run(self) -> Run: ...

    @property
    def log(self) -> RunLog | None: ...

    @property
    def counts(self) -> RunCounts: ...

    @property
    def graph(self) -> RunGraph: ...


def prefix_progress(
    state: Counted, groups: Sequence[Group], in_flight: Mapping[int, int]
) -> list[PrefixProgress]:
    """Return one row per prefix of this run, in the order in which they began to run."""
    ordered = join_progress(_by_group(state, groups, in_flight))
    log = state.log
    if log is None or log.stop is not None or not log.scheduled:
        return ordered
    scheduled = log.scheduled
    # Tasks that ended after the scheduler's answer no longer wait.
    return [replace(row, scheduled=scheduled.get(row.prefix) if row.ahead else None) for row in ordered]


def _by_group(
    state: Counted, groups: Sequence[Group], in_flight: Mapping[int, int]
) -> Iterator[PrefixProgress]:
    run, off, graph = state.run.run, state.counts, state.graph
    planned_groups = {group for group, n in graph.totals.items() if n > 0}
    for group in sorted(planned_groups | set(off.ended) | set(in_flight)):
        ended = off.ended.get(group) or GroupSums.zero()
        # A row may be replaced before it was folded itself.
        counts = [max(n - off.superseded[group, status], 0) for status, n in enumerate(ended.counts)]
        again = sum(ended.counts) - sum(counts)
        counts[RUNNING] = in_flight.get(group, 0)
        yield PrefixProgress.of_counts(
            run,
            groups[group].prefix,
            counts,
            planned=graph.totals[group] - off.skipped[group],
            # While a large graph is still being counted, a prefix has at least the tasks seen of it.
            is_counted=graph.is_counted,
            duration_s=ended.duration_s,
            skipped=off.skipped[group],
            released=off.released[group],
            again=again,
            first_s=ended.first_s,
        )


_MAX_RUNNING = 1_000


def tasks_in_flight(states: Iterable[RunState], lanes: LaneTable) -> list[RunningTask]:
    """Return the tasks in flight, at most 1,000, longest running first, in seconds after the zero."""
    found = [task for state in states for task in state.running_tasks(lanes)]
    return sorted(found, key=lambda task: task.start_s)[:_MAX_RUNNING]


def without_ended(running: Sequence[RowBlock], ended: Sequence[RowBlock], now_s: float) -> list[RowBlock]:
    """Return the tasks in flight that are not among the rows of tasks that ended since, until `now_s`."""
    stops: dict[tuple[int, int], float] = {}
    for block in ended:
        for task, stop_s in zip(block.task.tolist(), (block.start + block.duration).tolist(), strict=True):
            stops[block.run, task] = stop_s
    found = []
    for block in running:
        stop_s = np.array([stops.get((block.run, task), -math.inf) for task in block.task.tolist()])
        left = block.part(stop_s <= block.start)
        if len(left):
            found.append(replace(left, duration=round_down_f4(np.maximum(now_s - left.start, 0.0))))
    return found


_MAX_LANDED = 20_000
_MIN_LOOKS = 5


def _lock_share(log: RunLog) -> float | None:
    """Return the share of samples in which the interpreter's lock was held; None where they are few."""
    n_looks, n_held = log.lock_looks
    return None if log.stop is None or n_looks < _MIN_LOOKS else n_held / n_looks


def _before(log: RunLog, origin: float) -> dict[str, Any]:
    """Return the times before the first task, as columns of `Run`."""
    known = {name: log.before.get(name) for name in BEFORE}
    received = known["received_s"]
    known["received_s"] = None if received is None else received - origin
    return {name: None if value is None else whole_ticks(value) for name, value in known.items()}


class RunState:
    """A run's columns and counts, as the reader has folded them."""

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
        self.counts = RunCounts()
        self.occupancy: Occupancy | None = None
        self.rows_held = 0
        """How many of the run's rows the store holds."""
        self._follow_held = follow_held
        self._landings = landings
        self._unknown = UnknownLanes()
        self._spans: dict[str, str | None] = {}
        """The spans that its groups are in, by names of groups."""
        self._functions: Mapping[object, str | None] = {}
        """The user's functions that tasks of its groups call, by names of groups."""
        self.run = self.describe()

    def running_tasks(self, lanes: LaneTable) -> Iterator[RunningTask]:
        """Yield the tasks in flight, at most 1,000."""
        log = self.log
        tasks = [] if log is None else [*log.in_flight(), *log.sent(_MAX_RUNNING)][:_MAX_RUNNING]
        ids = self._group_ids([key for _, key, _ in tasks])
        for (lane, key, start), group in zip(tasks, ids, strict=True):
            lane_id = None if lane is None else lanes.id(lane)
            yield RunningTask(self.run.run, lane_id, group, key_text(key), whole_ticks(start - self.origin))

    def count_in_flight(self) -> Counter[int]:
        """Return how many tasks of each group are in flight, by the group's id.

        On a cluster with very many tasks the number is from the last poll.
        """
        log = self.log
        if log is None:
            return Counter()
        seen = [key for _, key, _ in log.in_flight()]
        sent = log.sent_counts
        if not sent or len(log.submitted) <= _MAX_RUNNING:
            return Counter(self._group_ids([*seen, *log.running_keys()]))
        counts = Counter(self._group_ids(seen))
        for group, (_, n) in zip(self._group_ids([key for key, _ in sent]), sent, strict=True):
            counts[group] += n
        return counts

    def describe(self) -> Run:
        log = self.log
        if log is None:
            return self.run
        if log.shipped is not None:
            log.shipped.look()
        return Run(
            run=log.run,
            label=log.label,
            cell=log.cell,
            scheduler=log.scheduler,
            n_workers=log.n_workers,
            n_tasks=log.n_tasks,
            start_s=whole_ticks(log.start - self.origin),
            stop_s=None if log.stop is None else whole_ticks(log.stop - self.origin),
            status=cast("RunStatus", log.status),
            error=log.error,
            execution_count=log.execution_count,
            source_crc=log.source_crc,
            called_from=log.called_from,
            lock_share=_lock_share(log),
            graph_bytes=log.graph_bytes,
            array=log.array,
            largest_argument=None if log.argument is None else log.argument[0],
            largest_argument_bytes=None if log.argument is None else log.argument[1],
            **_before(log, self.origin),
        )

    def take_rows(self, lane_id: Callable[[LaneKey], int]) -> RowBlock | None:
        """Fold a bounded number of the rows that were appended since; None when there were none."""
        log, builder = self.log, self.graph.builder
        if log is None:
            return None
        if builder is None:
            if log.stop is not None:
                # Its graph is missing because of a fault: the groups of its rows will never be known.
                log.discard()
            return None
        rows = TakenRows(log)
        landed = take(log.landed, 2, _MAX_LANDED)
        taken = self.counts.take(log)
        self._grow(log, builder)
        self._take_landed(log, builder, landed)
        needs = self.counts.fold(taken, builder)
        if needs is not None:
            self._landings.append(ResultEvent(log.run, needs[0], needs=needs[1]))
        block = rows.block(builder.numbers, lane_id, self._unknown, self.origin)
        if block is None:
            return None
        errors = rows.errors()
        builder.errors.update(zip(builder.numbers(list(errors)).tolist(), errors.values(), strict=True))
        self.counts.lanes.update(distinct(block.lane).tolist())
        if self.occupancy is not None:
            self.occupancy.note_sizes(block.task, block.sizes())
        for group_id, sums in sum_by_group(block, builder.groups(block.task)):
            self.counts.ended[group_id].add(sums)
        return block

    def take_activities(self, lane_id: Callable[[LaneKey], int], into: ActivityLog) -> None:
        log, builder = self.log, self.graph.builder
        if log is None or builder is None or not log.activities:
            return
        activities = take(log.activities, 1)
        self._grow(log, builder)
        keys = [a.key for a in activities]
        tasks = builder.numbers(keys)
        lanes = [lane_id(a.lane) for a in activities]
        groups = builder.groups(tasks, keys)
        into.add(log.run, tasks, groups, lanes, activities, self.origin)

    @property
    def graph(self) -> RunGraph:
        """Its graph, once the source has it."""
        log = self.log
        if self._graph.builder is None and log is not None and log.graph_source is not None:
            grows = log.graph_source.grows
            self._spans.update(log.graph_source.spans)
            self._functions = log.graph_source.functions
            start = whole_ticks(log.start - self.origin)
            builder = self._graph.builder = GraphBuilder(log.graph_source, start, self._group_ids)
            log.graph_source = None
            if self._follow_held and not (grows or log.is_held_elsewhere):
                self.occupancy = Occupancy(log.run, builder, has_metric=log.metric is not None)
        return self._graph

    def _grow(self, log: RunLog, builder: GraphBuilder) -> None:
        # After rows and landings were taken: a key is announced before either.
        sources: list[GraphSource] = []
        for source in take(log.graph_growth, 1):
            if any(self._spans.get(name) != span for name, span in source.spans.items()):
                # Rows from before that were in the spans of their time.
                builder.grow(joined_sources(sources))
                builder.advance(builder.n_keys)
                self._spans.update(source.spans)
                sources = []
            sources.append(source)
        if sources:
            builder.grow(joined_sources(sources))

    def _group_ids(self, keys: Sequence[object]) -> list[int]:
        return self.groups.ids_in_run(keys, self._spans, self._functions)

    def _take_landed(self, log: RunLog, builder: GraphBuilder, landed: list[object]) -> None:
        if landed:
            tasks = builder.numbers(landed[::2])
            times = whole_ticks(np.array(landed[1::2], np.float64) - self.origin)
            builder.land(tasks, times)
            self._landings.append(ResultEvent(log.run, tasks, enter=times))
            if self.occupancy is not None:
                self.occupancy.note_landings(tasks, times)
        values = take(log.values, 2, _MAX_LANDED)
        if values:
            tasks, amounts = builder.numbers(values[::2]), np.array(values[1::2], np.float64)
            builder.measure(tasks, amounts)
            self._landings.append(ResultEvent(log.run, tasks, values=amounts))
            if self.occupancy is not None:
                self.occupancy.note_values(len(values) // 2)

    def in_flight(
        self, now_s: float, lane_id: Callable[[LaneKey], int], limit: int | None = None
    ) -> RowBlock | None:
        """Return the tasks in flight as rows that stop now, interrupted if the run is over, else running.

        At most `limit` of those without a known lane.
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
        start = whole_ticks(np.array([start for _, _, start in found], np.float64) - self.origin)
        return RowBlock(
            log.run,
            builder.numbers([key for _, key, _ in found]),
            start,
            round_down_f4(np.maximum(now_s - start, 0.0)),
            np.array([lane_id(lane) for lane, _, _ in found], np.uint16),
            join_flags({"status": RUNNING if log.stop is None else INTERRUPTED, "observed_by": unseen}),
            **stored_measures({}, n),
        )

    def slices_waiting(self) -> int:
        """Return how often `take_rows` must be called to fold all rows that were appended before."""
        log = self.log
        if log is None:
            return 0
        sizes = [
            len(log.landed) / (2 * _MAX_LANDED),
            self.counts.slices_waiting(log),
            len(log.values) / (2 * _MAX_LANDED),
            len(log.remote) / (RunLog.REMOTE_WIDTH * MAX_ROWS),
            n_takes(log.reported),
            len(log.failed) / MAX_ROWS,
            len(log.unseen) / MAX_ROWS,
            len(log.graph_growth) / MAX_ROWS,
            len(log.activities) / MAX_ROWS,
            *(len(lane) / (LaneBuffer.WIDTH * MAX_ROWS) for lane in list(log.lanes.values())),
        ]
        return math.ceil(max(sizes))

    def can_wait(self) -> bool:
        """Whether it runs in threads of this process, and has few rows that were not folded."""
        log = self.log
        if log is None or log.stop is not None or log.scheduler not in IN_THREADS:
            return False
        return sum(map(len, list(log.lanes.values()))) < LaneBuffer.WIDTH * _MAX_WAITING

    def take_cache_rows(self, now_s: float) -> CacheRows:
        """Return the settled rows of cache usage; after the end, the last ones."""
        occupancy, log, builder = self.occupancy, self.log, self.graph.builder
        if occupancy is None or log is None or builder is None:
            return CacheRows.empty()
        over = self.over
        rows = occupancy.advance(now_s, over=over)
        if over and log.stop is not None and builder.complete and not occupancy.behind:
            self.occupancy = None
            rows = CacheRows.concat([rows, occupancy.close(whole_ticks(log.stop - self.origin))])
        return rows

    @property
    def metric_name(self) -> str | None:
        """The name of the user's cache metric; None without one."""
        return None if self.log is None or self.log.metric is None else metric_name(self.log.metric)

    @property
    def owes_cache_rows(self) -> bool:
        return self.occupancy is not None and self.over

    @property
    def over(self) -> bool:
        """Whether the compute has ended, none of its tasks is in flight, and all was folded."""
        log = self.log
        return log is None or (log.stop is not None and not log.in_flight() and not self.slices_waiting())

    def discard(self) -> bool:
        """Release the log, the key objects and unread rows if the run is over; return whether it is."""
        log = self.log
        if log is not None and (log.stop is None or log.in_flight()):
            return False
        self._graph = RunGraph(self.run.run)
        self.log = self.occupancy = None
        return True

    def seal(self) -> bool:
        """Release the log and the key objects once the run is over and all is folded; True when done."""
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


def links_of(state: Counted, task: int, tasks: TaskLog, groups: Sequence[Group], limit: int) -> TaskLinks:
    """Return up to `limit` dependencies and as many dependents of a run's task, in the graph's order."""

    def name(shown: NDArray[np.int32]) -> list[Neighbour]:
        rows = tasks.rows_of(state.run.run, shown)
        group_ids, keys = state.graph.identify(shown)
        texts = keys.to_text([groups[g].name for g in group_ids.tolist()])
        return [Neighbour(rows.get(n), text) for n, text in zip(shown.tolist(), texts, strict=True)]

    return cut_links(state.graph.neighbours(task), limit, name)
