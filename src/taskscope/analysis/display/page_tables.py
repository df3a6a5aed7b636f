"""The tables of a recording for a page: few rows, ids that count from 0, times after its zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cache_usage import cache_metrics, cache_rows
from taskscope.analysis.cluster import seconds_by_prefix
from taskscope.analysis.totals import prefix_progress
from taskscope.codec import TICK_S
from taskscope.model.recording import RecordedData
from taskscope.model.tables.activities import ActivityRows
from taskscope.model.tables.cache_usage import CacheRows, TimeBins
from taskscope.model.tables.columns import Link, TaskLinks, cut_links
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import (
    RUNNING,
    Group,
    Lane,
    Message,
    PrefixProgress,
    Run,
    RunningTask,
    TaskBlock,
)
from taskscope.model.tables.workers import WorkerSample
from taskscope.wire import Batch, PageEncoder, Rows, batch_message, worker_tables

MAX_SAMPLES = 2_000
"""Samples sent of a recording, about 23 bytes each."""

_STRETCHES = 200


def thin_samples(samples: ResourceRows, limit: int = MAX_SAMPLES) -> ResourceRows:
    """Return at most about `limit` samples.

    Of each stretch the extremes of CPU and memory and the last sample stay, and so do the samples on both
    sides of every gap and break. A sample's CPU remains the mean of its own interval.
    """
    if len(samples) <= limit:
        return samples
    stretch = np.arange(len(samples)) * (limit // 5) // len(samples)
    starts = np.flatnonzero(np.diff(stretch, prepend=-1))
    broken = np.flatnonzero((samples.gap != 0) | np.isnan(samples.cpu_percent))
    kept = [starts, np.append(starts[1:], len(samples)) - 1, broken, np.maximum(broken - 1, 0)]
    for column in (np.nan_to_num(samples.cpu_percent, nan=-1.0), samples.rss_bytes, -samples.rss_bytes):
        order = np.lexsort((column, stretch))
        kept.append(order[np.append(starts[1:], len(samples)) - 1])
    return samples.part(np.unique(np.concatenate(kept)))


def few_cache_rows(recording: RecordedData) -> CacheRows:
    """Return cache usage in a few hundred stretches; times on the recorder's axis."""
    longest_s = max((_length_s(recording, run) for run in recording.runs), default=0.0)
    return cache_rows(recording, TimeBins(max(longest_s / _STRETCHES, 1e-6), _STRETCHES))


def _length_s(recording: RecordedData, run: Run) -> float:
    return (recording.now_s if run.stop_s is None else run.stop_s) - run.start_s


