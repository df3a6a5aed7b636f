"""The tables of a recording as columns: `taskscope.Recording.to_pandas` returns them.

Tables of records are declared in `streams`, those that join several tables here; ``docs/tables.md`` is made
of `TABLES`. Times are seconds after `Recording.started_at`; unknown values are ``NaN`` or ``None``, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from taskscope.model.streams import ALL, RECORDS, named
from taskscope.model.tables.activities import ACTIVITIES, ActivityRows
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import Measured, RowBlock
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import FLAGS, Group, Lane, Run
from taskscope.model.tables.stacks import LineRows
from taskscope.model.tables.workers import WorkerSample
from taskscope.schema import Column, Table, shown


def _sampled(declared: type) -> tuple[Column, ...]:
    """Return columns as numbers where values may be unknown: NaN."""
    return tuple(replace(c, kind="number") if c.optional else c for c in named(declared))


def _time(name: str, meaning: str, *, optional: bool = False) -> Column:
    return Column(name, "number", meaning, unit="s", is_time=True, optional=optional)


def _text(name: str, meaning: str) -> Column:
    return Column(name, "text", meaning, optional=True)


_RUN, _KEY = shown(Run, "run"), Column("key", "text", "The task's key.")
_PREFIX = shown(Group, "prefix")
_GROUP = shown(Group, "name", name="group", meaning="The task group.")
_STOP = _time("stop_s", "When it ended.", optional=True)
_CPU, _SIZE, *_LATER = named(Measured)
_STATUS, _OBSERVED, *_LATER_FLAGS = FLAGS.values()
_SIZE = replace(_SIZE, name="result_bytes", kind="number", meaning="How large its result is.")
_TIME, _PERCENT, _BYTES, *_OTHERS = _sampled(ResourceRows)
_WORKER = _text("worker", "The number of the process.")

_DECLARED = (
    Table(
        name="tasks",
        meaning="One row each time that a task ended, or was in flight when the recording was taken.",
        columns=(
            *(_RUN, _KEY, _PREFIX, _GROUP, *named(Group, "span", "function")),
            *(*named(RowBlock, "lane"), *named(Lane, "worker", "thread"), *named(RowBlock, "start"), _STOP),
            Column(
                "queued_s",
                "number",
                "How long the results that it needs were in memory before it began; without any, how long "
                "after the compute it began.",
                unit="s",
                optional=True,
            ),
            *(_CPU, _STATUS, _OBSERVED, _SIZE, *_LATER, *_LATER_FLAGS),
            _text("error", "What it raised, type and message."),
        ),
    ),
    Table(
        name="activities",
        meaning="One row for the computing of each task; on a cluster others for what workers did for it "
        "besides, and for attempts that failed and were followed by another.",
        columns=(
            *(_RUN, _KEY, *named(ActivityRows, "lane")),
            Column("activity", "text", "What was done.", choices=("compute", *ACTIVITIES)),
            *(*named(ActivityRows, "start"), _STOP, _text("source", "The worker that data came from.")),
            *named(ActivityRows, "nbytes"),
            _text("error", "What the task, or the attempt, raised."),
        ),
    ),
    Table(
        name="resources",
        meaning="One row for each sample of this process and its children.",
        columns=(
            *(_TIME, _WORKER, _PERCENT, replace(_BYTES, optional=True)),
            Column("limit_bytes", "number", "How much it may use.", unit="bytes", optional=True),
            *_OTHERS,
        ),
    ),
    Table(
        name="workers",
        meaning="One row for each sample of a worker of a cluster.",
        columns=_sampled(WorkerSample),
    ),
    Table(
        name="cache",
        meaning="One row for each result that the scheduler kept in memory.",
        columns=(
            *(_RUN, _KEY, _PREFIX),
            Column("metric", "number", "Its size, in bytes or the metric that was asked for.", optional=True),
            _time("enter_s", "When it came."),
            _time("exit_s", "When it left; unknown on a cluster (see `holdings`).", optional=True),
        ),
    ),
    Table(
        name="holdings",
        meaning="How many results of each group a cluster had in memory, from a moment on; each counts once, "
        "however many workers have a copy of it.",
        columns=(
            *(*named(CacheRows, "time", "run"), _PREFIX, _GROUP),
            *named(CacheRows, "n_keys", "nbytes", "n_unsized"),
        ),
    ),
    Table(
        name="lines",
        meaning="One row for each source line that samples of call stacks saw in tasks of a prefix, of those "
        "that ran in this process. Times are estimates, and have what a line called in them, so they add up "
        "within a function, not over all rows; `self_seconds` add up over all of them. "
        "`recording.lines()` has them with source text and errors.",
        columns=(
            *(*named(LineRows, "run"), _PREFIX, replace(_WORKER, optional=False), _text("file", "The file.")),
            _text("function", "The function that the line is in; none where Dask called C code itself."),
            *named(LineRows, "line", "count", "seconds", "self_seconds"),
            *named(LineRows, "cpu_s", "cpu_known_s", "squares", "self_squares"),
        ),
    ),
    Table(
        name="dependencies",
        meaning="One row for each result that a task needs.",
        columns=(_RUN, _KEY, Column("dependency", "text", "The key of what it needs.")),
    ),
)

_OF_RECORDS = {
    name: replace(table, columns=named(RECORDS[name])) for name, table in ALL.items() if table.public
}

TABLES: Mapping[str, Table] = {
    "runs": _OF_RECORDS["runs"],
    **{table.name: table for table in _DECLARED},
    **_OF_RECORDS,
}
"""The tables of a recording, by name."""
