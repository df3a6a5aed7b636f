"""The tables that a page is told while computes run, as `taskscope.codec` carries them.

What is referred to stands before what refers to it. ``labextension/src/wire/tables.ts`` is made of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from taskscope.model.activities import ACTIVITIES, ActivityRows
from taskscope.model.columns import RowBlock
from taskscope.model.held import HeldRows
from taskscope.model.records import (
    OBSERVED_BY,
    RUNNING,
    STATUSES,
    Estimate,
    Group,
    Lane,
    Message,
    PrefixProgress,
    Run,
    RunningTask,
)
from taskscope.model.resources import ResourceRows
from taskscope.model.workers import WorkerSample
from taskscope.schema import Column, Table, columns_of, derived, shown

__all__ = ["CPU_SHARES", "MAX_KEY_INTS", "PAGE", "STOP_WAYS", "StopWay"]

StopWay: TypeAlias = Literal["interrupt", "cancel", "thread", "asked"]
"""How a compute can be stopped: its cell is interrupted, or its futures are cancelled; not at all, as another
thread than that of cells runs it; or it was asked to end already."""

STOP_WAYS: tuple[StopWay, ...] = get_args(StopWay)

CPU_SHARES = 254
"""In how many parts of a task's duration an offline page tells its CPU time."""

MAX_KEY_INTS = 8
"""Keys of a name and more whole numbers than this are told as text."""


def _all(declared: type, *but: str) -> tuple[Column, ...]:
    """Return the columns of a class of records besides these; a row's place says its id."""
    return tuple(c for c in columns_of(declared) if c.name not in {"id", *but})


def _whole(name: str, meaning: str, *, optional: bool = False, refers: str = "") -> Column:
    return derived(name, "whole number", meaning, optional=optional, refers=refers)


def _optional(*columns: Column) -> tuple[Column, ...]:
    return tuple(replace(column, optional=True) for column in columns)


_RUN = shown(Run, "run")
_STOP = derived("stop_s", "number", "When it ended.", unit="s", is_time=True)
_LANE, _GROUP = shown(RowBlock, "lane"), shown(ActivityRows, "group")

_STATE = Table(
    name="state",
    meaning="One row: how things stand.",
    mode="whole",
    columns=(
        derived("now_s", "number", "The recorder's clock.", unit="s", optional=True, is_time=True),
        derived("active", "yes or no", "Whether a compute runs."),
        derived("final", "yes or no", "Whether this repeats the state after the end."),
        _whole("n_tasks", "How many rows of tasks were ever recorded."),
        _whole("n_dropped", "How many of them are no longer held."),
        _whole("n_activities_dropped", "How many activities are no longer held."),
        _whole("n_cores", "How many cores this process may use.", optional=True),
        _whole("limit_bytes", "How much memory it may use.", optional=True),
        derived("cache_unknown", "yes or no", "Whether it is not known what was held for some compute."),
    ),
)

_PROGRESS = Table(
    name="progress",
    meaning="How far each prefix of each compute is.",
    mode="by key",
    key=("run", "prefix"),
    columns=(
        *_all(PrefixProgress, "duration_s"),
        *_optional(shown(PrefixProgress, "duration_s")),
        derived(
            "scheduled_s",
            "number",
            "When the scheduler said what those ahead wait for.",
            unit="s",
            optional=True,
            is_time=True,
        ),
        _whole("asked", "About how many tasks it was asked.", optional=True),
        derived("is_all", "yes or no", "Whether that were all that were with no worker then.", optional=True),
        _whole("queued", "Tasks that could run as soon as a worker has a free thread.", optional=True),
        _whole("waiting", "Tasks that wait for other tasks.", optional=True),
        _whole("no_worker", "Tasks for which no worker fits.", optional=True),
    ),
)

_TASKS = Table(
    name="tasks",
    meaning="One row each time that a task ended.",
    columns=(
        _RUN,
        _LANE,
        _GROUP,
        derived("status", "text", "How it ended.", choices=STATUSES[:RUNNING]),
        derived("observed_by", "text", "Who took the times.", choices=OBSERVED_BY),
        shown(RowBlock, "duration", name="duration_s"),
        replace(_STOP, by="lane", plus="duration_s"),
        shown(RowBlock, "cpu", name="cpu_s"),
        shown(RowBlock, "size", name="nbytes", kind="number", by="group"),
        _whole("error", "What it raised.", optional=True, refers="errors.id"),
        _whole("dims", "How many whole numbers follow the group's name in its key; 255: it is text."),
        *(
            replace(_whole(f"i{i}", "One of these; 0 behind the last."), by="group")
            for i in range(MAX_KEY_INTS)
        ),
        derived("key_text", "text", "The text of a key that is text.", optional=True),
    ),
)

