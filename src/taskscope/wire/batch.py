"""One batch of the feed: task rows and what changed in the small tables since the page's last message."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskscope.model.records import (
    Estimate,
    Group,
    Lane,
    Message,
    PrefixProgress,
    Run,
    RunningTask,
    TaskBlock,
)
from taskscope.model.scheduled import Scheduled
from taskscope.wire.cluster import ClusterPart, encode_cluster
from taskscope.wire.schema import (
    PROTOCOL,
    BatchMessage,
    EstimateRow,
    ProgressRow,
    RunningRow,
    RunRow,
    ScheduledRow,
)
from taskscope.wire.series import HeldPart, ResourcesPart, encode_held, encode_resources
from taskscope.wire.tasks import encode_tasks
from taskscope.wire.text import wire_text

__all__ = ["Batch", "encode_batch"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """What one message says. Times are seconds after the recorder's zero.

    Parameters
    ----------
    recorder, epoch
        Which recorder, and which loading of taskscope in which kernel.
    seq
        Number of the message in its page's stream.
    now_s, active, final
        The recorder's clock, whether a compute runs, and whether this repeats the state after the end.
    first, cursor, dropped
        Row number of the first task, rows ever recorded, rows dropped for lack of room.
    tasks
        Rows from `first` on.
    groups, lanes, runs, progress, messages
        Only what is new or changed.
    estimates
        When each compute that runs will end, by its number, as far as there is evidence.
    running
        All tasks in flight.
    resources, held
        Samples, and rows of what schedulers held, that are new.
    cluster
        What only clusters have, as far as it is new.
    """

    recorder: str
    epoch: str
    seq: int
    now_s: float
    active: bool
    final: bool
    first: int
    cursor: int
    dropped: int
    tasks: TaskBlock
    groups: Sequence[Group] = ()
    lanes: Sequence[Lane] = ()
    runs: Sequence[Run] = ()
    progress: Sequence[PrefixProgress] = ()
    estimates: Mapping[int, Estimate] = field(default_factory=dict)
    running: Sequence[RunningTask] = ()
    messages: Sequence[Message] = ()
    resources: ResourcesPart = field(default_factory=ResourcesPart)
    held: HeldPart = field(default_factory=HeldPart)
    cluster: ClusterPart = field(default_factory=ClusterPart)


def encode_batch(batch: Batch) -> tuple[BatchMessage, list[bytes]]:
    """Return the JSON part and the buffers of a batch.

    The message's ``count`` is smaller than ``len(batch.tasks)`` where stop times span more than 4,000 s;
    the rest belongs into the next message. So it is with the ``count`` of its ``held``.

    Examples
    --------
    >>> from taskscope.record import Recorder
    >>> _, no_tasks = Recorder().tasks_since(0, 1)
    >>> message, buffers = encode_batch(Batch(recorder="r", epoch="r-1", seq=0, now_s=1.5,
    ...     active=True, final=False, first=0, cursor=0, dropped=0, tasks=no_tasks))
    >>> message["count"], sum(map(len, buffers))
    (0, 0)
    """
    tasks = encode_tasks(batch.tasks)
    resources, resource_buffers = encode_resources(batch.resources)
    held, held_buffers = encode_held(batch.held)
    message: BatchMessage = {
        "protocol": PROTOCOL,
        "kind": "batch",
        "recorder": batch.recorder,
        "epoch": batch.epoch,
        "seq": batch.seq,
        "now_s": _finite(batch.now_s),
        "active": batch.active,
        "final": batch.final,
        "first": batch.first,
        "count": tasks.count,
        "cursor": batch.cursor,
        "dropped": batch.dropped,
        "base_s": tasks.base_s,
        "task_runs": tasks.task_runs,
        "errors": tasks.errors,
        "groups": [(g.id, wire_text(g.name), wire_text(g.prefix)) for g in batch.groups],
        "lanes": [(n.id, wire_text(n.worker), n.thread, wire_text(n.label)) for n in batch.lanes],
        "runs": [_run_row(run) for run in batch.runs],
        "progress": [_progress_row(row) for row in batch.progress],
        "estimates": [_estimate_row(run, estimate) for run, estimate in batch.estimates.items()],
        "running": [_running_row(task) for task in batch.running],
        "messages": [(_finite(m.time_s), m.level, wire_text(m.text)) for m in batch.messages],
        "resources": resources,
        "held": held,
    }
    buffers = [*tasks.buffers, *resource_buffers, *held_buffers]
    if not batch.cluster.is_empty:
        message["cluster"], cluster_buffers = encode_cluster(batch.cluster)
        buffers += cluster_buffers
    return message, buffers


def _finite(value: float | None) -> float | None:
    # JSON has no NaN or infinity; both mean unknown here.
    return value if value is not None and math.isfinite(value) else None


def _text_or_none(text: str | None) -> str | None:
    return None if text is None else wire_text(text)


def _run_row(run: Run) -> RunRow:
    return {
        "run": run.run,
        "label": _text_or_none(run.label),
        "cell": _text_or_none(run.cell),
        "execution_count": run.execution_count,
        "source_crc": run.source_crc,
        "scheduler": _text_or_none(run.scheduler),
        "n_workers": run.n_workers,
        "n_tasks": run.n_tasks,
        "start_s": _finite(run.start_s),
        "stop_s": _finite(run.stop_s),
        "status": run.status,
        "error": _text_or_none(run.error),
    }


def _progress_row(row: PrefixProgress) -> ProgressRow:
    counts = (row.total, row.finished, row.erred, row.running, row.interrupted, row.spared, row.again)
    return (row.run, wire_text(row.prefix), *counts, _finite(row.duration_s), _scheduled_row(row.scheduled))


def _scheduled_row(told: Scheduled | None) -> ScheduledRow | None:
    if told is None:
        return None
    return (told.time_s, told.asked, told.is_all, told.queued, told.waiting, told.no_worker)


def _estimate_row(run: int, estimate: Estimate) -> EstimateRow:
    return (run, estimate.stop_s, estimate.earliest_s, estimate.latest_s, estimate.n_unseen)


def _running_row(task: RunningTask) -> RunningRow:
    return (task.run, task.lane, task.group, wire_text(task.key_text), _finite(task.start_s))
