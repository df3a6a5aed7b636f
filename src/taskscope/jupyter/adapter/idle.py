"""Which cell runs, and a clock that stops while one does."""

from __future__ import annotations

import sys
from collections.abc import Callable

from taskscope.sources.cell import current_execution


class IdleClock:
    """Seconds during which no cell was running."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._idle_s = 0.0
        self._idle_since_s: float | None = clock()
        self.execution: str | None = None
        """The id of the request of the running cell; None while none runs."""

    def __call__(self) -> float:
        """Return the seconds without a running cell."""
        since_s = self._idle_since_s
        return self._idle_s if since_s is None else self._idle_s + self._clock() - since_s

    def watch_cells(self) -> Callable[[], None] | None:
        """Follow the cells of this process's IPython shell; return what ends that, None without a shell."""
        if "IPython" not in sys.modules:
            return None
        from IPython import get_ipython

        shell = get_ipython()
        if shell is None:
            return None
        # post_execute would also fire for every comm message; these fire for cells only.
        shell.events.register("pre_run_cell", self.cell_started)
        shell.events.register("post_run_cell", self.cell_stopped)
        # This is called from a cell, whose end will be seen.
        self.cell_started()

        def unwatch() -> None:
            shell.events.unregister("pre_run_cell", self.cell_started)
            shell.events.unregister("post_run_cell", self.cell_stopped)

        return unwatch

    def cell_started(self, *_: object) -> None:
        """Stand still."""
        self._idle_s, self._idle_since_s = self(), None
        self.execution = current_execution()

    def cell_stopped(self, *_: object) -> None:
        """Go on."""
        self._idle_since_s = self._clock()
        self.execution = None
