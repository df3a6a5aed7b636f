"""Time a task where it runs: a `Task` that delegates to the original one.

It is put into the scheduler's own copy of the graph just before the task is submitted, and taken out again
when it runs, so nothing else ever sees it. In this process its rows go straight to the run's lane, and the
wrapper may serve a later task. Sent to another process it becomes a
`taskscope.sources.local.shipped.ShippedTask`, which leaves its times in a file. An exception passes through
as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from threading import get_ident
from typing import Any, Self

from taskscope.model.guard import Guard
from taskscope.record import LaneBuffer, LaneKey, RunLog
from taskscope.sources.local.adapter.scheduler import GRAPH_SLOTS, GraphNode, Task, identity
from taskscope.sources.local.sizes import size_despite

_NAN = float("nan")


class TimedTask(Task):
    """A task that takes its own times, and has the attributes of the original task, `inner`."""

    __slots__ = ("inner", "log", "start")

    inner: GraphNode
    log: RunLog
    start: float

    # Attributes are set one by one: calling `Task.__init__` would take three times as long.
    __init__ = object.__init__

    def __call__(self, values: Any = ()) -> Any:  # noqa: PLR0915 - a call costs the user more than a line
        """Run the task and record when, where and how it ended."""
        # Each attribute of an object costs as much as an exact clock.
        lanes, perf_counter, thread_time, measures, graph, keep = self.log.needed_by_tasks
        key, inner = self.key, self.inner
        try:
            graph[key] = inner
            lane = lanes[get_ident()]
        except Exception:  # noqa: BLE001 - the first task of a thread, or a full stack
            lane = self._open_lane()
        # The task may outlive the compute.
        del graph
        cpu = thread_time()
        start = self.start = perf_counter()
        try:
            lane.open = self
            try:
                # Calling the node itself would take a detour through C, and find the same method.
                result = inner.__call__(values)
            except BaseException as error:
                self._fail(lane, start, perf_counter(), thread_time() - cpu, error)
                raise
            stop = perf_counter()
            cpu = thread_time() - cpu
            size = _NAN
            if measures is not None:
                try:
                    size = measures[type(result)](result)
                except BaseException as problem:  # noqa: BLE001 - a type not met before, or a user's that raises when measured
                    size = size_despite(problem, result)
            lane += (key, start, stop, cpu, size)
        finally:
            # A result may be interrupted while it is measured.
            lane.open = None
        keep(self)
        return result

    def _open_lane(self) -> LaneBuffer:
        try:
            return self.log.open_lane(get_ident())
        except RecursionError:
            # The user's own calls have all but filled the stack: there is no room for a message either.
            return _NOWHERE
        except Exception as error:  # noqa: BLE001 - a guard's frames may not fit on a full stack
            self.log.fault("a task", error)
            return _NOWHERE

    def _fail(self, lane: LaneBuffer, start: float, stop: float, cpu: float, error: BaseException) -> None:
        try:
            self.log.fail(self.key, lane.key, start, stop, cpu, error)
        except RecursionError:
            return
        except Exception as fault:  # noqa: BLE001 - a guard's frames may not fit on a full stack
            self.log.fault("a task", fault)

    def __reduce__(self) -> Any:
        """Return a recipe for the process that runs the task, whose times the run waits for."""
        log = self.log
        log.submitted[self.key] = log.perf_counter()
        if log.shipped is not None:
            with Guard("sending a task", log.fault):
                return log.shipped.ship(self.inner, self.key)
        return identity, (self.inner,)


def _delegated(name: str) -> property:
    return property(
        lambda task: getattr(task.inner, name), lambda task, value: setattr(task.inner, name, value)
    )


# Not by `__getattr__`: where a class has one, Python takes much longer for each attribute.
for _slot in GRAPH_SLOTS - {"key"}:
    setattr(TimedTask, _slot, _delegated(_slot))


class _Discarded(LaneBuffer):
    """A lane that keeps nothing."""

    __slots__ = ()

    def __iadd__(self, _row: Iterable[object], /) -> Self:  # type: ignore[misc]  # `+` makes a plain list
        """Keep nothing."""
        return self


_NOWHERE = _Discarded(LaneKey(0, 0))
_OWN_NOTE = f"when serializing {TimedTask.__module__}.{TimedTask.__qualname__} "


def drop_notes(error: BaseException) -> None:
    """Remove notes of this class that Python 3.14 and later add where the user's task cannot be pickled."""
    notes = getattr(error, "__notes__", None)
    if type(notes) is not list:
        return
    for place in reversed(range(len(notes))):
        if type(notes[place]) is str and notes[place].startswith(_OWN_NOTE):
            # It was pickled as an item of a tuple, which is the note before.
            del notes[max(place - 1, 0) : place + 1]


def current_error() -> BaseException | None:
    """Return the exception that is being raised through the caller, if any."""
    return sys.exc_info()[1]
