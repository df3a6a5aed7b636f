"""How far a run is, per prefix, from counts that are kept while folding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from taskscope.model.records import Group, PrefixProgress, RunningTask
from taskscope.recorder.runstate import RunState

__all__ = ["prefix_progress"]


def prefix_progress(
    state: RunState, groups: Sequence[Group], running: Sequence[RunningTask]
) -> list[PrefixProgress]:
    """Return one row per prefix of this run, in order of appearance."""
    run = state.run.run
    in_flight = Counter(t.group for t in running if t.run == run)
    ids = sorted({g for g, n in state.totals.items() if n > 0} | set(state.counts) | set(in_flight))
    rows: dict[str, list[int]] = {}
    seconds: Counter[str] = Counter()
    for group_id in ids:
        prefix = groups[group_id].prefix
        finished, erred, interrupted, lost = (state.counts.get(group_id, Counter())[i] for i in range(4))
        done = finished + erred + interrupted + lost
        row = rows.setdefault(prefix, [0, 0, 0, 0, 0])
        # While a large graph is still being counted, a prefix has at least the tasks that were seen of it.
        row[0] += max(state.totals[group_id], done + in_flight[group_id])
        row[1] += finished
        row[2] += erred
        row[3] += in_flight[group_id]
        row[4] += interrupted + lost
        seconds[prefix] += state.durations[group_id]
    return [PrefixProgress(run, prefix, *row, duration_s=seconds[prefix]) for prefix, row in rows.items()]