_INSTEAD = {
    "lane": _whole(
        "turn", "Which lane: a place among those that had a task, by when it ended, then among the others."
    ),
    "stop_s": derived(
        "gap_s", "number", "How long after the last stop in the lane it began.", unit="s", is_time=True
    ),
    "cpu_s": _whole("cpu_share", "CPU time in 254ths of the duration.", optional=True),
}
_TURNS = Table(
    name="turns",
    meaning="Tasks of an offline page, in the order in which they began; lanes are told anew in each batch.",
    columns=tuple(_INSTEAD.get(column.name, column) for column in _TASKS.columns),
)

_ACTIVITIES = Table(
    name="activities",
    meaning="What workers of a cluster did for tasks besides computing them.",
    columns=(
        _RUN,
        _LANE,
        _GROUP,
        derived("activity", "text", "What was done.", choices=ACTIVITIES),
        _whole("source", "Where data came from, or what was raised.", optional=True, refers="sources.id"),
        shown(ActivityRows, "start", name="start_s"),
        shown(ActivityRows, "duration", name="duration_s"),
        shown(ActivityRows, "nbytes"),
    ),
)

_WORKER_NUMBER = _whole("worker", "The number of the worker.")

_DECLARED = (
    _STATE,
    Table(name="groups", meaning="Task groups.", columns=_all(Group)),
    Table(name="lanes", meaning="Rows of the Gantt chart.", columns=_all(Lane)),
    Table(
        name="runs",
        meaning="Computes.",
        mode="by key",
        key=("run",),
        columns=(
            *(replace(c, optional=c.optional or c.name == "start_s") for c in columns_of(Run)),
            derived("metric", "text", "What the user calls what is held.", optional=True),
        ),
    ),
    _PROGRESS,
    Table(
        name="estimates",
        meaning="When computes that run will end.",
        mode="whole",
        columns=(_RUN, *_all(Estimate)),
    ),
    Table(
        name="stops",
        meaning="How computes that run can be stopped.",
        mode="whole",
        columns=(_RUN, derived("way", "text", "How.", choices=STOP_WAYS)),
    ),
    Table(
        name="running",
        meaning="Tasks in flight.",
        mode="whole",
        columns=(*_all(RunningTask, "start_s"), *_optional(shown(RunningTask, "start_s"))),
    ),
    Table(
        name="messages",
        meaning="What was dropped, restored or estimated.",
        columns=(*_optional(shown(Message, "time_s")), *_all(Message, "time_s")),
    ),
    Table(
        name="errors",
        meaning="What tasks of this batch raised.",
        mode="whole",
        columns=(derived("text", "text", "Type and message."),),
    ),
    _TASKS,
    _TURNS,
    Table(
        name="cache",
        meaning="What was held of each group, from a moment on.",
        columns=(
            _RUN,
            _GROUP,
            shown(HeldRows, "time", name="time_s"),
            shown(HeldRows, "n_keys"),
            shown(HeldRows, "nbytes"),
            shown(HeldRows, "n_unsized"),
            *_optional(shown(HeldRows, "value")),
            shown(HeldRows, "n_unvalued"),
        ),
    ),
    Table(
        name="resources",
        meaning="Samples of this process and its children.",
        columns=(
            shown(ResourceRows, "time", name="time_s"),
            shown(ResourceRows, "cpu_percent"),
            shown(ResourceRows, "rss_bytes"),
            shown(ResourceRows, "n_processes", kind="whole number"),
            shown(ResourceRows, "gap", kind="yes or no"),
        ),
    ),
    Table(
        name="sources",
        meaning="What activities refer to; the first is none.",
        columns=(derived("text", "text", "The address of a worker, or what an attempt raised."),),
    ),
    _ACTIVITIES,
    Table(
        name="completed",
        meaning="Older activities of which the bytes have become known.",
        mode="whole",
        columns=(_whole("row", "The number of the activity."), shown(ActivityRows, "nbytes")),
    ),
    Table(
        name="workers",
        meaning="Workers of clusters.",
        mode="by key",
        key=("worker",),
        columns=(
            _WORKER_NUMBER,
            shown(WorkerSample, "worker", name="address"),
            shown(WorkerSample, "name"),
            shown(WorkerSample, "n_threads"),
        ),
    ),
    Table(
        name="worker_samples",
        meaning="Workers of clusters at a moment.",
        columns=(
            shown(WorkerSample, "time_s"),
            _WORKER_NUMBER,
            *_all(WorkerSample, "time_s", "worker", "name", "unmanaged_bytes"),
        ),
    ),
)

PAGE: Mapping[str, Table] = {table.name: table for table in _DECLARED}
"""What a page is told, by name."""
