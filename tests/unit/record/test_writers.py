from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.record import LaneKey, Recorder, RunLog
from taskscope.record.writers import fold as fold_module
from taskscope.record.writers.fold import UnknownLanes, take
from taskscope.record.writers.runlog import ReportedTasks
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, independent, write_task

WRITERS = 6
TASKS_EACH = 400


def test_taking_removes_whole_rows_from_the_front_up_to_a_limit() -> None:
    rows = list(range(11))
    assert (take(rows, 3, limit=2), rows) == ([0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10])
    assert (take(rows, 3), rows) == ([6, 7, 8], [9, 10])
    assert (take(rows, 3), rows) == ([], [9, 10])


@given(sizes=st.lists(st.integers(1, 9), max_size=30))
def test_batches_of_a_cluster_are_taken_whole_few_rows_at_a_time_and_as_often_as_was_said(
    sizes: list[int],
) -> None:
    log = RunLog(0, FakeClock(), lambda _where, _error: None)
    lane, numbers = LaneKey(0, 1, worker="tcp://a:1"), iter(range(sum(sizes)))
    for size in sizes:
        keys: list[object] = [next(numbers) for _ in range(size)]
        log.reported.append(ReportedTasks(keys, [lane] * size, np.full(size, 1.0), np.full(size, 1.0), {}))
    taken = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold_module, "MAX_ROWS", 10)
        for _ in range(math.ceil(fold_module.n_takes(log.reported))):
            rows = fold_module.take_rows(log, lambda _: 0, UnknownLanes())
            taken.append([] if rows is None else rows.keys)
    assert [key for keys in taken for key in keys] == [*range(sum(sizes))]
    assert max(map(len, taken), default=0) <= 10


def write_from_many_threads(
    recorder: Recorder, *, tasks_each: int = TASKS_EACH
) -> list[tuple[str, int, int]]:
    """Write one run from many threads at once while this thread reads; return all keys."""
    keys = [[("x", writer, i) for i in range(tasks_each)] for writer in range(WRITERS)]
    log = begin_run(recorder, independent([key for own in keys for key in own]))
    together = threading.Barrier(WRITERS + 1)

    def write(writer: int) -> None:
        together.wait()
        for place, key in enumerate(keys[writer]):
            write_task(log, key, 100.0 + place, 101.0 + place, thread=writer)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    together.wait()
    cursors = [0]
    while any(thread.is_alive() for thread in threads):
        recorder.pull(budget_s=0.0)
        cursors.append(recorder.cursor)
    assert cursors == sorted(cursors)
    end_run(log, stop=100.0 + tasks_each)
    while recorder.pull():
        pass
    return [key for own in keys for key in own]


def assert_all_rows_once(recorder: Recorder, keys: list[tuple[str, int, int]]) -> None:
    table = recorder.snapshot().to_pandas("tasks")
    assert sorted(table["key"]) == sorted(map(repr, keys))
    assert recorder.cursor == len(keys)
    for _, lane in table.groupby("lane"):
        # In the order they were written, on the thread that wrote them.
        writer = int(lane["thread"].iloc[0])
        assert lane["key"].tolist() == [repr(key) for key in keys if key[1] == writer]


def test_many_writers_and_one_reader_lose_nothing_and_mix_nothing() -> None:
    recorder = Recorder(clock=FakeClock())
    assert_all_rows_once(recorder, write_from_many_threads(recorder))


def test_a_take_that_loses_a_row_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(rows: list[object], width: int, limit: int = 2_000) -> list[object]:
        taken = take(rows, width, limit)
        return taken[width:] if len(taken) > 50 * width else taken

    monkeypatch.setattr(fold_module, "take", careless)
    recorder = Recorder(clock=FakeClock())
    keys = write_from_many_threads(recorder)
    with pytest.raises(AssertionError):
        assert_all_rows_once(recorder, keys)


def test_runs_begun_by_many_threads_all_arrive_with_numbers_of_their_own() -> None:
    recorder = Recorder(clock=FakeClock())
    together = threading.Barrier(WRITERS)

    def begin() -> None:
        together.wait()
        for i in range(20):
            log = begin_run(recorder, {("x", i): ()})
            write_task(log, ("x", i), 100.0, 101.0)
            end_run(log)

    threads = [threading.Thread(target=begin) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recording = recorder.snapshot()
    assert sorted(run.run for run in recording.runs) == list(range(20 * WRITERS))
    assert sorted(recording.to_pandas("tasks")["run"]) == list(range(20 * WRITERS))


@pytest.mark.parametrize("max_tasks", [1, 100])
def test_a_small_bound_under_load_keeps_the_books_exact(max_tasks: int) -> None:
    recorder = Recorder(clock=FakeClock(), max_tasks=max_tasks)
    keys = write_from_many_threads(recorder, tasks_each=100)
    held = len(recorder.snapshot().tasks)
    assert (held, recorder.dropped, recorder.cursor) == (max_tasks, len(keys) - max_tasks, len(keys))
    assert [total.n_tasks for total in recorder.totals()] == [len(keys)]
