"""The tables of pages and files, as `taskscope.codec` carries them.

Rows are referred to by later tables only. ``labextension/src/wire/tables.ts`` is made of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from taskscope.model.tables.activities import ACTIVITIES, ActivityRows, Steal, Transfer
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import NEEDS, Measured, RowBlock
from taskscope.model.tables.process import PeakLine, ResourceRows
from taskscope.model.tables.records import (
    FLAGS,
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
from taskscope.model.tables.stacks import WAITS, Function, LineRows, MeasuredLine, StackRows
from taskscope.model.tables.workers import LogLine, Metric, WorkerSample
from taskscope.schema import Column, Mode, Table, columns_of, marked, shown

StopWay: TypeAlias = Literal["interrupt", "cancel", "thread", "asked", "either"]
"""How a compute can be stopped: its cell is interrupted, which ends it; its futures are cancelled, as
its cell has ended; not at all, as another thread than that of cells runs it; it was asked to end
already; or its cell is interrupted or its futures are cancelled, as the cell runs and the futures would
outlive that."""

STOP_WAYS: tuple[StopWay, ...] = get_args(StopWay)

STREAMED = {
    "time": "time_s",
    "start": "start_s",
    "duration": "duration_s",
    "kind": "activity",
    "node": "call",
}
"""The names of columns of rows in streams, where they are others."""

MAX_KEY_INTS = 8
"""Keys with more whole numbers than this after their name are sent as text."""


def named(declared: type, *names: str) -> tuple[Column, ...]:
    """Return these declared columns under the names that streams and users have; without names, all."""
    names = names or tuple(c.name for c in columns_of(declared) if not c.internal)
    return tuple(shown(declared, name, name=STREAMED.get(name, name)) for name in names)


def _all(declared: type, *but: str) -> tuple[Column, ...]:
    """Return the columns of a class of records besides these; a row's place is its id."""
    return tuple(c for c in columns_of(declared) if c.name not in {"id", *but})


def _whole(name: str, meaning: str, *, optional: bool = False, refers: str = "", page: bool = True) -> Column:
    return Column(name, "whole number", meaning, optional=optional, refers=refers, page=page)


def _optional(*columns: Column) -> tuple[Column, ...]:
    return tuple(replace(column, optional=True) for column in columns)


def _exact(*columns: Column) -> tuple[Column, ...]:
    """Return columns whose numbers keep all digits."""
    return tuple(replace(column, is_exact=column.kind == "number") for column in columns)


def _of_keys(name: str, meaning: str, *columns: Column, page: bool = False) -> Table:
    return Table(name=name, meaning=meaning, columns=(_KEY, *columns), page=page)


def _of_records(
    name: str,
    record: type,
    meaning: str,
    *columns: Column,
    mode: Mode = "append",
    key: tuple[str, ...] = (),
    page: bool = False,
    public: bool = True,
) -> Table:
    """Declare a table of records; `columns` are instead of those of the same names, or besides."""
    changed = {column.name: column for column in columns}
    own = [changed.pop(column.name, column) for column in _all(record)]
    return Table(
        name=name,
        meaning=meaning,
        record=record,
        mode=mode,
        key=key,
        page=page,
        public=public,
        columns=(*own, *changed.values()),
    )


def _of_file(name: str, meaning: str, *columns: Column, mode: Mode = "append") -> Table:
    return Table(name=name, meaning=meaning, mode=mode, columns=columns, page=False)


_RUN, _LANE = shown(Run, "run"), shown(RowBlock, "lane")
_GROUP = shown(ActivityRows, "group")
_KEY = _whole("key", "The row of the key.", refers="keys.id")
_WORKER_NUMBER = _whole("worker", "The number of the worker.")
_TEXT, _NAME = Column("text", "text", "The text."), Column("name", "text", "The name.")
_STACK = (
    *named(StackRows, "start", "run"),
    _whole("prefix", "The prefix of the task.", refers="stack_prefixes.id"),
    _whole("worker", "The worker.", refers="stack_workers.id"),
    _whole("call", "The innermost call; none where Dask called C code.", optional=True, refers="calls.id"),
    shown(StackRows, "count"),
    shown(StackRows, "seconds", is_exact=True),
)

