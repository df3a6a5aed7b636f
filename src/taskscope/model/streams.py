"""The tables of pages, while computes run, and of files, as `taskscope.codec` carries them.

Rows are referred to by later tables only. ``labextension/src/wire/tables.ts`` and
``labextension/src/files/tables.ts`` are made of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from taskscope.model.tables.activities import ACTIVITIES, ActivityRows, Steal, Transfer
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import Measured, RowBlock
from taskscope.model.tables.process import PeakLine, ResourceRows
from taskscope.model.tables.records import (
    FLAGS,
    RUNNING,
    STATUSES,
    Estimate,
    Group,
    GroupTotal,
    Lane,
    Message,
    PrefixProgress,
    Run,
    RunningTask,
)
from taskscope.model.tables.stacks import Function, LineRows, MeasuredLine, StackRows
from taskscope.model.tables.workers import Metric, WorkerSample
from taskscope.schema import Column, Table, columns_of, derived, shown

StopWay: TypeAlias = Literal["interrupt", "cancel", "thread", "asked", "either"]
"""How a compute can be stopped: its cell is interrupted, which ends it; its futures are cancelled, as
its cell has ended; not at all, as another thread than that of cells runs it; it was asked to end
already; or its cell is interrupted or its futures are cancelled, as the cell runs and the futures would
outlive that."""

STOP_WAYS: tuple[StopWay, ...] = get_args(StopWay)

MAX_KEY_INTS = 8
"""Keys with more whole numbers than this after their name are sent as text."""


def _all(declared: type, *but: str) -> tuple[Column, ...]:
    """Return the columns of a class of records besides these; a row's place is its id."""
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
        _whole("n_dropped", "How many of them are no longer kept."),
        _whole("n_activities_dropped", "How many activities are no longer kept."),
        _whole("n_cores", "How many cores this process may use.", optional=True),
        _whole("limit_bytes", "How much memory it may use.", optional=True),
        derived("cache_unknown", "yes or no", "Whether the cache usage of some compute is not known."),
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

