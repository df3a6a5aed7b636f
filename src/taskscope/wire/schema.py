"""The messages of the feed, as types: the browser's decoder has the same ones.

Times are seconds after the recorder's zero. A binary column is little endian and a buffer of its own, in
the order of `BUFFERS`; 16 bytes per task, keys and failures apart.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

__all__ = [
    "ACTIVITY_BUFFERS",
    "BUFFERS",
    "HELD_BUFFERS",
    "LANE_BITS",
    "LAST_GROUP",
    "PROTOCOL",
    "RESOURCE_BUFFERS",
    "SPAN_S",
    "UNKNOWN",
    "WORKER_BUFFERS",
    "ActivitiesSection",
    "BatchMessage",
    "ClusterSection",
    "EstimateRow",
    "GroupRow",
    "HeldRunRow",
    "HeldSection",
    "LaneRow",
    "LinkRow",
    "LinksRow",
    "MessageRow",
    "ProgressRow",
    "ResourcesSection",
    "RunRow",
    "RunningRow",
    "ScheduledRow",
    "SourceRow",
    "TaskRunRow",
    "WorkerRow",
    "WorkersSection",
]

PROTOCOL: Literal[1] = 1

BUFFERS = (
    "lane_status",  # u16: lane in bits 0-12, status code in bits 13-14, bit 15: observed by the scheduler
    "group",  # u16
    "stop_us",  # u32: microseconds after base_s
    "duration_s",  # f32: start is stop minus this
    "cpu_share",  # u16: CPU seconds / duration * 65534, or UNKNOWN
    "size_code",  # u16: round(log2(1 + bytes) * 1024), or UNKNOWN
    "key_dims",  # u8: how many integers follow the group name, 255: the key is text
    "key_ints",  # i32: the integers of all rows in row order
    "key_lengths",  # u16: UTF-8 bytes of each text key
    "key_text",  # UTF-8 of all text keys, one after the other
    "error",  # u16: of each row that did not finish, the place of its text in `errors`, or UNKNOWN
)

RESOURCE_BUFFERS = (
    "sample_time_s",  # f8
    "cpu_percent",  # f4: 100 per core, the mean since the sample before; NaN: unknown
    "rss_bytes",  # f8
    "n_processes",  # u16
    "gap",  # u8: 1 where samples are missing before this one
)
"""These follow `BUFFERS`, one entry a sample."""

HELD_BUFFERS = (
    "held_group",  # u16
    "held_time_us",  # u32: microseconds after base_s
    "held_n_keys",  # u32
    "held_nbytes",  # f8: bytes of the keys whose size is known
    "held_n_unsized",  # u32: how many keys have no known size
    "held_value",  # f8: in the user's metric; empty if no run of the message has one
    "held_n_unvalued",  # u32, likewise
)
"""These follow `RESOURCE_BUFFERS`, one entry a row."""

ACTIVITY_BUFFERS = (
    "activity_lane",  # u16
    "activity_kind",  # u8: place in `taskscope.model.activities.ACTIVITIES`
    "activity_group",  # u16: of the task it was done for
    "activity_source",  # u16: number in `sources` (addresses, errors); 0: none; UNKNOWN: one of too many
    "activity_start_s",  # f8
    "activity_duration_s",  # f4
    "activity_nbytes",  # f8, NaN: unknown
    "completed_row",  # u32: number of an older row of which the bytes have become known
    "completed_nbytes",  # f8: these
)
"""These follow `HELD_BUFFERS` where a message has a ``cluster``, one entry a row."""

WORKER_BUFFERS = (
    "worker",  # u16: number in `workers`
    "worker_time_s",  # f8
    "worker_n_threads",  # u32; 0: it has left
    "worker_n_executing",  # u16, or UNKNOWN
    "worker_cpu_percent",  # f4: 100 per core; NaN, here and below: unknown
    "worker_rss_bytes",  # f8
    "worker_managed_bytes",  # f8
    "worker_spilled_bytes",  # f8
    "worker_limit_bytes",  # f8
)
"""These follow `ACTIVITY_BUFFERS`, one entry a sample."""

LAST_GROUP = 65535
"""The highest group id the wire holds; all further groups share it."""

LANE_BITS = 13
UNKNOWN = 65535
SPAN_S = 4_000.0
"""Longest span of stop times in one message; 32 bits of microseconds hold 4,294 s."""

GroupRow: TypeAlias = tuple[int, str, str]
"""id, name, prefix"""

LaneRow: TypeAlias = tuple[int, str, int, str]
"""id, worker, thread, label"""

TaskRunRow: TypeAlias = tuple[int, int]
"""run, number of consecutive task rows of this message that belong to it"""

ScheduledRow: TypeAlias = tuple[float, int, bool, int, int, int]
"""time_s, asked, is_all, queued, waiting, no_worker"""

ProgressRow: TypeAlias = tuple[int, str, int, int, int, int, int, int, int, float | None, ScheduledRow | None]
"""run, prefix, total, finished, erred, running, interrupted, spared, again, duration_s, and what those ahead
wait for; see `taskscope.model.records.PrefixProgress`"""

EstimateRow: TypeAlias = tuple[int, float, float, float, int]
"""run, stop_s, earliest_s, latest_s, n_unseen: when it will end"""

RunningRow: TypeAlias = tuple[int, int | None, int, str, float | None]
"""run, lane, group, key_text, start_s"""

LinkRow: TypeAlias = tuple[int | None, str]
"""row, key_text"""

MessageRow: TypeAlias = tuple[float | None, str, str]
"""time_s, level, text"""


HeldRunRow: TypeAlias = tuple[int, int, str | None]
"""run, number of consecutive held rows that belong to it, name of its user's metric"""

