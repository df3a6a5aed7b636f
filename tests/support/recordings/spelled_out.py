"""Recordings spelled out task by task, without a recorder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from taskscope.model.keys import key_block, split_key
from taskscope.model.tables.columns import GraphColumns, RowBlock, narrow_sizes
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import Group, Lane, Message, Run, RunStatus
from taskscope.recording import Recording
from tests.support.recordings.task_blocks import Row, flags_of

ZERO_S = 100.0


def run_of(
    run: int = 0,
    *,
    n_tasks: int,
    start_s: float = 0.0,
    stop_s: float | None = 1.0,
    status: RunStatus = "finished",
    error: str | None = None,
    n_workers: int | None = 2,
    scheduler: str = "threads",
) -> Run:
    """Return a run with times after the recording's zero."""
    stop = None if stop_s is None else ZERO_S + stop_s
    return Run(run, None, None, scheduler, n_workers, n_tasks, ZERO_S + start_s, stop, status, error)


def recording_of(
    rows: Sequence[Row],
    runs: Sequence[Run] | None = None,
    *,
    resources: Sequence[tuple[float, ...]] = (),
    messages: Sequence[Message] = (),
    dropped: int = 0,
    metadata: Mapping[str, object] | None = None,
) -> Recording:
    """Return a recording of these tasks; groups are numbered by their keys' first appearance."""
    groups: dict[str, Group] = {}
    for row in rows:
        name, prefix = split_key(row.key)
        groups.setdefault(name, Group(len(groups), name, prefix))
    numbers = sorted({row.run for row in rows})
    by_run = {run: [row for row in rows if row.run == run] for run in numbers}
    n_lanes = max((row.lane for row in rows), default=-1) + 1
    samples = ResourceRows.of([(ZERO_S + time_s, *sample) for time_s, *sample in resources])
    return Recording(
        started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        zero_s=ZERO_S,
        runs=tuple([run_of(run, n_tasks=len(by_run[run])) for run in numbers] if runs is None else runs),
        groups=tuple(groups.values()),
        lanes=tuple(Lane(i, "1234", 50 + i, f"thread {i}") for i in range(n_lanes)),
        blocks=tuple(_block(run, mine) for run, mine in by_run.items()),
        graphs={run: _graph(mine, groups) for run, mine in by_run.items()},
        resources=samples,
        messages=tuple(messages),
        now_s=ZERO_S + 10.0,
        dropped=dropped,
        metadata=dict(metadata or {}),
    )


def _block(run: int, rows: Sequence[Row]) -> RowBlock:
    return RowBlock(
        run=run,
        task=np.arange(len(rows), dtype="i4"),
        start=np.array([ZERO_S + r.start_s for r in rows]),
        duration=np.array([r.stop_s - r.start_s for r in rows], "f4"),
        cpu_s=np.array([r.cpu_s for r in rows], "f4"),
        nbytes=narrow_sizes(np.array([r.size_bytes for r in rows])),
        lane=np.array([r.lane for r in rows], "u2"),
        flags=flags_of(rows),
    )


def _graph(rows: Sequence[Row], groups: Mapping[str, Group]) -> GraphColumns:
    return GraphColumns(
        keys=key_block([row.key for row in rows]),
        group=np.array([groups[split_key(row.key)[0]].id for row in rows], "u4"),
        n_dependencies=np.zeros(len(rows), "u1"),
        edges=np.empty(0, "i4"),
        enter=np.array([ZERO_S + row.stop_s for row in rows]),
        enter_zero=ZERO_S,
        kept=np.array([len(rows) - 1], "i4"),
        data=np.empty(0, "i4"),
        data_sizes=np.empty(0, "f8"),
        values=None,
        errors={i: row.error or "ValueError: no" for i, row in enumerate(rows) if row.status == "erred"},
    )
