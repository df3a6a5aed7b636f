"""Cells that start with ``%%profile``: they run as normal cells, and what they began ends with them."""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Callable
from typing import TypeAlias

from IPython.core.inputtransformer2 import cell_magic
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult

Ending: TypeAlias = Callable[[ExecutionResult | None], None]
_Cell: TypeAlias = tuple[ExecutionInfo | None, list[Ending]]


class CellStack:
    """Cells that are being run, innermost last, per thread; a cell may run others.

    IPython's events ``pre_run_cell`` and ``post_run_cell`` go to `enter`, and to `leave` and `leave_again`.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def enter(self, info: ExecutionInfo) -> None:
        """Add a cell that starts."""
        self._local.left = self
        self._cells().append((info, []))

    def at_end(self, ending: Ending) -> None:
        """Call `ending` with the result of the innermost cell, None where there is none."""
        cells = self._cells()
        if not cells:
            # A cell that is run silently has no events, and the one that loaded us had none yet.
            cells.append((None, []))
        cells[-1][1].append(ending)

    def leave(self, result: ExecutionResult | None) -> None:
        """Remove a cell that ended, and call its endings, latest first."""
        cells = self._cells()
        if result is not None and not any(self._is_of(result, info) for info, _ in cells):
            self._local.left = result
            return  # an empty cell ends without having started
        while cells:
            info, endings = cells[-1]
            while endings:
                endings[-1](result)
                endings.pop()
            is_it = result is None or self._is_of(result, info)
            if is_it:
                self._local.left = result
            cells.pop()
            if is_it:
                return

    def leave_again(self, result: ExecutionResult | None) -> None:
        """Repeat `leave` after an interrupt: IPython calls both, also if the first fails."""
        if getattr(self._local, "left", self) is not result:
            self.leave(result)

    def abandon(self) -> None:
        """End everything that the cells of this thread began, as if they were over."""
        for _, endings in self._cells():
            for ending in endings:
                ending(ExecutionResult(None))
        self._cells().clear()

    def _cells(self) -> list[_Cell]:
        if not hasattr(self._local, "cells"):
            self._local.cells = []
        cells: list[_Cell] = self._local.cells
        return cells

    @staticmethod
    def _is_of(result: ExecutionResult, info: ExecutionInfo | None) -> bool:
        # Where a cell could not even be run, IPython makes a second description of it.
        if info is None or result.info is None:
            return True
        return result.info is info or bool(result.info.raw_cell == info.raw_cell)


_HEADER = re.compile(r"%%profile(?=\s|$)(?P<options>.*)")
_MARK = "%%profile"


def header_to_string(lines: list[str]) -> list[str]:
    r"""Return a cell's lines with a ``%%profile`` line replaced by a string literal.

    Examples
    --------
    >>> header_to_string(["%%profile -q\n", "1 + 1\n"])
    ["'%%profile -q'\n", '1 + 1\n']
    """
    match = _HEADER.match(lines[0]) if lines else None
    if match is None:
        return lines
    # A further cell magic is only seen in the first line; this is where IPython would have found it.
    body = cell_magic(header_to_string(lines[1:]))
    return [f"{_MARK + match['options'].rstrip()!r}\n", *body]


# IPython checks with every key whether a cell is complete. It knows the rule for cells that start with %%,
# and skips transformations that are marked as having side effects.
header_to_string.has_side_effects = True  # type: ignore[attr-defined]  # IPython's own protocol


class HeaderTransformer(ast.NodeTransformer):
    """Replaces the string by a call that starts profiling."""

    def __init__(self, begin: Callable[[str, bool], ast.expr]) -> None:
        self._begin = begin

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Replace the first statement if it is a %%profile magic."""
        first = node.body[0] if node.body else None
        if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
            return node
        text = first.value.value
        if not isinstance(text, str) or _HEADER.fullmatch(text) is None:
            return node
        rest = node.body[1:]
        begin = self._begin(text[len(_MARK) :], any(map(_awaits, rest)))
        call = ast.fix_missing_locations(ast.copy_location(ast.Expr(begin), first))
        n_futures = next((i for i, statement in enumerate(rest) if not _is_future(statement)), len(rest))
        node.body = [*rest[:n_futures], call, *rest[n_futures:]]
        return node


def _awaits(node: ast.AST) -> bool:
    """Return whether anything is awaited in it that is not within a function of its own."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
        return True
    if isinstance(node, ast.comprehension) and node.is_async:
        return True
    return any(map(_awaits, ast.iter_child_nodes(node)))


def _is_future(statement: ast.stmt) -> bool:
    # They have to stay first.
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
