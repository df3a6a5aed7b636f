"""A recording as the messages of the feed that a live view of it would have got."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from taskscope.analysis.compact import CompactTables, compact_tables, take_rows
from taskscope.analysis.ended import prefix_progress
from taskscope.analysis.held_rows import held_metrics
from taskscope.analysis.series import resources_part
from taskscope.model.recording import Recording
from taskscope.model.records import TaskBlock
from taskscope.wire import Batch, BatchMessage, ClusterPart, HeldPart, ResourcesPart, encode_batch

__all__ = ["RecordedMessage", "recorded_messages"]

_ROWS_PER_MESSAGE = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class RecordedMessage:
    """One message with its buffers, and the rows that these hold."""

    message: BatchMessage
    buffers: list[bytes]
    rows: TaskBlock


def recorded_messages(recording: Recording) -> Iterator[RecordedMessage]:
    """Yield the messages that make up a recording, at least one.

    Groups and lanes are numbered from 0, times count from the recording's zero, and tasks are sorted by
    their end.
    """
    compact = compact_tables(recording)
    n_tasks = len(compact.tasks)
    first, first_held, seq = 0, 0, 0
    while first < n_tasks or first_held < len(compact.held) or seq == 0:
        rows = take_rows(compact.tasks, slice(first, first + _ROWS_PER_MESSAGE))
        batch = _batch(recording, compact, rows, first=first, first_held=first_held, seq=seq)
        message, buffers = encode_batch(batch)
        yield RecordedMessage(message, buffers, rows)
        first, seq = first + message["count"], seq + 1
        first_held += message["held"]["count"]


def _batch(
    recording: Recording, compact: CompactTables, rows: TaskBlock, *, first: int, first_held: int, seq: int
) -> Batch:
    head = seq == 0
    return Batch(
        recorder="static",
        epoch="static-0",
        seq=seq,
        now_s=recording.now_s - recording.zero_s,
        active=False,
        final=True,
        first=first,
        cursor=len(compact.tasks),
        dropped=0,
        tasks=rows,
        groups=compact.groups if head else (),
        lanes=compact.lanes if head else (),
        runs=compact.runs if head else (),
        progress=prefix_progress(recording) if head else (),
        messages=compact.messages if head else (),
        running=compact.running,
        resources=resources_part(recording) if head else ResourcesPart(),
        held=HeldPart(
            first=first_held,
            rows=compact.held.part(slice(first_held, None)),
            metrics=held_metrics(recording),
            unknown="cache" in recording.unknown,
        ),
        cluster=compact.cluster if head else ClusterPart(),
    )
