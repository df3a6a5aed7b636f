"""What is running now, of all runs that go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from taskscope.model.keys import key_text
from taskscope.model.records import RunningTask
from taskscope.recorder.runlog import RunLog
from taskscope.recorder.tables import GroupTable, LaneTable

__all__ = ["count_in_flight", "tasks_in_flight"]

_MAX_RUNNING = 1_000


def tasks_in_flight(
    logs: Iterable[RunLog], lanes: LaneTable, groups: GroupTable, origin: float
) -> list[RunningTask]:
    """Return the tasks in flight, at most 1,000, longest running first, in seconds after `origin`."""
    found = [task for log in logs for task in _of_run(log, lanes, groups, origin)]
    return sorted(found, key=lambda task: task.start_s)[:_MAX_RUNNING]


def _of_run(log: RunLog, lanes: LaneTable, groups: GroupTable, origin: float) -> Iterator[RunningTask]:
    tasks = [*log.in_flight(), *log.sent(_MAX_RUNNING)][:_MAX_RUNNING]
    ids = _ids(log, [key for _, key, _ in tasks], groups)
    for (lane, key, start), group in zip(tasks, ids, strict=True):
        lane_id = None if lane is None else lanes.id(lane)
        yield RunningTask(log.run, lane_id, group, key_text(key), start - origin)


def count_in_flight(log: RunLog | None, groups: GroupTable) -> Counter[int]:
    """Return how many tasks of each group of a run are in flight, by the group's id.

    Of a cluster with very many of them these are as many as the scheduler said at the last look.
    """
    if log is None:
        return Counter()
    seen = [key for _, key, _ in log.in_flight()]
    sent = log.sent_counts
    if not sent or len(log.submitted) <= _MAX_RUNNING:
        return Counter(_ids(log, [*seen, *list(log.submitted)], groups))
    counts = Counter(_ids(log, seen, groups))
    for group, (_, n) in zip(_ids(log, [key for key, _ in sent], groups), sent, strict=True):
        counts[group] += n
    return counts


def _ids(log: RunLog, keys: Sequence[object], groups: GroupTable) -> list[int]:
    return groups.ids_of_others(keys) if log.is_of_others else groups.ids(keys)
