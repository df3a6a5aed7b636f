"""What is kept is bounded, and says so; the number of tasks kept is in the tests of the session."""

from __future__ import annotations

import ast
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType

import pytest

import taskscope
from taskscope.model.tables.records import Group, Run
from taskscope.record import LaneKey, Recorder, StackLog
from taskscope.record import messages as messages_module
from taskscope.record import recorder as recorder_module
from taskscope.record.tables import groups as tables_module
from taskscope.record.tables import stacklog
from taskscope.record.tables import sums as sums_module
from taskscope.record.tables.groups import GroupTable, LaneTable
from taskscope.record.tables.sums import MeasuredLineLog
from taskscope.recording import Recording
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, independent, write_task
from tests.support.recordings.tables import filed


def test_groups_beyond_the_bound_share_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_GROUPS", 2)
    table = GroupTable()
    assert table.ids([("a", 0), ("b", 0), ("c", 0), ("d", 0), ("a", 1)]) == [0, 1, 2, 2, 0]
    assert table.groups == [
        Group(0, "a", "a", 0),
        Group(1, "b", "b", 1),
        Group(2, "(beyond 2 groups)", "(more)", 2),
    ]


def test_lanes_beyond_the_bound_share_the_last_which_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_LANES", 2)
    own = os.getpid()
    table = LaneTable(own)
    assert [table.id(LaneKey(own, n, 0, f"t{n}")) for n in (1, 2, 3, 1, 4)] == [0, 1, 1, 0, 1]
    assert [lane.label for lane in table.lanes] == ["t1", "beyond 1 lanes"]


def test_a_thread_that_has_the_identity_of_an_earlier_one_has_a_lane_of_its_own_where_it_has_a_name() -> None:
    own = os.getpid()
    table = LaneTable(own)
    names = ["loader", "loader", "writer", "ThreadPoolExecutor-0_0", "ThreadPoolExecutor-3_0"]
    assert [table.id(LaneKey(own, 7, 0, name)) for name in names] == [0, 0, 1, 2, 2]
    assert [lane.label for lane in table.lanes] == ["loader", "writer", "thread 1"]


def record_computes(recorder: Recorder, clock: FakeClock, n: int) -> None:
    """Record computes of two seconds and two tasks; every third compute fails."""
    for number in range(recorder.next_run, recorder.next_run + n):
        log = begin_run(recorder, independent([("x-1", number), f"y-{number:032x}"]))
        log.label, log.scheduler = f"{number}", "threads"
        write_task(log, ("x-1", number), log.start, log.start + 1)
        write_task(log, f"y-{number:032x}", log.start + 1, log.start + 2)
        clock.advance(2.0)
        end_run(log, status="finished" if number % 3 else "erred")
        clock.advance(1.0)
        recorder.pull_all()


def test_computes_that_come_faster_than_they_are_folded_are_folded_as_others_begin(
    fake_clock: FakeClock,
) -> None:
    recorder = Recorder(clock=fake_clock)
    for number in range(500):
        log = begin_run(recorder, independent([f"x-{number}"]))
        write_task(log, f"x-{number}", log.start, log.start + 1)
        end_run(log)
    # As the 201st and the 402nd began, all that had ended before.
    assert recorder.cursor == 401


def counted(recorder: Recorder, *window: int) -> list[tuple[object, ...]]:
    return [(row.run, row.prefix, row.finished, row.duration_s) for row in recorder.progress(*window)]


def test_computes_beyond_the_bound_are_added_up(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "_MAX_RUNS", 3)
    recorder = Recorder(clock=fake_clock, max_tasks=4)
    record_computes(recorder, fake_clock, 10)
    runs = recorder.runs()
    assert runs[0] == Run(
        run=0, label=None, cell=None, scheduler="threads", n_workers=None, n_tasks=14,
        start_s=0.0, stop_s=20.0, status="erred", error=None, n_runs=7, last_run=6, computing_s=14.0,
    )  # fmt: skip
    assert [(run.run, run.label, run.n_runs, run.last_run) for run in runs[1:]] == [
        (7, "7", 1, None), (8, "8", 1, None), (9, "9", 1, None),
    ]  # fmt: skip
    assert counted(recorder) == [
        (run, prefix, n, float(n)) for run, n in ((0, 7), (7, 1), (8, 1), (9, 1)) for prefix in ("x", "y")
    ]
    recording = Recording.of(recorder.snapshot())
    assert repr(recording) == "<Recording: 10 runs (erred, finished), 4 tasks, 16 dropped>"
    assert "10 computes · 20 tasks" in recording.summary()
    assert str(recording.explain()) == (
        "cannot say why, because the first 7 computes are added up: name one of the others by its number"
    )
    assert filed(recording).table("runs")["n_runs"].tolist() == [7, 1, 1, 1]
    # A reader of changes gets the sums once for all computes that were added to them.
    version, _ = recorder.runs_since(0)
    record_computes(recorder, fake_clock, 2)
    assert [(run.run, run.n_runs) for run in recorder.runs_since(version)[1]] == [(10, 1), (0, 9), (11, 1)]
    recorder.clear()
    assert (recorder.runs(), recorder.runs_since(version)[1]) == ([], [])


