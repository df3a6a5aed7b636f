"""Time a task where it runs: a `Task` that delegates to the one it stands for.

It is put into the scheduler's own copy of the graph just before the task is submitted, and taken out again
when the task has landed, so nothing else ever sees it. In this process its rows go straight to the run's
lane. Sent to another process it becomes a `taskscope.sources.shipped.ShippedTask`, whose timing travels back
with the result.
"""

from __future__ import annotations

import os
import sys
from threading import get_ident
from types import TracebackType
from typing import Any

from dask._task_spec import GraphNode, Task

from taskscope.recorder import LaneBuffer, LaneKey, RunLog
from taskscope.sources import shipped
from taskscope.sources.shipped import ship
from taskscope.sources.sizes import measures, result_size

__all__ = ["TimedTask", "current_error", "unlink_own_frames"]

_OWN_FILES = (__file__, shipped.__file__)


class TimedTask(Task):
    """A task that takes its own times.

    Parameters
    ----------
    key
        The key of the task.
    inner
        The task it stands for; every attribute but its own is that one's.
    log
        Where the times go.
    """

    __slots__ = ("inner", "log")

    def __init__(self, key: object, inner: GraphNode, log: RunLog) -> None:
        # Not Task.__init__: what stays unset here is looked up on `inner`, see __getattr__.
        self.key = key  # type: ignore[assignment]  # whatever Dask took as a key
        self.inner = inner
        self.log = log

    def __getattr__(self, name: str) -> Any:
        """Return the inner task's attribute; called only for slots this one leaves unset."""
        return getattr(object.__getattribute__(self, "inner"), name)

    def __call__(self, values: Any = ()) -> Any:
        """Run the task and record when, where and how it ended."""
        log = self.log
        try:
            lane = log.lanes[get_ident()]
        except KeyError:
            lane = self._open_lane()
        cpu = log.thread_time()
        start = log.perf_counter()
        lane.open = (self.key, start)
        try:
            result = self.inner(values)
        except BaseException as error:
            self._fail(lane, start, log.perf_counter(), log.thread_time() - cpu, error)
            lane.open = None
            raise
        stop = log.perf_counter()
        cpu = log.thread_time() - cpu
        try:
            size = measures[type(result)](result)
        except Exception:  # noqa: BLE001 - a type not met before, or a user's type that raises when measured
            size = result_size(result)
        lane.extend((self.key, start, stop, cpu, size))
        lane.open = None
        return result

    def _open_lane(self) -> LaneBuffer:
        ident = get_ident()
        try:
            return self.log.open_lane(ident)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not fail the user's task
            self.log.fault("a task", error)
            return LaneBuffer(LaneKey(os.getpid(), ident))

    def _fail(self, lane: LaneBuffer, start: float, stop: float, cpu: float, error: BaseException) -> None:
        try:
            self.log.fail(self.key, lane.key, start, stop, cpu, error)
        except Exception as fault:  # noqa: BLE001 - a fault of ours must not take the place of the user's error
            self.log.fault("a task", fault)

    def __reduce__(self) -> Any:
        """Return what a process needs to run the task there; the run waits for its timing from now on."""
        self.log.submitted[self.key] = self.log.perf_counter()
        return ship(self.inner, self.key, self.log)


def unlink_own_frames(error: BaseException) -> None:
    """Take timed tasks out of an exception's traceback, so that it is that of an unrecorded run."""
    before: TracebackType | None = None
    here = error.__traceback__
    while here is not None:
        code = here.tb_frame.f_code
        # By name, because frames that come from another process are imitations.
        if before is not None and code.co_name == "__call__" and code.co_filename in _OWN_FILES:
            before.tb_next = here.tb_next
        else:
            before = here
        here = here.tb_next


def current_error() -> BaseException | None:
    """Return the exception that is being raised through the caller, if any."""
    return sys.exc_info()[1]
