"""A snapshot of a compute that goes on has each of its tasks once, also those that end just then."""

from __future__ import annotations

from typing import Any

from taskscope.record import LaneBuffer, Recorder, RunLog
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, independent, lane_of, write_task


class EndingLane(LaneBuffer):
    """A lane whose task ends in the moment in which it is read."""

    __slots__ = ("_log", "_task")

    def begin(self, log: RunLog, task: tuple[object, float]) -> None:
        self._log, self._task = log, task

    def _end_and_begin(self) -> Any:
        key, start = self._task
        write_task(self._log, key, start, start + 1.0)
        self.begin(self._log, ("y", start + 1.0))
        return self._task

    open = property(_end_and_begin, lambda _lane, _task: None)


def test_a_task_that_ends_while_a_snapshot_is_taken_is_in_it_once(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, independent(["x", "y"]))
    lane = EndingLane(lane_of(log).key)
    lane.begin(log, ("x", fake_clock.perf_counter()))
    log.lanes[1] = lane
    fake_clock.advance(3.0)
    tasks = recorder.snapshot().tasks
    assert [list(tasks.keys.iter_text(["x", "y"])), tasks.status.tolist()] == [["x", "y"], [0, 4]]