def whole_fact(recording: RecordedData, name: str) -> int | None:
    """Return a fact of the metadata that is a positive whole number; None where it is unknown."""
    value = recording.metadata.get(name)
    return value if type(value) is int and value > 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class RowEdges:
    """All dependencies between rows."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    other_needs: NDArray[np.int64]
    other_users: NDArray[np.int64]


class RowLinks:
    """Finds the neighbours of rows of the messages that `recorded_messages` makes of a recording."""

    def __init__(self, recording: RecordedData) -> None:
        tasks = recording.tasks
        order = row_order(tasks)
        ended = order[tasks.status[order] != RUNNING]
        self._recording = recording
        self._run = tasks.run[ended]
        self._task = np.concatenate([np.empty(0, np.int32), *(b.task for b in recording.blocks)])[ended]

    def of(self, row: int, limit: int) -> TaskLinks | None:
        """Return up to `limit` dependencies and as many dependents of a row, in the graph's order.

        None if there is no such row, or its graph is not known.
        """
        if row >= len(self._run):
            return None
        run = int(self._run[row])
        graph = self._recording.graphs[run]
        if not graph.known:
            return None
        row_of = np.full(len(graph.group), -1, np.int64)
        rows = np.flatnonzero(self._run == run)
        row_of[self._task[rows]] = rows

        def name(shown: NDArray[np.int32]) -> list[Link]:
            groups = [self._recording.groups[g].name for g in graph.group[shown].tolist()]
            texts = graph.keys.take(shown).iter_text(groups)
            ends = row_of[shown].tolist()
            return [Link(end if end >= 0 else None, text) for end, text in zip(ends, texts, strict=True)]

        return cut_links(graph.neighbours(int(self._task[row])), limit, name)

    def rows_of(self, run: int, tasks: NDArray[np.int32]) -> dict[int, int]:
        """Return the rows of these tasks of a compute by their numbers; tasks without a row are left out."""
        rows = np.flatnonzero(self._run == run)
        rows = rows[np.isin(self._task[rows], tasks)]
        return dict(zip(self._task[rows].tolist(), rows.tolist(), strict=True))

    def edges(self) -> RowEdges:
        """Return all dependencies."""
        other_needs = np.full(len(self._run), -1, np.int64)
        other_users = np.zeros(len(self._run), np.int64)
        sources, targets = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        by_run = np.argsort(self._run, kind="stable")
        for run, graph in self._recording.graphs.items():
            first, last = np.searchsorted(self._run, [run, run + 1], sorter=by_run)
            rows = by_run[first:last]
            if not graph.known or not len(rows):
                continue
            n_keys, tasks = len(graph.group), self._task[rows]
            row_of = np.full(n_keys, -1, np.int64)
            row_of[tasks] = rows
            needing = graph.edge_sources()
            source, target = row_of[needing], row_of[graph.edges]
            # Of a task that was computed twice, only the last row is the end of a link.
            last = row_of[tasks] == rows
            other_needs[rows[last]] = np.bincount(needing[target < 0], minlength=n_keys)[tasks[last]]
            other_users[rows[last]] = np.bincount(graph.edges[source < 0], minlength=n_keys)[tasks[last]]
            between = (source >= 0) & (target >= 0)
            sources.append(source[between])
            targets.append(target[between])
        source, target = np.concatenate(sources), np.concatenate(targets)
        order = np.lexsort((target, source))
        return RowEdges(source[order], target[order], other_needs, other_users)


MAX_ACTIVITIES = 50_000
"""Activities sent of a recording, about 27 bytes each before they are deflated: the longest ones."""

MAX_WORKER_SAMPLES = 20_000
"""About as many samples of workers are sent of a recording, 53 bytes each."""


def activity_groups(recording: RecordedData) -> NDArray[np.uint32]:
    """Return the group of the task of every activity."""
    rows = recording.activities.rows
    groups = np.zeros(len(rows), np.uint32)
    for run in np.unique(rows.run).tolist():
        mine = rows.run == run
        groups[mine] = recording.graphs[run].group[rows.task[mine]]
    return groups


def _longest(rows: ActivityRows) -> NDArray[np.int64]:
    """Return the places of the longest ones, in the order of their start."""
    longest = np.argsort(-rows.duration, kind="stable")[:MAX_ACTIVITIES]
    order: NDArray[np.int64] = longest[np.argsort(rows.start[longest], kind="stable")]
    return order


def thinned_note(recording: RecordedData, shown: int) -> str | None:
    """Return the note on samples of workers that are not shown; None where all are."""
    n = len(recording.workers)
    if shown == n:
        return None
    return (
        f"the chart of workers shows {shown:,} of {n:,} samples: of each worker and stretch of time the last "
        "and the one of most memory; the table `workers` has all"
    )


def few_samples(samples: Sequence[WorkerSample], limit: int = MAX_WORKER_SAMPLES) -> Sequence[WorkerSample]:
    """Return at most about `limit` samples: of each worker and stretch the last, and the one of most memory.

    The sample of a worker's end stays.
    """
    if len(samples) <= limit:
        return samples
    addresses = {sample.worker for sample in samples}
    n_stretches = max(limit // (2 * len(addresses)), 1)
    start_s, stop_s = samples[0].time_s, max(sample.time_s for sample in samples)
    stretch_s = max((stop_s - start_s) / n_stretches, 1e-9)
    last: dict[tuple[str, int], int] = {}
    most: dict[tuple[str, int], int] = {}
    gone = set()
    for place, sample in enumerate(samples):
        where = sample.worker, int((sample.time_s - start_s) / stretch_s)
        last[where] = place
        known = most.get(where)
        if known is None or (sample.rss_bytes or 0.0) > (samples[known].rss_bytes or 0.0):
            most[where] = place
        if not sample.n_threads:
            gone.add(place)
    return [samples[place] for place in sorted({*last.values(), *most.values(), *gone})]


@dataclass(frozen=True, slots=True)
class CompactTables:
    """Tables in which groups and lanes are numbered from 0, and times count from the recording's zero."""

    tasks: TaskBlock
    groups: list[Group]
    lanes: list[Lane]
    runs: list[Run]
    messages: list[Message]
    running: list[RunningTask]
    progress: list[PrefixProgress]
    held: CacheRows
    activities: ActivityRows
    workers: Sequence[WorkerSample]