def test_computes_of_an_open_window_are_added_up_apart_from_those_before(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "_MAX_RUNS", 2)
    recorder = Recorder(clock=fake_clock)
    record_computes(recorder, fake_clock, 3)
    first_run = recorder.open_window()
    record_computes(recorder, fake_clock, 5)
    spans = [(run.run, run.n_runs, run.n_tasks) for run in recorder.runs()]
    assert spans == [(0, 3, 6), (3, 3, 6), (6, 1, 2), (7, 1, 2)]
    assert recorder.snapshot(first_run=first_run).dropped == 6
    assert sum(run.n_runs for run in recorder.runs(first_run)) == 5
    recorder.close_window(first_run)
    record_computes(recorder, fake_clock, 1)
    assert [(run.run, run.n_runs, run.n_tasks) for run in recorder.runs()] == [
        (0, 7, 14),
        (7, 1, 2),
        (8, 1, 2),
    ]


def test_hits_of_lines_that_threads_add_at_the_same_time_are_all_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sums_module, "_MAX_ROWS", 0)
    interval_s, n = sys.getswitchinterval(), 20_000
    log = MeasuredLineLog()
    line = ("a.py", "f", 1, 2, 1, 0.5, 0.25, 0.0)

    def add(_: int) -> None:
        for _ in range(n):
            log.add(0, "x-1", "w", [line])

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(add, range(2)))
    finally:
        sys.setswitchinterval(interval_s)
    (found,) = log.between(0, None)
    assert (found.hits, found.key) == (2 * n, None)


def test_messages_are_bounded_and_known_ones_still_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages_module, "_MAX_MESSAGES", 2)
    recorder = Recorder(clock=FakeClock())
    for text in ("a", "b", "c", "d", "a"):
        recorder.warn(text)
    assert [m.text for m in recorder.messages] == [
        "a (2 times)",
        "b",
        "there were more kinds of messages than are kept (2 times)",
    ]


def test_no_name_of_a_program_is_among_the_words_of_a_message() -> None:
    """Redaction leaves the words. A placeholder is a number by its format, or words of taskscope."""
    warns = ("ecorder.warn", "_with_warning")
    ours = {"_NOT_RECORDED", "kind", "missing", "most", "name", "what", "where", "why", "words"}
    for path in Path(taskscope.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(warns):
                parts = [part for part in ast.walk(call) if isinstance(part, ast.FormattedValue)]
                names = {ast.unparse(part.value) for part in parts if part.format_spec is None}
                assert names <= ours, (path, call.lineno)


def code(name: str) -> tuple[CodeType, int]:
    """Return a function's code, with the offset that a call of it begins at."""
    namespace: dict[str, CodeType] = {}
    exec(f"def f(): pass\ncode = f.__code__.replace(co_name={name!r}, co_qualname={name!r})", namespace)
    return namespace["code"], 0


F, G, H = code("f"), code("g"), code("h")


@pytest.fixture
def log() -> StackLog:
    return StackLog(FakeClock(perf_s=0.0).perf_counter)


def counts(log: StackLog) -> list[tuple[tuple[str, ...], int]]:
    """Return every stack, outermost call first, with the number of its samples."""
    columns = log.between(0, None)

    def stack(node: int) -> tuple[str, ...]:
        if node < 0:
            return ()
        return (*stack(int(columns.parent[node])), columns.functions[columns.function[node]].name)

    return [(stack(int(node)), int(n)) for node, n in zip(columns.rows.node, columns.rows.count, strict=True)]


def test_a_deep_recursion_counts_for_its_outermost_calls(log: StackLog) -> None:
    log.add(0, "x", "w", [H, *[G] * 1000, F], 0.01)
    assert counts(log) == [(("f", *["g"] * 255), 1)]


def test_beyond_the_bound_new_calls_count_for_the_one_they_were_made_from(
    log: StackLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacklog, "_MAX_NODES", 2)
    for stack in ([G, F], [H, G, F], [H]):
        log.add(0, "x", "w", stack, 0.01)
    assert counts(log) == [(("f", "g"), 2), ((), 1)]


def test_the_oldest_cycles_go_and_their_samples_are_counted(log: StackLog) -> None:
    log._log.max_rows = 2
    for run in range(3):
        log.add(run, "x", "w", [F], 0.01)
        log.add(run, "x", "w", [F], 0.01)
        log.end_cycle()
    assert (counts(log), log.between(0, None).dropped) == ([(("f",), 2)] * 2, 2)
