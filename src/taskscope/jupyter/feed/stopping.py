"""How each compute that goes on can be stopped, and stopping it: this one, and nothing else of the user's."""

from __future__ import annotations

import threading
from collections.abc import Callable

from taskscope.jupyter.feed.verbs import BadRequestError
from taskscope.model.streams import StopWay
from taskscope.record import RunLog
from taskscope.session import Session

PATIENCE_S = 5.0
"""How long a compute may take to end after it was asked to, before it can be asked again."""


class Stopping:
    """Stops computes."""

    def __init__(
        self,
        session: Session,
        *,
        execution: Callable[[], str | None],
        clock: Callable[[], float],
        interrupt: Callable[[], None],
        is_waiting: Callable[[], bool],
    ) -> None:
        self._session = session
        self._execution = execution
        self._clock = clock
        self._interrupt = interrupt
        self._is_waiting = is_waiting
        self._asked: dict[int, tuple[StopWay, float]] = {}

    def ways(self) -> dict[int, StopWay]:
        """Return how each compute of this process that goes on can be stopped, by its number."""
        ways = {log.run: self._way(log) for log in self._session.recorder.going()}
        for run, (way, at) in self._asked.items():
            if ways.get(run) == way and self._clock() - at < PATIENCE_S:
                ways[run] = "asked"
        return ways

    def stop(self, run: int, asked: StopWay, *, is_heard: bool) -> None:
        """Stop a compute in the way that a page knows of; `is_heard` says whether that came at once."""
        ways = self.ways()
        way = ways.get(run)
        if way is None:
            raise BadRequestError("it has ended")
        if way == "asked":
            return
        if way not in (asked, "either"):
            raise BadRequestError("its cell has ended, or begun to do something else, meanwhile")
        if asked == "cancel":
            self._session.cluster.cancel(run)
        elif not is_heard:
            raise BadRequestError("this kernel is heard only between cells; interrupt it from the menu")
        elif self._is_of_this_moment(run):
            self._interrupt()
        else:
            raise BadRequestError("its cell does something else by now")
        still = {number: at for number, at in self._asked.items() if number in ways}
        self._asked = {**still, run: (way, self._clock())}

    def _way(self, log: RunLog) -> StopWay:
        is_of_main = log.thread == threading.main_thread().ident
        if not log.is_held_elsewhere:
            return "interrupt" if is_of_main else "thread"
        if is_of_main and self._session.cluster.is_waited_for(log.run):
            return "interrupt"
        return "either" if is_of_main and self._is_of_running_cell(log) else "cancel"

    def _is_of_running_cell(self, log: RunLog) -> bool:
        return log.execution is not None and log.execution == self._execution()

    def _is_of_this_moment(self, run: int) -> bool:
        """Return whether an interrupt of the main thread reaches what waits for this compute, or its cell."""
        logs = [log for log in self._session.recorder.going() if log.run == run]
        return any(self._is_of_running_cell(log) for log in logs) or self._is_waiting()
