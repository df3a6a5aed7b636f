"""Which source line an instruction of a code object belongs to."""

from __future__ import annotations

from types import CodeType

__all__ = ["line_at"]


def line_at(code: CodeType, offset: int) -> int:
    """Return the line of an instruction: that of the definition where a frame has none yet."""
    for first, stop, line in code.co_lines():
        if first <= offset < stop:
            return line or code.co_firstlineno
    return code.co_firstlineno
