"""The part of a recording that a block of code has seen, where computes had begun before it."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.model.recording import RecordedData
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
            n_before[block.run] += len(np.setdiff1d(block.task, part.task))
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
