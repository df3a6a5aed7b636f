"""CPU time that becomes known after a task's row was recorded."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from taskscope.record import LaneKey, Recorder, RunLog
from taskscope.record.tables.log import Reader
from tests.support.fakes.clock import FakeClock
from tests.support.files.streaming import StreamedFile
from tests.support.recordings.run_writing import begin_run, end_run, independent, report_task
from tests.support.recordings.tables import as_lists, read_back

LANE = LaneKey(0, 7, worker="tcp://a:1")


def report(log: RunLog, key: object, start: float, stop: float) -> None:
    report_task(log, key, LANE, log.start + start, log.start + stop)


def meter(log: RunLog, key: object, start: float, cpu_s: float, *, is_shared: bool = False) -> None:
    log.metered.extend((key, log.start + start, cpu_s, is_shared))


def folded(recorder: Recorder) -> Recorder:
    while recorder.pull():
        pass
    return recorder


def cpu_of(recorder: Recorder) -> list[tuple[str, float, float, str | None]]:
    table = recorder.snapshot().table("tasks")
    columns = ("key", "start_s", "cpu_s", "cpu_from")
    return [
        (key, start_s, cpu_s if cpu_s == cpu_s else -1.0, cpu_from)  # noqa: PLR0124 - NaN is not
        for key, start_s, cpu_s, cpu_from in zip(*(list(table[name]) for name in columns), strict=True)
    ]


def test_it_is_in_recordings_taken_from_then_on_and_in_totals(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, independent(["a", "b", "c"]))
    for place, key in enumerate("abc"):
        report(log, key, place, place + 0.5)
    before = folded(recorder).snapshot()
    meter(log, "a", 0.0, 0.25)
    meter(log, "b", 1.0, 0.75, is_shared=True)
    # Of no task that is known.
    meter(log, "a", 0.125, 0.25)
    meter(log, "c", 1.0, 0.25)
    folded(recorder)
    assert cpu_of(recorder) == [
        ("a", 0.0, 0.25, "measured"),
        # Never more than the task took.
        ("b", 1.0, 0.5, "shared"),
        ("c", 2.0, -1.0, None),
    ]
    assert [(t.group, t.n_tasks, t.cpu_s) for t in recorder.totals()] == [
        ("a", 1, 0.25), ("b", 1, 0.5), ("c", 1, 0.0)
    ]  # fmt: skip
    assert np.isnan(before.tasks.cpu_s).all()
    end_run(log)


def test_of_a_task_that_ran_again_each_row_has_its_own(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    first, second = (begin_run(recorder, independent(["a"])) for _ in range(2))
    for start in (0.0, 2.0, 4.0):
        report(first, "a", start, start + 1.0)
        folded(recorder)
        report(second, "a", start, start + 1.0)
        folded(recorder)
    meter(first, "a", 2.0, 0.25)
    meter(second, "a", 4.0, 0.5)
    folded(recorder)
    assert sorted(cpu_of(recorder)) == [
        ("a", 0.0, -1.0, None), ("a", 0.0, -1.0, None),
        ("a", 2.0, -1.0, None), ("a", 2.0, 0.25, "measured"),
        ("a", 4.0, -1.0, None), ("a", 4.0, 0.5, "measured"),
    ]  # fmt: skip
    rows, blocks = recorder.newly_metered(Reader(recorder.metered_rows, 9))
    assert (rows.tolist(), [block.cpu_s.tolist() for block in blocks]) == ([2, 5], [[0.25], [0.5]])
    assert recorder.newly_metered(Reader(recorder.metered_rows, 9, 1))[0].tolist() == [5]
    for log in (first, second):
        end_run(log)


def test_what_is_no_longer_held_is_passed_over(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock, max_tasks=2)
    log = begin_run(recorder, independent(["a", "b", "c"]))
    for place, key in enumerate("abc"):
        report(log, key, place, place + 0.5)
    folded(recorder)
    for place, key in enumerate("abc"):
        meter(log, key, place, 0.25)
    folded(recorder)
    assert cpu_of(recorder) == [("b", 1.0, 0.25, "measured"), ("c", 2.0, 0.25, "measured")]
    assert recorder.newly_metered(Reader(recorder.metered_rows, 9))[0].tolist() == [1, 2]
    recorder.clear()
    assert recorder.newly_metered(Reader(recorder.metered_rows, 9))[0].tolist() == []
    end_run(log)


def test_rows_that_are_not_folded_yet_are_waited_for(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, independent(["a"]))
    report(log, "a", 0.0, 1.0)
    meter(log, "a", 0.0, 0.5)
    end_run(log)
    assert cpu_of(folded(recorder)) == [("a", 0.0, 0.5, "measured")]


def test_a_file_that_grows_has_it_and_one_that_ends_has_what_was_known_then(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    with closing(StreamedFile(recorder)) as file:
        log = begin_run(recorder, independent(["a", "b", "c"]))
        for place, key in enumerate("abc"):
            report(log, key, place, place + 0.5)
        fake_clock.advance(3.0)
        file.flush()
        meter(log, "a", 0.0, 0.25)
        meter(log, "b", 1.0, 0.375, is_shared=True)
        file.flush()
        so_far = read_back(file.content(), partial=True)
        recording = recorder.snapshot()
        meter(log, "c", 2.0, 0.125)
        folded(recorder)
        file.changes.finish(recording)
        end_run(log)
    for found in (so_far, read_back(file.content())):
        tasks = as_lists(found, "tasks")["tasks"]
        assert tasks["cpu_from"] == ["'measured'", "'shared'", "None"]
        assert tasks["cpu_s"] == ["0.25", "0.375", "nan"]
    assert as_lists(read_back(file.content())) == as_lists(recording)
