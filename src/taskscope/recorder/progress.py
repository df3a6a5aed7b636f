"""How far a run is, per prefix, from counts that are kept while folding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from taskscope.model.records import Group, PrefixProgress, RunningTask
from taskscope.recorder.grouped import GroupSums
from taskscope.recorder.runstate import RunState

__all__ = ["prefix_progress"]


def prefix_progress(
    state: RunState, groups: Sequence[Group], running: Sequence[RunningTask]
) -> list[PrefixProgress]:
    """Return one row per prefix of this run, in order of appearance."""
    run = state.run.run
    in_flight = Counter(t.group for t in running if t.run == run)
    ids = sorted({g for g, n in state.totals.items() if n > 0} | set(state.ended) | set(in_flight))
    rows: dict[str, PrefixProgress] = {}
    for group_id in ids:
        prefix = groups[group_id].prefix
        ended = state.ended.get(group_id) or GroupSums.zero()
        finished, erred, interrupted, lost, _ = ended.counts
        seen = finished + erred + interrupted + lost + in_flight[group_id]
        # While a large graph is still being counted, a prefix has at least the tasks seen of it.
        total = state.totals[group_id] if state.counted else max(state.totals[group_id], seen)
        # On a cluster a task whose worker died or whose result was lost runs again, and is one task still.
        finished = min(finished, total)
        erred = min(erred, total - finished)
        row = rows.get(prefix) or PrefixProgress(run, prefix, 0, 0, 0, 0, 0, 0.0)
        rows[prefix] = PrefixProgress(
            run=run,
            prefix=prefix,
            total=row.total + total,
            finished=row.finished + finished,
            erred=row.erred + erred,
            running=row.running + in_flight[group_id],
            interrupted=row.interrupted + min(interrupted + lost, total - finished - erred),
            duration_s=row.duration_s + ended.duration_s,
        )
    log = state.log
    if log is None or log.stop is not None or not log.scheduled:
        return list(rows.values())
    scheduled = log.scheduled
    # What has ended since the scheduler was asked does not wait any more.
    return [
        replace(row, scheduled=scheduled.get(prefix) if row.ahead else None) for prefix, row in rows.items()
    ]
