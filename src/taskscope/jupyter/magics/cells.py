"""The running cells, and the endings of blocks that they began."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

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