_MEASURED = {"nbytes": shown(Measured, "nbytes", kind="number")}
_TASKS = Table(
    name="tasks",
    meaning="One row each time that a task ended.",
    columns=(
        _RUN,
        _LANE,
        _GROUP,
        *({**FLAGS, "status": replace(FLAGS["status"], choices=STATUSES[:RUNNING])}.values()),
        shown(RowBlock, "duration", name="duration_s"),
        _STOP,
        *(_MEASURED.get(column.name, column) for column in columns_of(Measured)),
        _whole("error", "What it raised.", optional=True, refers="errors.id"),
        _whole("dims", "How many whole numbers follow the group's name in its key; 255: it is text."),
        *(_whole(f"i{i}", "One of these; 0 behind the last.") for i in range(MAX_KEY_INTS)),
        derived("key_text", "text", "The text of a key that is text.", optional=True),
    ),
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

_UNDRAWN = ("ready_threads", "peak_bytes", "beside_percent")
"""Of samples, what files have and no page draws."""

_WORKER_NUMBER = _whole("worker", "The number of the worker.")

_DECLARED = (
    _STATE,
    Table(name="groups", meaning="Task groups.", columns=_all(Group, "span", "function", "fused")),
    Table(name="lanes", meaning="Rows of the Gantt chart.", columns=_all(Lane)),
    Table(
        name="runs",
        meaning="Computes.",
        mode="by key",
        key=("run",),
        columns=(
            *(replace(c, optional=c.optional or c.name == "start_s") for c in columns_of(Run)),
            derived("metric", "text", "The name of the user's cache metric.", optional=True),
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
        meaning="What was dropped, restored or estimated, and what became of workers.",
        columns=(*_optional(shown(Message, "time_s")), *_all(Message, "time_s")),
    ),
    Table(
        name="errors",
        meaning="What tasks of this batch raised.",
        mode="whole",
        columns=(derived("text", "text", "Type and message."),),
    ),
    _TASKS,
    Table(
        name="cache",
        meaning="Results in memory of each group, from a moment on.",
        columns=(
            _RUN,
            _GROUP,
            shown(CacheRows, "time", name="time_s"),
            shown(CacheRows, "n_keys"),
            shown(CacheRows, "nbytes"),
            shown(CacheRows, "n_unsized"),
            *_optional(shown(CacheRows, "value")),
            shown(CacheRows, "n_unvalued"),
        ),
    ),
    Table(
        name="resources",
        meaning="Samples of this process and its children.",
        columns=(
            shown(ResourceRows, "time", name="time_s"),
            *_all(ResourceRows, "time", *_UNDRAWN),
        ),
    ),
    Table(
        name="sources",
        meaning="What activities refer to; the first is none.",
        columns=(derived("text", "text", "The address of a worker, or what an attempt raised."),),
    ),
    _ACTIVITIES,
    Table(
        name="metered",
        meaning="Older tasks of which the CPU time has become known.",
        mode="whole",
        columns=(
            _whole("row", "The number of the task."),
            shown(Measured, "cpu_s"),
            FLAGS["cpu_from"],
        ),
    ),
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
    Table(
        name="metrics",
        meaning="How long all workers together spent on one activity in executing tasks of one prefix.",
        mode="by key",
        key=("run", "prefix", "activity"),
        columns=tuple(shown(Metric, name) for name in ("run", "prefix", "activity", "seconds")),
    ),
)

PAGE: Mapping[str, Table] = {table.name: table for table in _DECLARED}
"""The tables of pages, by name."""


def _by_name(table: Table, *but: str) -> dict[str, Column]:
    return {column.name: column for column in table.columns if column.name not in but}


def _exact(*columns: Column) -> tuple[Column, ...]:
    """Return columns of which files keep all digits: percents."""
    return tuple(replace(column, is_exact=column.unit.startswith("percent")) for column in columns)


_KEY_ROW = _whole("key", "The row of the key.", refers="keys.id")
_KEY_TIME = derived("time_s", "number", "When it was.", unit="s", is_time=True)
_NAME = derived("name", "text", "The name.")
_IS_OF_TASK = {"run", "group", "lane", "dims", "key_text", *(f"i{i}" for i in range(MAX_KEY_INTS))}
_STACK = (
    shown(StackRows, "start", name="start_s"),
    shown(StackRows, "run"),
    _whole("prefix", "The prefix of the task.", refers="stack_prefixes.id"),
    _whole("worker", "The worker.", refers="stack_workers.id"),
    _whole("call", "The innermost call; none where Dask called C code.", optional=True, refers="calls.id"),
    shown(StackRows, "count"),
    shown(StackRows, "seconds", is_exact=True),
)

_FILED = (
    _STATE,
    Table(name="unknown", meaning="Tables of which not all is in the file.", mode="whole", columns=(_NAME,)),
    Table(
        name="metadata",
        meaning="Facts: pieces of one JSON object.",
        mode="last",
        columns=(derived("text", "text", "The next piece."),),
    ),
    replace(PAGE["messages"], mode="last"),
    replace(PAGE["groups"], columns=_all(Group)),
    PAGE["lanes"],
    replace(PAGE["runs"], columns=tuple(_by_name(PAGE["runs"], "source_crc", "metric").values())),
    Table(
        name="graphs",
        meaning="Graphs of computes.",
        mode="by key",
        key=("run",),
        columns=(
            _RUN,
            derived("start_s", "number", "From when on data is in memory.", unit="s", is_time=True),
            derived("is_known", "yes or no", "Whether all of its keys and dependencies are in the file."),
            derived("is_valued", "yes or no", "Whether the user has a cache metric."),
        ),
    ),
    Table(
        name="keys",
        meaning="Keys of graphs: those of tasks, and those of data.",
        columns=(
            _RUN,
            _GROUP,
            *(c for c in _TASKS.columns if c.name in _IS_OF_TASK - {"run", "group", "lane"}),
        ),
    ),
    Table(
        name="dependencies",
        meaning="Which keys need which, those of one key one after the other.",
        columns=(_KEY_ROW, _whole("dependency", "The row of what it needs.", refers="keys.id")),
    ),
    Table(name="kept", meaning="Keys whose results were asked for.", columns=(_KEY_ROW,)),
    Table(
        name="data",
        meaning="Keys that were data, not tasks.",
        columns=(_KEY_ROW, shown(Measured, "nbytes", kind="number")),
    ),
    Table(
        name="landed",
        meaning="When results entered the scheduler's cache; the last row of a key counts.",
        columns=(_KEY_ROW, _KEY_TIME),
    ),
    Table(
        name="valued",
        meaning="What the user's metric gave; the last row of a key counts.",
        columns=(_KEY_ROW, derived("value", "number", "That.", optional=True)),
    ),
    Table(
        name="skipped",
        meaning="Whether tasks do not have to run; the last row of a key counts.",
        columns=(_KEY_ROW, derived("is_skipped", "yes or no", "Whether it does not have to.")),
    ),
    replace(PAGE["errors"], mode="append", meaning="What tasks raised."),
    Table(
        name="tasks",
        meaning="One row each time that a task ended, and for each that was in flight at the end.",
        columns=(
            _KEY_ROW,
            _LANE,
            *FLAGS.values(),
            *_by_name(_TASKS, *_IS_OF_TASK, *FLAGS).values(),
        ),
    ),
    Table(
        name="metered",
        meaning="CPU time of tasks that became known after they had been written.",
        columns=(
            _KEY_ROW,
            shown(RowBlock, "start", name="start_s"),
            shown(Measured, "cpu_s"),
            FLAGS["cpu_from"],
        ),
    ),
    Table(
        name="running",
        meaning="Tasks in flight; of a complete file tasks has them.",
        mode="whole",
        columns=(
            _KEY_ROW,
            _LANE,
            FLAGS["observed_by"],
            derived("start_s", "number", "When it began.", unit="s", is_time=True),
        ),
    ),
    replace(
        PAGE["cache"],
        name="holdings",
        meaning="What workers of clusters were seen to hold of each group, from a moment on.",
        columns=tuple(_by_name(PAGE["cache"], "value", "n_unvalued").values()),
    ),
    replace(
        PAGE["resources"],
        columns=_exact(*PAGE["resources"].columns, *(shown(ResourceRows, name) for name in _UNDRAWN)),
    ),
    PAGE["sources"],
    replace(_ACTIVITIES, columns=(_KEY_ROW, *_by_name(_ACTIVITIES, "run", "group").values())),
    PAGE["completed"],
    PAGE["workers"],
    replace(
        PAGE["worker_samples"],
        columns=_exact(*PAGE["worker_samples"].columns, shown(WorkerSample, "unmanaged_bytes")),
    ),
    Table(name="transfers", meaning="What workers logged of data sent.", columns=_all(Transfer, "keys")),
    Table(
        name="transfer_keys",
        meaning="Keys of results that were sent.",
        columns=(
            _whole("transfer", "The row of the transfer.", refers="transfers.id"),
            derived("text", "text", "The key."),
        ),
    ),
    Table(
        name="steals",
        meaning="Tasks that were to go from one worker to another.",
        columns=tuple(replace(column, is_exact=column.kind == "number") for column in columns_of(Steal)),
    ),
    Table(
        name="metrics",
        meaning="What workers metered of executing tasks.",
        columns=tuple(replace(column, is_exact=column.kind == "number") for column in columns_of(Metric)),
    ),
    Table(name="functions", meaning="Functions on call stacks.", columns=columns_of(Function)),
    Table(
        name="calls",
        meaning="Calls, each after the one that it was made from.",
        columns=(
            _whole("parent", "The call it was made from; none for the task's own.", optional=True),
            _whole("function", "What was called.", refers="functions.id"),
        ),
    ),
    Table(name="stack_prefixes", meaning="Prefixes of tasks on call stacks.", columns=(_NAME,)),
    Table(name="stack_workers", meaning="Workers of call stacks.", columns=(_NAME,)),
    Table(
        name="sampling",
        meaning="One row: how call stacks were sampled.",
        mode="last",
        columns=(
            derived("interval_s", "number", "From one sample to the next."),
            derived("cycle_s", "number", "How long samples are counted together.", optional=True),
            _whole("n_dropped", "How many samples are no longer kept."),
            _whole("first", "The first row of stacks that counts; later batches may repeat them."),
        ),
    ),
    Table(name="stacks", meaning="Samples of call stacks, counted.", columns=_STACK),
    Table(
        name="open_stacks",
        meaning="Those of the cycle that goes on.",
        mode="whole",
        columns=_STACK,
    ),
    Table(
        name="lines",
        meaning="Samples of call stacks, added up by source line.",
        columns=(
            shown(LineRows, "run"),
            _whole("prefix", "The prefix of the task.", refers="stack_prefixes.id"),
            _whole("worker", "The worker.", refers="stack_workers.id"),
            _whole(
                "function",
                "The function; none where Dask called C code.",
                optional=True,
                refers="functions.id",
            ),
            *(
                replace(column, is_exact=column.kind == "number")
                for column in columns_of(LineRows)
                if column.name not in {"run", "prefix", "worker", "function"}
            ),
        ),
    ),
    Table(
        name="measured_lines",
        meaning="Lines of functions that were named, in each task.",
        columns=tuple(
            replace(column, is_exact=column.kind == "number") for column in columns_of(MeasuredLine)
        ),
    ),
    Table(
        name="peak_lines",
        meaning="What was allocated when most was, by task and line.",
        columns=columns_of(PeakLine),
    ),
    Table(
        name="totals",
        meaning="Exact totals of groups.",
        columns=(
            *(shown(GroupTotal, name) for name in ("group", "prefix", "n_tasks", "n_erred")),
            *(shown(GroupTotal, name, is_exact=True) for name in ("duration_s", "cpu_s", "result_bytes")),
        ),
    ),
)

FILE: Mapping[str, Table] = {table.name: table for table in _FILED}
"""The tables of files, by name."""
