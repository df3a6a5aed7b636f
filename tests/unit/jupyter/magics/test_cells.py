from __future__ import annotations

from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult

from taskscope.jupyter.magics.cells import CellStack


def cell(raw_cell: str) -> ExecutionInfo:
    return ExecutionInfo(raw_cell, False, False, True, None)


def test_what_a_cell_began_ends_with_it_latest_first() -> None:
    stack, info, ended = CellStack(), cell("x"), []
    stack.enter(info)
    stack.at_end(lambda _: ended.append(1))
    stack.at_end(lambda _: ended.append(2))
    stack.leave(ExecutionResult(info))
    assert ended == [2, 1]


def test_a_cell_run_inside_of_a_cell_ends_only_its_own() -> None:
    stack, outer, inner, ended = CellStack(), cell("outer"), cell("inner"), []
    stack.enter(outer)
    stack.at_end(lambda _: ended.append("outer"))
    stack.enter(inner)
    stack.at_end(lambda _: ended.append("inner"))
    stack.leave(ExecutionResult(cell("")))
    assert ended == []
    stack.leave(ExecutionResult(inner))
    assert ended == ["inner"]
    stack.leave(ExecutionResult(outer))
    assert ended == ["inner", "outer"]


def test_a_cancelled_cell_has_no_result_and_still_ends() -> None:
    stack = CellStack()
    ended: list[ExecutionResult | None] = []
    stack.enter(cell("await x"))
    stack.at_end(ended.append)
    stack.leave(None)
    assert ended == [None]


def test_what_a_silent_cell_began_ends_with_the_next_cell() -> None:
    stack, info, ended = CellStack(), cell("x"), []
    stack.at_end(lambda _: ended.append("silent"))
    stack.enter(info)
    stack.leave(ExecutionResult(info))
    assert ended == []
    stack.leave(ExecutionResult(cell("y")))
    assert ended == ["silent"]
