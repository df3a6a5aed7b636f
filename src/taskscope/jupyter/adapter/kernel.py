"""The kernel of this process: which cell it runs, whether it waits for Dask, and how it is interrupted."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from taskscope.sources.cell import current_execution


def this_kernel() -> Any:  # noqa: ANN401 - ipykernel's own, or a subclass of anyone's
    """Return it, None without one of ipykernel."""
    if "IPython" not in sys.modules or "ipykernel" not in sys.modules:
        return None
    from ipykernel.kernelbase import Kernel
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return kernel if isinstance(kernel, Kernel) else None


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


# Where a thread is while a local scheduler computes, or a cluster is waited for.
_WAITING = ("dask.local", "distributed.client", "distributed.utils")


def main_waits_for_dask() -> bool:
    """Return whether the code that the main thread runs waits for a compute, or is part of one."""
    files = {getattr(sys.modules.get(name), "__file__", None) for name in _WAITING}
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        if frame.f_code.co_filename in files:
            return True
        frame = frame.f_back
    return False


def interrupt_main() -> None:
    """Raise ``KeyboardInterrupt`` in the main thread, also out of a wait for a lock."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)
