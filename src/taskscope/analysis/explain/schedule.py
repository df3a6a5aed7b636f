"""One compute as it ran: its tasks in the order of their starts, and what each of them waited for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import UnknownNameError, unknown_name
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import GraphColumns, RowBlock, stored_measures
from taskscope.model.tables.records import Run, flag_codes

__all__ = [
    "BY_DEPENDENCY",
    "BY_LANE",
    "BY_NOTHING",
    "NONE",
    "Schedule",
    "own_runs",
    "saturated_ns",
    "schedule_of",
    "to_ns",
]

NONE = -1
"""Stands where there is no task."""

BY_NOTHING, BY_DEPENDENCY, BY_LANE = 0, 1, 2
"""What a task waited for last: nothing that is recorded, a task that it needs, the one before in its lane."""

_MAX_S = 4e9


def to_ns(seconds: NDArray[np.float64] | float) -> NDArray[np.int64]:
    """Return seconds as whole nanoseconds, in which sums are exact; those of a century at most."""
    known = np.nan_to_num(np.asarray(seconds, np.float64), nan=0.0)
    return np.rint(np.clip(known, -_MAX_S, _MAX_S) * 1e9).astype(np.int64)


def own_runs(recording: RecordedData, run: int | None) -> list[Run]:
    """Return the compute of this number, or all.

    Raises
    ------
    UnknownNameError
        If there is no such compute.
    """
    runs = list(recording.runs)
    if run is None:
        return runs
    if run not in [one.run for one in runs]:
        raise UnknownNameError(unknown_name("run", run, [str(one.run) for one in runs]))
    return [one for one in runs if one.run == run]


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """The tasks of one compute as equally long columns, the earliest first; times in nanoseconds.

    Times are after the zero of the recording, and within those of the compute. A task that ran several times
    is there as often, and needs of its dependencies the rows that had begun before it.
    """

    run: Run
    begin: int
    end: int
    row: NDArray[np.int64]
    """The row in the table of tasks."""
    task: NDArray[np.int32]
    """The number in the graph."""
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    lane: NDArray[np.int64]
    group: NDArray[np.uint32]
    cpu_s: NDArray[np.float32]
    status: NDArray[np.uint8]
    n_needed: NDArray[np.int64]
    needed: NDArray[np.int64]
    """The places of what each task needs, `n_needed` for each in turn; all of them are before it."""
    is_partial: NDArray[np.bool_]
    """Whether of something that it needs nothing is recorded."""
    before: NDArray[np.int64]
    """The place of the task before in the lane, or `NONE`."""
    bound_to: NDArray[np.int64]
    """The place of the task that it waited for last, or `NONE`."""
    bound_by: NDArray[np.uint8]
    n_missing: int
    """Tasks of the compute of which there is no row."""
    is_graph_known: bool

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.row)

    def lags(self) -> NDArray[np.int64]:
        """Return how long after what it waited for each task began; of the others after the first one did."""
        first = self.start[0] if len(self) else self.begin
        since = np.where(self.bound_to == NONE, first, self.stop[self.bound_to])
        return np.maximum(self.start - since, 0)


def schedule_of(recording: RecordedData, run: Run) -> Schedule:
    """Return a compute as it ran."""
    begin = int(to_ns(run.asked_s - recording.zero_s))
    stop_s = recording.now_s if run.stop_s is None else run.stop_s
    end = max(int(to_ns(stop_s - recording.zero_s)), begin)
    graph = recording.graphs.get(run.run)
    firsts = np.cumsum([0, *(len(block) for block in recording.blocks)])
    mine = [(block, int(first)) for block, first in zip(recording.blocks, firsts, strict=False)]
    mine = [(block, first) for block, first in mine if block.run == run.run and graph is not None]
    rows = _joined([block for block, _ in mine], run.run)
    row = np.concatenate([np.empty(0, np.int64), *(first + np.arange(len(block)) for block, first in mine)])
    start = np.clip(to_ns(rows.start - recording.zero_s), begin, end)
    stop = np.clip(to_ns(rows.start - recording.zero_s + rows.duration), start, end)
    order = np.lexsort((stop, start))
    task, start, stop = rows.task[order], start[order], stop[order]
    lane = rows.lane[order].astype(np.int64)
    n_needed, needed, is_partial = _needs(graph, task)
    before = _before(lane)
    bound_to, bound_by = _bound(start, stop, n_needed, needed, before)
    return Schedule(
        run=run,
        begin=begin,
        end=end,
        row=row[order],
        task=task,
        start=start,
        stop=stop,
        lane=lane,
        group=np.empty(0, np.uint32) if graph is None else graph.group[task],
        cpu_s=rows.cpu_s[order],
        status=flag_codes(rows.flags, "status")[order],
        n_needed=n_needed,
        needed=needed,
        is_partial=is_partial,
        before=before,
        bound_to=bound_to,
        bound_by=bound_by,
        n_missing=max(run.n_tasks - int(np.count_nonzero(np.bincount(task))), 0),
        is_graph_known=graph is not None and graph.known,
    )


def _joined(blocks: list[RowBlock], run: int) -> RowBlock:
    if blocks:
        return RowBlock.concat(blocks)
    nothing = np.empty(0)
    return RowBlock(
        run,
        nothing.astype("i4"),
        nothing,
        nothing.astype("f4"),
        nothing.astype("u2"),
        nothing.astype("u1"),
        **stored_measures({}, 0),
    )


def _needs(
    graph: GraphColumns | None, task: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return how many places each task needs, these places, and whether of some there is no row."""
    n = len(task)
    if graph is None or not n or not len(graph.edges):
        return np.zeros(n, np.int64), np.empty(0, np.int64), np.zeros(n, bool)
    counts = graph.n_dependencies.astype(np.int64)
    first = np.cumsum(counts) - counts
    mine = counts[task]
    by = np.repeat(np.arange(n), mine)
    places = np.arange(len(by)) + np.repeat(first[task] - np.cumsum(mine) + mine, mine)
    key = graph.edges[places]
    found = _rows_before(task, key, by, len(counts))
    is_here = np.zeros(len(counts), bool)
    is_here[task] = True
    is_here[graph.data] = True
    is_here[graph.skipped] = True
    is_partial = np.zeros(n, bool)
    is_partial[by[~is_here[key]]] = True
    # What began after it, by the clocks of a cluster or in a crafted file, cannot be what it waited for.
    kept = (found != NONE) & (found < by)
    return np.bincount(by[kept], minlength=n), found[kept], is_partial


