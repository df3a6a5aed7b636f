"""The part of a recording that a block of code has seen, or that lies in a range of time or a span."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import format_duration
from taskscope.analysis.totals import stop_of
from taskscope.errors import OptionError, UnknownNameError, unknown_name
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import RowBlock, distinct
from taskscope.model.tables.records import BEFORE, Run


def clipped(data: RecordedData, first_run: int, n_ended: Mapping[int, int]) -> RecordedData:
    """Return a recording of the runs from `first_run` on, and of earlier ones from its zero on.

    Tasks keep their true times: the new zero is the start of the first task that was running at the old
    one. An earlier run begins there, without the tasks that were known to have ended: `n_ended` of each.
    """
    runs, earlier = {run.run for run in data.runs if run.run >= first_run}, n_ended.keys()
    zero_s = data.zero_s
    blocks, n_before = [], dict.fromkeys(earlier, 0)
    known_s = {run: _known_s(data, run, n) for run, n in n_ended.items()}
    for block in data.blocks:
        if block.run in runs:
            blocks.append(block)
        elif block.run in earlier:
            part = block.part(block.start + block.duration > known_s[block.run])
            # A task that failed and ran again counts once.
            n_before[block.run] += len(distinct(block.task[~np.isin(block.task, part.task)]))
            if len(part):
                blocks.append(part)
                zero_s = min(zero_s, float(part.start.min()))
    kept = runs | earlier
    activities, stacks = data.activities, data.stacks
    goes_on = activities.rows.start + activities.rows.duration > data.zero_s
    return replace(
        data,
        zero_s=zero_s,
        started_at=data.started_at + timedelta(seconds=zero_s - data.zero_s),
        runs=tuple(_clip(run, zero_s, n_before) for run in data.runs if run.run in kept),
        blocks=tuple(blocks),
        graphs={run: graph for run, graph in data.graphs.items() if run in kept},
        activities=replace(
            activities, rows=activities.rows.part(_of(activities.rows.run, runs, earlier, goes_on))
        ),
        stacks=replace(
            stacks,
            rows=stacks.rows.part(_of(stacks.rows.run, runs, earlier, stacks.rows.start >= data.zero_s)),
            # Earlier runs are on clusters, without lines.
            lines=stacks.lines.part(np.isin(stacks.lines.run, list(runs))),
        ).pruned(),
        measured_lines=tuple(line for line in data.measured_lines if line.run in runs),
        peak_lines=tuple(line for line in data.peak_lines if line.run is None or line.run in runs),
        holdings=data.holdings.part(_of(data.holdings.run, runs, earlier, data.holdings.time >= data.zero_s)),
    )


def _known_s(data: RecordedData, run: int, n_ended: int) -> float:
    """Return the stop of the last task of a run that was known to have ended."""
    stops = [block.start + block.duration for block in data.blocks if block.run == run]
    ordered = np.sort(np.concatenate(stops or [np.empty(0)]))[:n_ended]
    return float(ordered[-1]) if len(ordered) else -np.inf


def _clip(run: Run, zero_s: float, n_before: dict[int, int]) -> Run:
    if run.run not in n_before:
        return run
    n_tasks = max(run.n_tasks - n_before[run.run], 0)
    unknown: dict[str, Any] = dict.fromkeys(BEFORE)
    return replace(run, start_s=max(run.start_s, zero_s), n_tasks=n_tasks, **unknown)


def _of(
    run: NDArray[np.integer],
    runs: AbstractSet[int],
    earlier: AbstractSet[int],
    goes_on: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    return np.isin(run, list(runs)) | (np.isin(run, list(earlier)) & goes_on)


def within(
    data: RecordedData, start_s: float | None = None, stop_s: float | None = None, span: str | None = None
) -> RecordedData:
    """Return the part of a recording in a range of seconds after its zero, and in the time of a span.

    Tasks and computes are cut at its ends.

    Raises
    ------
    OptionError
        If the range is empty, or nothing was recorded in it.
    UnknownNameError
        If no task is of the span.
    """
    end_s = max((stop_of(data, run) for run in data.runs), default=data.now_s) - data.zero_s
    first_s, last_s = (0.0, end_s) if span is None else _time_of(data, span)
    for name, value in (("start_s", start_s), ("stop_s", stop_s)):
        if value is not None and not (type(value) in (int, float) and math.isfinite(value)):
            raise OptionError(f"{name} must be seconds after the recording's start, got {value!r}")
    first_s, last_s = max(first_s, start_s or 0.0), min(last_s, end_s if stop_s is None else stop_s)
    if first_s >= last_s:
        raise OptionError(
            f"nothing was recorded from {format_duration(first_s)} to {format_duration(last_s)}: the range "
            f"must end after it starts and lie within 0 s and {format_duration(end_s)}"
        )
    return _cut(data, data.zero_s + first_s, data.zero_s + last_s)


def _time_of(data: RecordedData, span: str) -> tuple[float, float]:
    """Return when the first task of a span and of the spans in it began, and when the last one ended."""
    names = {group.span for group in data.groups if group.span is not None}
    own = [g.id for g in data.groups if g.span is not None and f"{g.span} / ".startswith(f"{span} / ")]
    tasks = data.tasks
    is_own = np.isin(tasks.group, own)
    if not is_own.any():
        raise UnknownNameError(unknown_name("span", span, sorted(names)))
    return float(tasks.start[is_own].min()), float(tasks.stop[is_own].max())


def _cut(data: RecordedData, first_s: float, last_s: float) -> RecordedData:
    blocks = [part for block in data.blocks if len(part := _cut_rows(block, first_s, last_s))]
    runs = [run for run in data.runs if run.asked_s < last_s and stop_of(data, run) > first_s]
    rows = data.activities.rows
    begins = data.stacks.rows.start
    return replace(
        data,
        runs=tuple(_cut_run(data, run, blocks, first_s, last_s) for run in runs),
        blocks=tuple(blocks),
        resources=data.resources.between(first_s, last_s),
        activities=replace(
            data.activities, rows=rows.part((rows.start < last_s) & (rows.start + rows.duration > first_s))
        ),
        stacks=replace(data.stacks, rows=data.stacks.rows.part((begins >= first_s) & (begins <= last_s))),
        workers=tuple(sample for sample in data.workers if first_s <= sample.time_s <= last_s),
        messages=tuple(message for message in data.messages if first_s <= message.time_s <= last_s),
        metadata={name: value for name, value in data.metadata.items() if name != "wall_s"},
        dropped=0,
    )


def _cut_rows(block: RowBlock, first_s: float, last_s: float) -> RowBlock:
    """Return the tasks in a range, with the CPU time of cut ones in proportion."""
    block = block.part((block.start < last_s) & (block.start + block.duration > first_s))
    start = np.maximum(block.start, first_s)
    duration = np.minimum(block.start + block.duration, last_s) - start
    share = np.divide(duration, block.duration, out=np.ones(len(block)), where=block.duration > 0)
    return replace(
        block,
        start=start,
        duration=duration.astype(np.float32),
        cpu_s=(block.cpu_s * share).astype(np.float32),
    )


def _cut_run(data: RecordedData, run: Run, blocks: list[RowBlock], first_s: float, last_s: float) -> Run:
    own = [block.task for block in blocks if block.run == run.run]
    n_tasks = len(distinct(np.concatenate([np.empty(0, int), *own])))
    unknown: dict[str, Any] = dict.fromkeys(BEFORE) if run.asked_s < first_s else {}
    # The range has ended, whatever became of the compute after it.
    status = "finished" if run.stop_s is None or run.stop_s > last_s else run.status
    start_s = max(run.start_s, first_s)
    return replace(
        run,
        start_s=start_s,
        stop_s=min(stop_of(data, run), last_s),
        n_tasks=n_tasks,
        status=status,
        **unknown,
    )