_DECLARED = (
    Table(
        name="state",
        meaning="One row: the recorder and its limits.",
        mode="whole",
        columns=(
            Column("now_s", "number", "The recorder's clock.", unit="s", optional=True, is_time=True),
            Column("active", "yes or no", "Whether a compute runs."),
            Column("final", "yes or no", "Whether this repeats the state after the end."),
            _whole("n_tasks", "How many rows of tasks were ever recorded."),
            _whole("n_dropped", "How many of them are no longer kept."),
            _whole("n_activities_dropped", "How many activities are no longer kept."),
            _whole("n_cores", "How many cores this process may use.", optional=True),
            _whole("limit_bytes", "How much memory it may use.", optional=True),
            Column("cache_unknown", "yes or no", "Whether the cache usage of some compute is not known."),
        ),
    ),
    _of_file("unknown", "Tables of which the file has not all rows.", _NAME, mode="whole"),
    Table(
        name="metadata",
        meaning="Facts about the recording: pieces of one JSON object.",
        mode="restart",
        columns=(_TEXT,),
    ),
    _of_records(
        "messages",
        Message,
        "What was dropped, restored or estimated, and what became of workers of a cluster: each time "
        "that one came, paused, was retired, died…",
        *_optional(shown(Message, "time_s")),
        mode="restart",
        page=True,
    ),
    _of_records("groups", Group, "Task groups.", page=True, public=False),
    _of_records("lanes", Lane, "Rows of the Gantt chart.", page=True, public=False),
    _of_records(
        "runs",
        Run,
        "One row for each compute.",
        *_optional(shown(Run, "start_s"), shown(Run, "n_runs")),
        Column("metric", "text", "The name of the user's cache metric.", optional=True),
        mode="by key",
        key=("run",),
        page=True,
    ),
    Table(
        name="graphs",
        meaning="Graphs of computes.",
        mode="by key",
        key=("run",),
        columns=(
            _RUN,
            Column("start_s", "number", "From when on data is in memory.", unit="s", is_time=True),
            Column("is_known", "yes or no", "Whether all of its keys and dependencies are in the file."),
            Column("is_valued", "yes or no", "Whether the user has a cache metric."),
        ),
    ),
    Table(
        name="keys",
        meaning="Keys of tasks and of data.",
        mode="restart",
        columns=(
            _RUN,
            _GROUP,
            _whole("dims", "How many whole numbers follow the group's name in the key; 255: it is text."),
            *(_whole(f"i{i}", "One of these; 0 behind the last.") for i in range(MAX_KEY_INTS)),
            Column("key_text", "text", "The text of a key that is text.", optional=True),
        ),
    ),
    _of_keys(
        "dependencies",
        "Dependencies of keys, all with keys of the same graph.",
        _whole("dependency", "The row of the key that it needs.", refers="keys.id"),
        page=True,
    ),
    _of_keys("kept", "Keys whose results the compute was asked for."),
    _of_keys("data", "Keys that were data, not tasks.", shown(Measured, "nbytes", kind="number")),
    _of_keys(
        "landed",
        "When results entered the scheduler's cache; the last row of a key counts.",
        Column("time_s", "number", "When it was.", unit="s", is_time=True),
    ),
    _of_keys(
        "valued",
        "Values of results in the user's metric; the last row of a key counts.",
        Column("value", "number", "The value.", optional=True),
    ),
    _of_keys(
        "skipped",
        "Whether tasks have to run; the last row of a key counts.",
        Column(
            "need",
            "text",
            "Whether it has to; skipped: a cluster had its result, or those of its dependents; released: no "
            "future needed it any more.",
            choices=NEEDS,
        ),
    ),
    Table(
        name="progress",
        meaning="How far each prefix of each compute is.",
        mode="by key",
        key=("run", "prefix"),
        columns=(
            *_all(PrefixProgress, "duration_s"),
            *_optional(shown(PrefixProgress, "duration_s")),
            Column(
                "scheduled_s",
                "number",
                "When the scheduler counted the tasks ahead.",
                unit="s",
                optional=True,
                is_time=True,
            ),
            _whole("asked", "About how many tasks it was asked for.", optional=True),
            Column("is_all", "yes or no", "Whether these were all tasks without a worker.", optional=True),
            _whole("queued", "Tasks that could run as soon as a worker has a free thread.", optional=True),
            _whole("waiting", "Tasks that wait for other tasks.", optional=True),
            _whole("no_worker", "Tasks for which no worker fits.", optional=True),
        ),
    ),
    Table(
        name="estimates",
        meaning="When computes that run will end.",
        mode="whole",
        columns=(_RUN, *_all(Estimate)),
        file=False,
    ),
    Table(
        name="stops",
        meaning="How computes that run can be stopped.",
        mode="whole",
        columns=(_RUN, Column("way", "text", "How.", choices=STOP_WAYS)),
        file=False,
    ),
    Table(
        name="live_states",
        meaning="What keeps computes that run from going on.",
        mode="whole",
        columns=(_RUN, Column("text", "text", "In words.")),
        file=False,
    ),
    Table(
        name="running",
        meaning="Tasks in flight.",
        mode="whole",
        columns=(
            _KEY,
            *_optional(_LANE),
            replace(FLAGS["observed_by"], page=False),
            *_optional(shown(RunningTask, "start_s")),
        ),
    ),
    Table(name="errors", meaning="Type and message of errors.", mode="restart", columns=(_TEXT,)),
    Table(
        name="tasks",
        meaning="One row each time that a task ended.",
        columns=(
            _KEY,
            _LANE,
            *({**FLAGS, "status": replace(FLAGS["status"], choices=STATUSES[:RUNNING])}.values()),
            shown(RowBlock, "duration", name="duration_s"),
            Column("stop_s", "number", "When it ended.", unit="s", is_time=True),
            *(replace(c, kind="number") if c.name == "nbytes" else c for c in columns_of(Measured)),
            _whole("error", "The error that it raised.", optional=True, refers="errors.id"),
        ),
    ),
    Table(
        name="cache",
        meaning="Results in memory of each group, from a moment on.",
        columns=(
            _RUN,
            _GROUP,
            *named(CacheRows, "time", "n_keys", "nbytes", "n_unsized"),
            *_optional(shown(CacheRows, "value")),
            shown(CacheRows, "n_unvalued"),
        ),
    ),
    Table(
        name="resources",
        meaning="Samples of this process and its children.",
        columns=named(ResourceRows),
    ),
    Table(
        name="sources",
        meaning="The workers that data came from, and errors of attempts; the first is none.",
        columns=(_TEXT,),
    ),
    Table(
        name="activities",
        meaning="Activities of a cluster's workers for tasks besides computing them.",
        columns=(
            _RUN,
            _LANE,
            _GROUP,
            replace(_KEY, page=False),
            Column("activity", "text", "The activity.", choices=ACTIVITIES),
            _whole(
                "source",
                "The worker that data came from, or the error.",
                optional=True,
                refers="sources.id",
            ),
            *named(ActivityRows, "start", "duration", "nbytes"),
        ),
    ),
    Table(
        name="workers",
        meaning="Workers of clusters.",
        mode="by key",
        key=("worker",),
        columns=(
            _WORKER_NUMBER,
            shown(WorkerSample, "worker", name="address"),
            *named(WorkerSample, "name", "n_threads"),
        ),
    ),
    Table(
        name="worker_samples",
        meaning="Workers of clusters at a moment.",
        columns=(
            shown(WorkerSample, "time_s"),
            _WORKER_NUMBER,
            *_all(WorkerSample, "time_s", "worker", "name"),
        ),
    ),
    Table(
        name="seconds",
        meaning="How long all workers together spent on one activity in executing tasks of one prefix.",
        mode="by key",
        key=("run", "prefix", "activity"),
        columns=named(Metric, "run", "prefix", "activity", "seconds"),
    ),
    Table(
        name="path_names",
        meaning="Prefixes of tasks and causes of waits on the critical path.",
        columns=(_TEXT,),
        file=False,
    ),
    Table(
        name="path",
        meaning="Steps of the critical path, each from the end of the one before; the first is its start.",
        columns=(
            Column("stop_s", "number", "When it ended.", unit="s", is_time=True),
            _whole("name", "The prefix of its task or its cause.", optional=True, refers="path_names.id"),
            Column("is_wait", "yes or no", "Whether none of its tasks ran."),
            _whole("row", "The row of its task; unknown where that is no longer kept.", optional=True),
        ),
        file=False,
    ),
    _of_records(
        "metrics",
        Metric,
        "One row for each activity that a worker of a cluster metered in executing tasks of a "
        "prefix. What tasks of other clients took that have the same prefix, and ran meanwhile, is in it.",
        *_exact(*columns_of(Metric)),
    ),
    _of_records(
        "transfers",
        Transfer,
        "One row for each time that data went between workers, as logged by the one that received it "
        "and by the one that sent it. Where workers do not give out their logs, there are the received ones "
        "only, without their bytes.",
    ),
    _of_file(
        "transfer_keys",
        "Keys of results that were sent.",
        _whole("transfer", "The row of the transfer.", refers="transfers.id"),
        replace(_TEXT, meaning="The key."),
    ),
    _of_records(
        "steals",
        Steal,
        "One row for each task that a cluster's scheduler wanted to move from a worker where it "
        "waited to one with less to do. Empty where the scheduler does not let itself be observed.",
        *_exact(*_all(Steal, "time_s")),
        page=True,
    ),
    _of_records(
        "logs",
        LogLine,
        "One row for each line that the scheduler and the workers of a cluster logged.",
        page=True,
    ),
    _of_file("functions", "Functions on call stacks.", *columns_of(Function)),
    _of_file(
        "calls",
        "Calls, each after the one that it was made from.",
        _whole("parent", "The call it was made from; none for the task's own.", optional=True),
        _whole("function", "The function that was called.", refers="functions.id"),
    ),
    _of_file("stack_prefixes", "Prefixes of tasks on call stacks.", _NAME),
    _of_file("stack_workers", "Workers of call stacks.", _NAME),
    _of_file(
        "sampling",
        "One row: how call stacks were sampled.",
        Column("interval_s", "number", "From one sample to the next."),
        Column("cycle_s", "number", "How long samples are counted together.", optional=True),
        _whole("n_dropped", "How many samples are no longer kept."),
        mode="restart",
    ),
    _of_file("stacks", "Samples of call stacks, counted.", *_STACK),
    _of_file("open_stacks", "Samples of the cycle that has not ended.", *_STACK, mode="whole"),
    _of_file(
        "lines",
        "Samples of call stacks, added up by source line.",
        shown(LineRows, "run"),
        _whole("prefix", "The prefix of the task.", refers="stack_prefixes.id"),
        _whole("worker", "The worker.", refers="stack_workers.id"),
        _whole(
            "function",
            "The function; none where Dask called C code.",
            optional=True,
            refers="functions.id",
        ),
        *_exact(*_all(LineRows, "run", "prefix", "worker", "function", "wait")),
        shown(LineRows, "wait", choices=WAITS),
    ),
    _of_records(
        "measured_lines",
        MeasuredLine,
        "One row for each source line of a function that was named (`lines=[f]`), in each task. "
        "Times have what a line called in them, so they add up within a function, not over all rows.",
        *_exact(*columns_of(MeasuredLine)),
    ),
    _of_records(
        "peak_lines",
        PeakLine,
        "One row for each source line that had allocated memory for a task when most was allocated "
        "(`memory=True`), the largest first; the last rows are what no task had.",
    ),
)

ALL: Mapping[str, Table] = {table.name: table for table in _DECLARED}
"""All tables of streams, by name, with all of their columns."""

PAGE: Mapping[str, Table] = marked(_DECLARED, "page")
"""The tables of pages, by name."""

FILE: Mapping[str, Table] = marked(_DECLARED, "file")
"""The tables of files, by name."""

RECORDS: Mapping[str, type[Any]] = {name: t.record for name, t in ALL.items() if t.record is not None}
"""The classes of the tables of records that a recording has, by name."""
