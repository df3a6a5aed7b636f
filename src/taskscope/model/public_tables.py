"""The tables of a recording as columns: `taskscope.Recording.to_pandas` returns them.

Tables of records are declared in `streams`, those that join several tables here; ``docs/tables.md`` is made
of `TABLES`. Times are seconds after `Recording.started_at`;
unknown values are ``NaN`` or ``None``, never 0. A key that is a string stays as it is, any other is its
``repr``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from taskscope.model.streams import ALL, RECORDS
from taskscope.model.tables.activities import ACTIVITIES, ActivityRows
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.columns import Measured, RowBlock
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import FLAGS, Group, Lane, Run
from taskscope.model.tables.stacks import LineRows
from taskscope.model.tables.workers import WorkerSample
from taskscope.schema import Column, Table, columns_of, derived, shown


def _public(declared: type, *but: str) -> tuple[Column, ...]:
    return tuple(column for column in columns_of(declared) if not column.internal and column.name not in but)


def _sampled(declared: type, *but: str) -> tuple[Column, ...]:
    """Return columns as numbers where values may be unknown: NaN."""
    return tuple(replace(c, kind="number") if c.optional else c for c in _public(declared, *but))


_KEY = derived("key", "text", "The task's key.")
_PREFIX = shown(Group, "prefix")
_GROUP = shown(Group, "name", name="group", meaning="The task group.")
_RUN = shown(Run, "run")
_MEASURED = {column.name: column for column in columns_of(Measured)}
_MEASURED["nbytes"] = replace(
    _MEASURED["nbytes"], name="result_bytes", kind="number", meaning="How large its result is."
)
_FIRST = ("cpu_s", "status", "observed_by", "nbytes")
_OF_TASKS = tuple(
    column
    for _, column in sorted(
        {**_MEASURED, **FLAGS}.items(), key=lambda named: (*_FIRST, named[0]).index(named[0])
    )
)
"""Columns of a task besides its times; later declarations are later columns."""

_DECLARED = (
    Table(
        name="tasks",
        meaning="One row each time that a task ended, or was in flight when the recording was taken.",
        columns=(
            _RUN,
            _KEY,
            _PREFIX,
            _GROUP,
            shown(Group, "span"),
            shown(Group, "function"),
            shown(RowBlock, "lane"),
            shown(Lane, "worker"),
            shown(Lane, "thread"),
            shown(RowBlock, "start", name="start_s"),
            derived("stop_s", "number", "When it ended.", unit="s", optional=True, is_time=True),
            derived(
                "queued_s",
                "number",
                "How long the results that it needs were in memory before it began; without any, how long "
                "after the compute it began.",
                unit="s",
                optional=True,
            ),
            *_OF_TASKS,
            derived("error", "text", "What it raised, type and message.", optional=True),
        ),
    ),
    Table(
        name="activities",
        meaning="One row for the computing of each task; on a cluster others for what workers did for it "
        "besides, and for attempts that failed and were followed by another.",
        columns=(
            _RUN,
            _KEY,
            shown(ActivityRows, "lane"),
            derived("activity", "text", "What was done.", choices=("compute", *ACTIVITIES)),
            shown(ActivityRows, "start", name="start_s"),
            derived("stop_s", "number", "When it ended.", unit="s", optional=True, is_time=True),
            derived("source", "text", "The worker that data came from.", optional=True),
            shown(ActivityRows, "nbytes", meaning="How much came from there.", optional=True),
            derived("error", "text", "What the task, or the attempt, raised.", optional=True),
        ),
    ),
    Table(
        name="resources",
        meaning="One row for each sample of this process and its children.",
        columns=(
            shown(ResourceRows, "time", name="time_s"),
            derived("worker", "text", "The number of the process.", optional=True),
            shown(ResourceRows, "cpu_percent"),
            shown(ResourceRows, "rss_bytes", optional=True),
            derived("limit_bytes", "number", "How much it may use.", unit="bytes", optional=True),
            *_sampled(ResourceRows, "time", "cpu_percent", "rss_bytes"),
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
            _RUN,
            _KEY,
            _PREFIX,
            derived(
                "metric", "number", "Its size, in bytes or the metric that was asked for.", optional=True
            ),
            derived("enter_s", "number", "When it came.", unit="s", is_time=True),
            derived(
                "exit_s",
                "number",
                "When it left; unknown on a cluster (see `holdings`).",
                unit="s",
                optional=True,
                is_time=True,
            ),
        ),
    ),
    Table(
        name="holdings",
        meaning="What workers of a cluster were seen to hold of each group, from a moment on.",
        columns=(
            shown(CacheRows, "time", name="time_s"),
            shown(CacheRows, "run"),
            _PREFIX,
            _GROUP,
            shown(CacheRows, "n_keys"),
            shown(CacheRows, "nbytes"),
            shown(CacheRows, "n_unsized"),
        ),
    ),
    Table(
        name="lines",
        meaning="One row for each source line that samples of call stacks saw in tasks of a prefix, of those "
        "that ran in this process. Times are estimates, and have what a line called in them, so they add up "
        "within a function, not over all rows; `self_seconds` add up over all of them. "
        "`recording.lines()` has them with source text and errors.",
        columns=(
            shown(LineRows, "run"),
            _PREFIX,
            derived("worker", "text", "The number of the process."),
            derived("file", "text", "The file.", optional=True),
            derived(
                "function",
                "text",
                "The function that the line is in; none where Dask called C code itself.",
                optional=True,
            ),
            *(shown(LineRows, name) for name in ("line", "count", "seconds", "self_seconds")),
            *(shown(LineRows, name) for name in ("cpu_s", "cpu_known_s", "squares", "self_squares")),
        ),
    ),
    Table(
        name="dependencies",
        meaning="One row for each result that a task needs.",
        columns=(_RUN, _KEY, derived("dependency", "text", "The key of what it needs.")),
    ),
)

_OF_RECORDS = {
    name: replace(table, columns=_public(RECORDS[name])) for name, table in ALL.items() if table.public
}

TABLES: Mapping[str, Table] = {
    "runs": _OF_RECORDS["runs"],
    **{table.name: table for table in _DECLARED},
    **_OF_RECORDS,
}
"""The tables of a recording, by name."""