def compact_tables(recording: RecordedData) -> CompactTables:
    """Return the tables of this recording, tasks sorted by their start."""
    tasks = recording.tasks
    tasks = take_rows(tasks, row_order(tasks))
    held = few_cache_rows(recording)
    # Data and transferred keys may have no tasks.
    of_activities = activity_groups(recording)
    progress = prefix_progress(recording)
    group_ids = np.unique(np.concatenate((tasks.group, held.group, of_activities)))
    group_ids = np.union1d(group_ids, _groups_of_others(recording, group_ids, progress))
    groups = [recording.groups[i] for i in group_ids.tolist()]
    lane_ids = np.union1d(tasks.lane, recording.activities.rows.lane)
    zero = recording.zero_s
    tasks = replace(
        tasks,
        group=np.searchsorted(group_ids, tasks.group).astype(np.uint32),
        lane=np.searchsorted(lane_ids, tasks.lane).astype(np.uint16),
    )
    in_flight = tasks.status == RUNNING
    kept = _longest(recording.activities.rows)
    activities = recording.activities.rows.part(kept)
    workers = [replace(s, time_s=s.time_s - zero) for s in few_samples(recording.workers)]
    return CompactTables(
        tasks=take_rows(tasks, np.flatnonzero(~in_flight)),
        running=_running(take_rows(tasks, np.flatnonzero(in_flight)), groups),
        groups=[replace(group, id=i) for i, group in enumerate(groups)],
        lanes=[replace(recording.lanes[n], id=i) for i, n in enumerate(lane_ids.tolist())],
        runs=[
            replace(run, start_s=run.start_s - zero, stop_s=None if run.stop_s is None else run.stop_s - zero)
            for run in recording.runs
        ],
        progress=[
            replace(row, first_s=None if row.first_s is None else row.first_s - zero) for row in progress
        ],
        messages=[replace(m, time_s=m.time_s - zero) for m in recording.messages]
        + _thinned(recording, len(workers)),
        held=replace(
            held, group=np.searchsorted(group_ids, held.group).astype(np.uint32), time=held.time - zero
        ),
        activities=replace(
            activities,
            lane=np.searchsorted(lane_ids, activities.lane).astype(np.uint16),
            start=activities.start - zero,
            group=np.searchsorted(group_ids, of_activities[kept]).astype(np.uint32),
        ),
        workers=workers,
    )


def _groups_of_others(
    recording: RecordedData, group_ids: NDArray[np.uint32], progress: Sequence[PrefixProgress]
) -> NDArray[np.uint32]:
    """Return a group of each prefix that is in no other table: its tasks never ran, but it has a colour."""
    known = {recording.groups[i].prefix for i in group_ids.tolist()}
    missing = {row.prefix for row in progress} - known
    first = {group.prefix: i for i, group in reversed(list(enumerate(recording.groups)))}
    return np.array(sorted(first[prefix] for prefix in missing), np.uint32)


def _thinned(recording: RecordedData, n_shown: int) -> list[Message]:
    note = thinned_note(recording, n_shown)
    return [] if note is None else [Message(recording.now_s - recording.zero_s, "info", note)]


def row_order(tasks: TaskBlock) -> NDArray[np.int64]:
    """Return the order of rows in which tables are compact: by their start."""
    return np.lexsort((tasks.stop, tasks.start))


