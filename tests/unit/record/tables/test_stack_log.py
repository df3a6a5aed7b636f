from __future__ import annotations

from collections.abc import Callable
from types import CodeType

import pytest

from taskscope.model.tables.stacks import Function, StackColumns
from taskscope.record import CountedCalls, Recorder, StackLog
from taskscope.record.tables import stacklog
from taskscope.record.tables.stacklog import StackPlace
from tests.support.fakes.clock import FakeClock


def code(name: str) -> tuple[CodeType, int]:
    """Return a function's code, with the offset that a call of it begins at."""
    namespace: dict[str, Callable[[], None]] = {}
    exec(f"def {name}(): pass", namespace)
    return namespace[name].__code__, 0


F, G, H = code("f"), code("g"), code("h")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(perf_s=0.0)


@pytest.fixture
def log(clock: FakeClock) -> StackLog:
    return StackLog(clock.perf_counter)


def seen(columns: StackColumns) -> list[tuple[float, int, str, str, tuple[str, ...], int, float]]:
    """Return every row with its names spelled out; stacks outermost first."""
    rows = columns.rows

    def stack(node: int) -> tuple[str, ...]:
        if node < 0:
            return ()
        return (*stack(int(columns.parent[node])), columns.functions[columns.function[node]].name)

    return [
        (
            float(rows.start[i]),
            int(rows.run[i]),
            columns.prefixes[rows.prefix[i]],
            columns.workers[rows.worker[i]],
            stack(int(rows.node[i])),
            int(rows.count[i]),
            round(float(rows.seconds[i]), 9),
        )
        for i in range(len(rows))
    ]


def test_samples_are_counted_per_cycle_run_prefix_worker_and_stack(log: StackLog, clock: FakeClock) -> None:
    clock.advance(1.0)
    log.add(0, "x", "w", [G, F], 0.01)
    clock.advance(0.5)
    log.add(0, "x", "w", [G, F], 0.02)
    log.add(0, "x", "w", [F], 0.01)
    log.add(0, "y", "v", [], 0.01)
    log.end_cycle()
    clock.advance(0.5)
    log.add(1, "x", "w", [G, F], 0.01)
    assert seen(log.between(0, None)) == [
        (1.0, 0, "x", "w", ("f", "g"), 2, 0.03),
        (1.0, 0, "x", "w", ("f",), 1, 0.01),
        (1.0, 0, "y", "v", (), 1, 0.01),
        (2.0, 1, "x", "w", ("f", "g"), 1, 0.01),
    ]


def test_what_others_counted_is_added_as_a_cycle_of_their_time(log: StackLog, clock: FakeClock) -> None:
    f, g = Function("f", "f.py", 1), Function("g", "g.py", 2)
    clock.advance(5.0)
    log.add(0, "x", "w", [F], 0.01)
    told = [("x", (f, g), 3), ("x", (f,), 1), ("y", (), 2), ("x", (f, g), 4)]
    log.hand_over(2.0, [CountedCalls(1, prefix, "v", calls, n, n / 100) for prefix, calls, n in told])
    log.hand_over(3.0, [])
    assert seen(log.between(0, None)) == [
        (2.0, 1, "x", "v", ("f", "g"), 7, 0.07),
        (2.0, 1, "x", "v", ("f",), 1, 0.01),
        (2.0, 1, "y", "v", (), 2, 0.02),
        (5.0, 0, "x", "w", ("f",), 1, 0.01),
    ]
    part = log.since(StackPlace())
    assert (len(part.rows), len(part.open_rows)) == (4, 0)


def test_what_other_runs_did_is_left_out_with_its_names(log: StackLog) -> None:
    log.add(0, "secret", "v", [F], 0.01)
    log.add(1, "x", "w", [H, G], 0.01)
    log.add(2, "later", "w", [F], 0.01)
    found = log.between(1, 1)
    assert seen(found) == [(0.0, 1, "x", "w", ("g", "h"), 1, 0.01)]
    assert [f.name for f in found.functions] == ["g", "h"]
    assert (found.prefixes, found.workers, found.parent.tolist()) == (("x",), ("w",), [-1, 0])


def test_one_function_called_from_two_others_is_one_function_and_two_calls(log: StackLog) -> None:
    log.add(0, "x", "w", [H, F], 0.01)
    log.add(0, "x", "w", [H, G], 0.01)
    found = log.between(0, None)
    assert [f.name for f in found.functions] == ["f", "h", "g"]
    assert (found.parent.tolist(), found.function.tolist()) == ([-1, 0, -1, 2], [0, 1, 2, 1])


def test_functions_that_are_defined_anew_at_the_same_place_are_one(log: StackLog) -> None:
    log.add(0, "x", "w", [code("f")], 0.01)
    log.add(0, "x", "w", [code("f")], 0.01)
    assert seen(log.between(0, None)) == [(0.0, 0, "x", "w", ("f",), 2, 0.02)]


def test_a_deep_recursion_counts_for_its_outermost_calls(log: StackLog) -> None:
    log.add(0, "x", "w", [H, *[G] * 1000, F], 0.01)
    ((*_, stack, count, _seconds),) = seen(log.between(0, None))
    assert (stack, count) == (("f", *["g"] * 255), 1)


def test_beyond_the_bound_new_calls_count_for_the_one_they_were_made_from(
    log: StackLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacklog, "_MAX_NODES", 2)
    log.add(0, "x", "w", [G, F], 0.01)
    log.add(0, "x", "w", [H, G, F], 0.01)
    log.add(0, "x", "w", [H], 0.01)
    assert [row[4:6] for row in seen(log.between(0, None))] == [(("f", "g"), 2), ((), 1)]


def test_the_oldest_cycles_go_and_their_samples_are_counted(log: StackLog) -> None:
    log._log.max_rows = 2
    for run in range(3):
        log.add(run, "x", "w", [F], 0.01)
        log.add(run, "x", "w", [F], 0.01)
        log.end_cycle()
    found = log.between(0, None)
    assert [row[1] for row in seen(found)] == [1, 2]
    assert found.dropped == 2


def test_clearing_forgets_samples_and_code(log: StackLog) -> None:
    log.add(0, "x", "w", [F], 0.01)
    log.clear()
    found = log.between(0, None)
    assert (seen(found), found.functions, log._code) == ([], (), {})
    log.add(0, "x", "w", [G], 0.01)
    assert seen(log.between(0, None)) == [(0.0, 0, "x", "w", ("g",), 1, 0.01)]


def test_a_snapshot_has_the_samples_of_its_runs() -> None:
    recorder = Recorder(clock=FakeClock())
    recorder.stacks.add(0, "x", "w", [F], 0.01)
    recorder.stacks.add(1, "y", "w", [G], 0.01)
    assert recorder.snapshot(1).stacks.prefixes == ("y",)
    recorder.clear()
    assert len(recorder.snapshot().stacks.rows) == 0


def test_names_that_no_encoder_takes_are_escaped(log: StackLog) -> None:
    odd = F[0].replace(co_name="a\ud800", co_qualname="a\ud800", co_filename="<b\udfff>")
    log.add(0, "x", "w", [(odd, 0)], 0.01)
    (function,) = log.between(0, None).functions
    assert (function.name, function.file) == ("a\\ud800", "<b\\udfff>")
