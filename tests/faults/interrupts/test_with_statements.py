"""An interrupt at any instruction of a ``with`` block of ours runs its way out.

From CPython 3.12 on a loop with a condition jumps back by an instruction that belongs to no exception table,
though that is where interrupts are raised: one in ``with lock: [x for x in y if x]`` leaves the lock held for
good (seen on 3.13.0: the block's own end waited for it for ever). A loop in a function called there is safe.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import taskscope

_SOURCE = Path(taskscope.__file__).parent


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _ways_out(steps: list[dis.Instruction]) -> set[int]:
    """Return where handlers of ``with`` begin; ``async with`` is used on a thread of ours only."""
    return {
        first.offset
        for first, second, third in zip(steps, steps[1:], steps[2:], strict=False)
        if second.opname == "WITH_EXCEPT_START" and third.opname != "GET_AWAITABLE"
    }


def _uncovered(code: CodeType) -> Iterator[int]:
    """Yield the lines of loops in ``with`` blocks that an interrupt would leave without the way out."""
    read: Any = dis.Bytecode(code)
    steps = [step for step in read if step.opname != "CACHE"]
    ways_out, table = _ways_out(steps), read.exception_entries

    def handler(offset: int) -> int | None:
        return next((entry.target for entry in table if entry.start <= offset < entry.end), None)

    def is_within(offset: int) -> bool:
        target = handler(offset)
        return target is not None and (target in ways_out or is_within(target))

    for step in steps:
        if step.opname == "JUMP_BACKWARD" and handler(step.offset) is None and is_within(step.argval):
            yield step.positions.lineno


def _found(source: str, name: str) -> list[str]:
    return sorted(
        {
            f"{name}:{line} {code.co_qualname}"
            for code in _codes(compile(source, name, "exec"))
            for line in _uncovered(code)
        }
    )


_SAFE = """
def locked():
    with lock:
        return wanted()

def wanted():
    return [number for number in numbers if number]
"""
_UNSAFE = """
def locked():
    with lock:
        return [number for number in numbers if number]
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before 3.12 such a jump is in the table")
def test_a_loop_with_a_condition_in_a_with_statement_is_seen() -> None:
    assert (_found(_UNSAFE, "x"), _found(_SAFE, "x")) == (["x:4 locked"], [])


def test_no_interrupt_passes_a_way_out_of_ours_by() -> None:
    sources = sorted(_SOURCE.rglob("*.py"))
    assert [at for path in sources for at in _found(path.read_text(), str(path.relative_to(_SOURCE)))] == []