def _running(tasks: TaskBlock, groups: list[Group]) -> list[RunningTask]:
    names = [groups[g].name for g in tasks.group.tolist()]
    columns = zip(
        tasks.run.tolist(),
        tasks.lane.tolist(),
        tasks.group.tolist(),
        tasks.keys.iter_text(names),
        tasks.start.tolist(),
        strict=True,
    )
    return [RunningTask(*row) for row in columns]


def take_rows(tasks: TaskBlock, rows: NDArray[np.int64] | slice) -> TaskBlock:
    """Return these rows of a block, keys and errors included."""
    numbers = np.arange(len(tasks))[rows]
    failed = np.flatnonzero(np.isin(numbers, list(tasks.errors)))
    return TaskBlock(
        run=tasks.run[rows],
        group=tasks.group[rows],
        lane=tasks.lane[rows],
        start=tasks.start[rows],
        stop=tasks.stop[rows],
        flags=tasks.flags[rows],
        keys=tasks.keys.take(numbers),
        errors={i: tasks.errors[int(numbers[i])] for i in failed.tolist()},
        **{name: values[rows] for name, values in tasks.arrays().items()},
    )


_ROWS_PER_MESSAGE = 100_000


def recorded_frames(
    recording: RecordedData, tick_s: float = TICK_S, *, planes: bool = False
) -> Iterator[bytes]:
    """Yield the frames that make up a recording, the first of them with the header; at least one.

    Groups and lanes are numbered from 0, times count from the recording's zero, and tasks are sorted by
    their start.
    """
    compact = compact_tables(recording)
    # The same recording is the same page each time.
    encoder = PageEncoder("static", "static-0", tick_s, planes=planes, stream=0)
    first = first_held = number = 0
    while first < len(compact.tasks) or first_held < len(compact.held) or not number:
        rows = take_rows(compact.tasks, slice(first, first + _ROWS_PER_MESSAGE))
        held = compact.held.part(slice(first_held, first_held + _ROWS_PER_MESSAGE))
        tables = {"cache": Rows(first_held, held)} | ({} if number else _head_tables(recording, compact))
        batch = _batch(recording, compact, rows, tables, first=first, is_head=not number)
        frames, n_tasks = encoder.frames(batch)
        yield from frames
        first, first_held, number = first + n_tasks, first_held + len(held), number + 1


def recorded_messages(recording: RecordedData) -> list[dict[str, object]]:
    """Return these frames as messages of the feed with their buffers."""
    return [{"message": batch_message(), "buffers": [frames]} for frames in recorded_frames(recording)]


def _n_activities_dropped(recording: RecordedData, compact: CompactTables) -> int:
    columns = recording.activities
    return columns.dropped + len(columns.rows) - len(compact.activities)


def _head_tables(recording: RecordedData, compact: CompactTables) -> dict[str, Rows]:
    """Return the tables that are in the first batch alone."""
    samples = thin_samples(recording.resources)
    return {
        "resources": Rows(0, replace(samples, time=samples.time - recording.zero_s)),
        "sources": Rows(0, recording.activities.sources[1:] if len(compact.activities) else ()),
        "activities": Rows(_n_activities_dropped(recording, compact), compact.activities),
        **worker_tables({}, compact.workers),
        "seconds": Rows(0, seconds_by_prefix(recording)),
    }


def _batch(
    recording: RecordedData,
    compact: CompactTables,
    rows: TaskBlock,
    tables: Mapping[str, Rows],
    *,
    first: int,
    is_head: bool,
) -> Batch:
    # The state and the running tasks are in every batch.
    return Batch(
        now_s=recording.now_s - recording.zero_s,
        active=False,
        final=True,
        first=first,
        cursor=len(compact.tasks),
        dropped=0,
        tasks=rows,
        groups=compact.groups if is_head else (),
        lanes=compact.lanes if is_head else (),
        runs=compact.runs if is_head else (),
        progress=compact.progress if is_head else (),
        messages=compact.messages if is_head else (),
        running=compact.running,
        metrics=cache_metrics(recording),
        state={
            "n_activities_dropped": _n_activities_dropped(recording, compact),
            "n_cores": whole_fact(recording, "n_cores"),
            "limit_bytes": whole_fact(recording, "memory_limit_bytes"),
            "cache_unknown": "cache" in recording.unknown,
        },
        tables=tables,
    )
