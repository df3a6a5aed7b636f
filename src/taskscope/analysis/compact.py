"""The small tables of a recording without what other computes of the same kernel left in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.clusters import activity_groups, cluster_part, thinned_note
from taskscope.analysis.series import few_held_rows
from taskscope.model.held import HeldRows
from taskscope.model.recording import Recording
from taskscope.model.records import RUNNING, Group, Lane, Message, Run, RunningTask, TaskBlock
from taskscope.wire import ClusterPart

__all__ = ["CompactTables", "compact_tables", "row_order", "take_rows"]


@dataclass(frozen=True, slots=True)
class CompactTables:
    """Tables in which groups and lanes are numbered from 0, and times count from the recording's zero."""

    tasks: TaskBlock
    groups: list[Group]
    lanes: list[Lane]
    runs: list[Run]
    messages: list[Message]
    running: list[RunningTask]
    held: HeldRows
    cluster: ClusterPart


def compact_tables(recording: Recording) -> CompactTables:
    """Return what a view of this recording alone needs, tasks sorted by their start."""
    tasks = recording.tasks
    tasks = take_rows(tasks, row_order(tasks))
    held = few_held_rows(recording)
    # Data was held too, and has no tasks; nor has yet what was only transferred so far.
    of_activities = activity_groups(recording)
    group_ids = np.unique(np.concatenate((tasks.group, held.group, of_activities)))
    groups = [recording.groups[i] for i in group_ids.tolist()]
    lane_ids = np.union1d(tasks.lane, recording.activities.rows.lane)
    zero = recording.zero_s
    tasks = replace(
        tasks,
        group=np.searchsorted(group_ids, tasks.group).astype(np.uint32),
        lane=np.searchsorted(lane_ids, tasks.lane).astype(np.uint16),
    )
    in_flight = tasks.status == RUNNING
    cluster = cluster_part(recording, of_activities, group_ids, lane_ids)
    return CompactTables(
        tasks=take_rows(tasks, np.flatnonzero(~in_flight)),
        running=_running(take_rows(tasks, np.flatnonzero(in_flight)), groups),
        groups=[replace(group, id=i) for i, group in enumerate(groups)],
        lanes=[replace(recording.lanes[n], id=i) for i, n in enumerate(lane_ids.tolist())],
        runs=[
            replace(run, start_s=run.start_s - zero, stop_s=None if run.stop_s is None else run.stop_s - zero)
            for run in recording.runs
        ],
        messages=[replace(m, time_s=m.time_s - zero) for m in recording.messages]
        + _thinned(recording, len(cluster.workers.samples)),
        held=replace(
            held, group=np.searchsorted(group_ids, held.group).astype(np.uint32), time=held.time - zero
        ),
        cluster=cluster,
    )


def _thinned(recording: Recording, n_shown: int) -> list[Message]:
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
        cpu=tasks.cpu[rows],
        size=tasks.size[rows],
        status=tasks.status[rows],
        observed=tasks.observed[rows],
        keys=tasks.keys.take(numbers),
        errors={i: tasks.errors[int(numbers[i])] for i in failed.tolist()},
    )