SourceRow: TypeAlias = tuple[int, str]
"""number, address"""

WorkerRow: TypeAlias = tuple[int, str, str, int]
"""number, address, name, n_threads"""


class ResourcesSection(TypedDict):
    """Samples `first` to ``first + count - 1``, and what they are to be compared with."""

    first: int
    count: int
    dropped: int
    n_cores: int | None
    limit_bytes: int | None


class HeldSection(TypedDict):
    """Rows `first` to ``first + count - 1`` of what schedulers held."""

    first: int
    count: int
    dropped: int
    base_s: float
    runs: list[HeldRunRow]
    unknown: bool


class ActivitiesSection(TypedDict):
    """Activities `first` to ``first + count - 1``, and where the data of transfers came from."""

    first: int
    count: int
    dropped: int
    n_completed: int
    runs: list[TaskRunRow]
    sources: list[SourceRow]


class WorkersSection(TypedDict):
    """Samples `first` to ``first + count - 1`` of workers, and those that are new or renamed."""

    first: int
    count: int
    workers: list[WorkerRow]


class ClusterSection(TypedDict):
    """What only clusters have."""

    activities: ActivitiesSection
    workers: WorkersSection


class RunRow(TypedDict):
    """One compute."""

    run: int
    label: str | None
    cell: str | None
    execution_count: int | None
    source_crc: int | None
    scheduler: str | None
    n_workers: int | None
    n_tasks: int
    start_s: float | None
    stop_s: float | None
    status: str
    error: str | None


class LinksRow(TypedDict):
    """A task's neighbours; the lists may be cut, the counts are of all."""

    dependencies: list[LinkRow]
    n_dependencies: int
    dependents: list[LinkRow]
    n_dependents: int


class BatchMessage(TypedDict):
    """The JSON part of a batch; `first` to ``first + count - 1`` are the recorder's row numbers."""

    protocol: Literal[1]
    kind: Literal["batch"]
    recorder: str
    epoch: str
    seq: int
    now_s: float | None
    active: bool
    final: bool
    first: int
    count: int
    cursor: int
    dropped: int
    base_s: float
    task_runs: list[TaskRunRow]
    errors: list[str]
    groups: list[GroupRow]
    lanes: list[LaneRow]
    runs: list[RunRow]
    progress: list[ProgressRow]
    estimates: list[EstimateRow]
    running: list[RunningRow]
    messages: list[MessageRow]
    resources: ResourcesSection
    held: HeldSection
    cluster: NotRequired[ClusterSection]
    """Left out where there is nothing to say; so are its buffers."""
