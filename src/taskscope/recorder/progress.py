"""How far a run is, per prefix, from counts that are kept while folding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from taskscope.model.records import Group, PrefixProgress
from taskscope.recorder.grouped import GroupSums
from taskscope.recorder.runstate import RunState

__all__ = ["prefix_progress"]


def prefix_progress(
    state: RunState, groups: Sequence[Group], in_flight: Mapping[int, int]
) -> list[PrefixProgress]:
    """Return one row per prefix of this run, in order of appearance.

    Parameters
    ----------
    state
        The run.
    groups
        All groups.
    in_flight
        How many of its tasks are in flight, by group id.
    """
    run = state.run.run
    off = state.deductions
    ids = sorted({g for g, n in state.graph.totals.items() if n > 0} | set(state.ended) | set(in_flight))
    is_old = state.log is not None and bool(state.log.sent_counts)
    rows: dict[str, PrefixProgress] = {}
    for group_id in ids:
        prefix = groups[group_id].prefix
        ended = state.ended.get(group_id) or GroupSums.zero()
        # A row may be replaced before it was folded itself.
        counts = [max(n - off.superseded(group_id, status), 0) for status, n in enumerate(ended.counts)]
        finished, erred, interrupted, lost, _ = counts
        running = in_flight.get(group_id, 0)
        seen = finished + erred + interrupted + lost + running
        # While a large graph is still being counted, a prefix has at least the tasks seen of it.
        planned = max(state.graph.totals[group_id] - off.spared[group_id], 0)
        total = planned if state.graph.is_counted else max(planned, seen)
        finished = min(finished, total)
        erred = min(erred, total - finished)
        if is_old:
            # What has ended since the scheduler was asked is in flight no more.
            running = min(running, total - finished - erred)
        row = rows.get(prefix) or PrefixProgress(run, prefix, 0, 0, 0, 0, 0, 0.0)
        rows[prefix] = PrefixProgress(
            run=run,
            prefix=prefix,
            total=row.total + total,
            finished=row.finished + finished,
            erred=row.erred + erred,
            running=row.running + running,
            interrupted=row.interrupted + max(min(interrupted + lost, total - finished - erred - running), 0),
            duration_s=row.duration_s + ended.duration_s,
            spared=row.spared + off.spared[group_id],
            again=row.again + sum(ended.counts) - sum(counts),
        )
    log = state.log
    if log is None or log.stop is not None or not log.scheduled:
        return list(rows.values())
    scheduled = log.scheduled
    # What has ended since the scheduler was asked does not wait any more.
    return [
        replace(row, scheduled=scheduled.get(prefix) if row.ahead else None) for prefix, row in rows.items()
    ]
