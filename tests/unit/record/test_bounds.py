"""What is kept is bounded, and says so; the number of tasks kept is in the tests of the session."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from types import CodeType

import pytest

import taskscope
from taskscope.model.tables.records import Group
from taskscope.record import LaneKey, Recorder, StackLog
from taskscope.record import messages as messages_module
from taskscope.record.tables import groups as tables_module
from taskscope.record.tables import stacklog
from taskscope.record.tables.groups import GroupTable, LaneTable
from tests.support.fakes.clock import FakeClock


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
