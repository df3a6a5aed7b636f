"""What samples that workers of a cluster took of their tasks' call stacks stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taskscope.model.recording import RecordedData

__all__ = ["in_proportion", "lacks_profile"]


def in_proportion(recording: RecordedData) -> RecordedData:
    """Return the recording with samples of clusters that stand for the measured time of their prefixes.

    Workers take fewer samples than one an interval where threads hold the interpreter's lock.
    """
    rows, prefixes = recording.stacks.rows, recording.stacks.prefixes
    on_clusters = _on_clusters(recording)
    mine = np.isin(rows.run, on_clusters)
    if not mine.any() or recording.dropped:
        return recording
    tasks = recording.tasks
    spent: dict[str, float] = dict.fromkeys(prefixes, 0.0)
    of_cluster = np.isin(tasks.run, on_clusters)
    sums = np.bincount(tasks.group[of_cluster], (tasks.stop - tasks.start)[of_cluster])
    for group, seconds in zip(recording.groups, sums.tolist(), strict=False):
        if group.prefix in spent:
            spent[group.prefix] += seconds
    counts = np.bincount(rows.prefix[mine], rows.count[mine], len(prefixes))
    worth = np.array(list(spent.values())) / np.maximum(counts, 1)
    seconds_of = np.where(mine, rows.count * worth[rows.prefix], rows.seconds)
    return replace(recording, stacks=replace(recording.stacks, rows=replace(rows, seconds=seconds_of)))


def lacks_profile(recording: RecordedData) -> bool:
    """Return whether computes on clusters are in a recording, and no sample of any."""
    on_clusters = _on_clusters(recording)
    return bool(on_clusters) and not np.isin(recording.stacks.rows.run, on_clusters).any()


def _on_clusters(recording: RecordedData) -> list[int]:
    return [run.run for run in recording.runs if run.is_own_on_cluster]