def _rows_before(
    task: NDArray[np.int32], key: NDArray[np.int32], by: NDArray[np.int64], n_keys: int
) -> NDArray[np.int64]:
    """Return for each pair of a key and a place the last place before it that is of the key, or `NONE`."""
    place = np.full(n_keys, NONE)
    n = len(task)
    if np.bincount(task, minlength=1).max() <= 1:
        place[task] = np.arange(n)
        return place[key]
    pairs = np.sort(task.astype(np.int64) * n + np.arange(n))
    at = np.searchsorted(pairs, key.astype(np.int64) * n + by) - 1
    found = pairs[np.maximum(at, 0)]
    return np.where((at >= 0) & (found // n == key), found % n, NONE)


def _before(lane: NDArray[np.int64]) -> NDArray[np.int64]:
    order = np.argsort(lane, kind="stable")
    before = np.full(len(lane), NONE)
    is_same = lane[order][1:] == lane[order][:-1]
    before[order[1:][is_same]] = order[:-1][is_same]
    return before


def _bound(
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    n_needed: NDArray[np.int64],
    needed: NDArray[np.int64],
    before: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    by_stop = np.argsort(stop, kind="stable")
    rank = np.empty(len(stop), np.int64)
    rank[by_stop] = np.arange(len(stop))
    last = np.full(len(stop), NONE)
    has = np.flatnonzero(n_needed)
    if len(has):
        firsts = (np.cumsum(n_needed) - n_needed)[has]
        last[has] = by_stop[np.maximum.reduceat(rank[needed], firsts)]
    never = np.iinfo(np.int64).min
    needed_until = np.where(last == NONE, never, np.minimum(stop[last], start))
    lane_until = np.where(before == NONE, never, np.minimum(stop[before], start))
    by = np.where(needed_until >= lane_until, BY_DEPENDENCY, BY_LANE)
    to = np.where(by == BY_DEPENDENCY, last, before)
    return to, np.where(to == NONE, BY_NOTHING, by).astype(np.uint8)


def saturated_ns(schedule: Schedule, since: NDArray[np.int64], until: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for how much of each time all workers were busy."""
    n_workers = schedule.run.n_workers
    if not n_workers or not len(schedule):
        return np.zeros(len(since), np.int64)
    times = np.concatenate((schedule.start, schedule.stop))
    order = np.argsort(times, kind="stable")
    times = times[order]
    n_busy = np.cumsum(np.repeat((1, -1), len(schedule))[order])
    spans = np.where(n_busy[:-1] >= n_workers, np.diff(times), 0)
    so_far = np.concatenate(([0], np.cumsum(spans)))
    return (np.interp(until, times, so_far) - np.interp(since, times, so_far)).astype(np.int64)
