"""A snapshot of a compute that goes on has each of its tasks once, also those that end just then."""

from __future__ import annotations

from taskscope.model.tables.records import FINISHED, RUNNING
from taskscope.record import GraphSource, LaneBuffer, Recorder, RunLog
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, independent, lane_of, record_run, write_task


class EndingLane(LaneBuffer):
    """A lane whose task ends in the moment in which it is read."""

    __slots__ = ("_log", "_task")

    def begin(self, log: RunLog, task: tuple[object, float]) -> None:
        self._log, self._task = log, task

    def running(self) -> tuple[object, float]:
        key, start = self._task
        write_task(self._log, key, start, start + 1.0)
        self.begin(self._log, ("y", start + 1.0))
        return self._task


def test_a_task_that_ends_while_a_snapshot_is_taken_is_in_it_once(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, independent(["x", "y"]))
    lane = EndingLane(lane_of(log).key)
    lane.begin(log, ("x", fake_clock.perf_counter()))
    log.lanes[1] = lane
    fake_clock.advance(3.0)
    tasks = recorder.snapshot().tasks
    assert [tasks.keys.to_text(["x", "y"]).tolist(), tasks.status.tolist()] == [
        ["x", "y"],
        [FINISHED, RUNNING],
    ]


def test_after_a_night_in_which_the_computer_slept_recordings_begin_when_they_began(
    fake_clock: FakeClock,
) -> None:
    recorder, began = Recorder(clock=fake_clock), fake_clock.time()
    record_run(recorder, ["evening"])
    fake_clock.advance(60.0)
    # The clock that measures tasks stands still while the computer sleeps.
    fake_clock.step_wall_clock(8 * 3600.0)
    record_run(recorder, ["morning"])
    fake_clock.step_wall_clock(3600.0)
    evening, morning = (run.start_s for run in recorder.runs())
    dates = [
        recorder.snapshot(n, n, start_s=s).started_at.timestamp() for n, s in ((0, evening), (1, morning))
    ]
    assert [round(date - began, 3) for date in dates] == [0.0, 8 * 3600 + 60.0]


def test_tasks_that_were_seen_before_their_graph_are_running_tasks_of_it(fake_clock: FakeClock) -> None:
    # On a cluster a page may look between the first event of a task and its graph, which has the functions.
    recorder = Recorder(clock=fake_clock)
    log = recorder.begin()
    log.submitted |= dict.fromkeys(["load-1", "load-2"], fake_clock.perf_counter())
    recorder.pull_all()
    assert [(row.prefix, row.running) for row in recorder.progress()] == [("load", 2)]
    graph = independent(["load-1", "load-2", "load-3"])
    log.graph_source = GraphSource(graph, frozenset(), {}, functions={"load": "load (In [1], line 2)"})
    recorder.pull_all()
    assert [(row.prefix, row.total, row.running) for row in recorder.progress()] == [("load", 3, 2)]
    functions = [recorder.groups[task.group].function for task in recorder.running()]
    assert functions == ["load (In [1], line 2)"] * 2
