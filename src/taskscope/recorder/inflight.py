"""What is running now, of all runs that go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from taskscope.model.keys import key_text
from taskscope.model.records import RunningTask
from taskscope.recorder.runlog import RunLog
from taskscope.recorder.tables import GroupTable, LaneTable

__all__ = ["tasks_in_flight"]

_MAX_RUNNING = 1_000


def tasks_in_flight(
    logs: Iterable[RunLog], lanes: LaneTable, groups: GroupTable, origin: float
) -> list[RunningTask]:
    """Return the tasks in flight, at most 1,000, longest running first, in seconds after `origin`."""
    found = [task for log in logs for task in _of_run(log, lanes, groups, origin)]
    return sorted(found, key=lambda task: task.start_s)[:_MAX_RUNNING]


def _of_run(log: RunLog, lanes: LaneTable, groups: GroupTable, origin: float) -> Iterator[RunningTask]:
    seen = [(lanes.id(lane), key, start) for lane, key, start in log.in_flight()]
    sent = [(None, key, start) for key, start in list(log.submitted.items())]
    tasks = [*seen, *sent][:_MAX_RUNNING]
    keys = [key for _, key, _ in tasks]
    ids = groups.ids_of_others(keys) if log.is_of_others else groups.ids(keys)
    for (lane, key, start), group in zip(tasks, ids, strict=True):
        yield RunningTask(log.run, lane, group, key_text(key), start - origin)
