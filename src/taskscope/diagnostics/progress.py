"""The progress bar: text on a terminal, a widget in a notebook."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, Any

from taskscope.diagnostics.callback import Callback
from taskscope.diagnostics.remote import RemoteComputes
from taskscope.diagnostics.tally import Tally
from taskscope.diagnostics.textbar import TextBar, TextOut, bar_text
from taskscope.errors import OptionError
from taskscope.sources.cell import in_kernel
from taskscope.sources.registration import ends_first

if TYPE_CHECKING:
    from taskscope.diagnostics.notebook_bar import NotebookBar

__all__ = ["ProgressBar"]

_MAX_WIDTH = 1_000
_log = logging.getLogger("taskscope")


class ProgressBar(Callback):
    """Shows how far computes are.

    Parameters
    ----------
    minimum
        Seconds that a compute must last to be shown at all, 0 by default.
    width
        Characters of the bar itself, 40 by default.
    dt
        Seconds between updates, 0.1 by default.
    out
        Where to write, such as ``sys.stderr``. By default ``sys.stdout``, and in a notebook a widget.

    Raises
    ------
    OptionError
        If a value cannot work.

    Notes
    -----
    ``last_duration`` is the seconds that the last compute took. Computes that run at the same time share the
    bar. It has no hook per task, holds on to no result, and writes only every `dt` and at the end.

    Examples
    --------
    >>> import dask
    >>> with ProgressBar() as pbar:  # doctest: +SKIP
    ...     dask.get({"x": (abs, -1)}, "x")
    [########################################] | 100% Completed | 102.3 us
    """

    def __init__(
        self, minimum: float = 0, width: int = 40, dt: float = 0.1, out: TextOut | None = None
    ) -> None:
        super().__init__()
        self._minimum_s = _checked("minimum", minimum, lowest=0.0)
        self._dt = _checked("dt", dt, lowest=1e-3)
        if type(width) is not int or not 0 <= width <= _MAX_WIDTH:
            raise OptionError(f"width must be a number of characters from 0 to {_MAX_WIDTH:,}, got {width!r}")
        self._width = width
        self._given_out = out
        self._tally = Tally()
        self._bar: TextBar | None = None
        self._notebook: NotebookBar | None = None
        self._timer = threading.Thread()
        self._started = 0.0
        self._owners: set[object] = set()
        self._remote = RemoteComputes(self._begin_remote, self._end_compute)
        self._running = False
        self.last_duration: float = 0.0

    def _listen(self, owner: object) -> None:
        if self._given_out is None and in_kernel():
            from taskscope.diagnostics.notebook_bar import NotebookBar

            self._notebook = self._notebook or NotebookBar(self._text, self._minimum_s)
            self._notebook.open()
        self._owners.add(owner)
        self._remote.open()
        super()._listen(owner)

    def _unlisten(self, owner: object) -> None:
        super()._unlisten(owner)
        if self._owners <= {owner}:
            self._remote.close()
            if self._notebook is not None:
                self._notebook.close()
        self._owners.discard(owner)

    def _text(self) -> str:
        return bar_text(self._tally.fraction, time.perf_counter() - self._started, self._width)

    def _begin_remote(self, compute: int, run: int, counts: Mapping[str, Sized]) -> None:
        self._begin_compute(compute, run)
        self._tally.watch(compute, counts)

    def _begin_compute(self, compute: int, run: int | None = None) -> None:
        if self._tally.begin(compute):
            if self._running:
                self._end()
            self._started = time.perf_counter()
            self._running = True
            self._begin(run)

    def _end_compute(self, compute: int, failed: bool) -> None:  # noqa: FBT001 - as Dask's schedulers call it
        self._tally.end(compute, failed=failed)
        # Not only when that was the last one: an interrupt may have come when the last one ended.
        if self._running and self._tally.is_empty:
            self.last_duration = time.perf_counter() - self._started
            self._end()
            self._running = False

    # Called by Dask's schedulers: these must never raise ---------------------------------------------------

    def _start(self, dsk: Mapping[Any, Any]) -> None:
        try:
            self._begin_compute(id(dsk))
        except Exception:  # noqa: BLE001 - a hook that raises would end the user's compute
            _log.exception("taskscope failed in the progress bar; the computation was not affected")

    def _start_state(self, dsk: Mapping[Any, Any], state: Mapping[str, Any]) -> None:
        self._tally.watch(id(dsk), state)

    @ends_first
    def _finish(self, dsk: Mapping[Any, Any], _state: Mapping[str, Any], errored: bool) -> None:  # noqa: FBT001 - Dask calls it so
        try:
            self._end_compute(id(dsk), errored)
        except Exception:  # noqa: BLE001 - a hook that raises would end the user's compute
            _log.exception("taskscope failed in the progress bar; the computation was not affected")

    def _begin(self, run: int | None) -> None:
        if self._notebook is not None and self._notebook.is_open:
            self._notebook.begin(run)
            return
        out = sys.stdout if self._given_out is None else self._given_out
        # Without a console, as in a window application on Windows, there is no stdout.
        if out is not None:
            self._bar = TextBar(out, self._text, self._minimum_s, self._dt)
            self._timer = self._bar.thread
            self._bar.begin()

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.end()
            self._bar = None
        if self._notebook is not None:
            self._notebook.end()


def _checked(name: str, value: object, lowest: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not lowest <= value < float("inf"):
        raise OptionError(f"{name} must be a number of seconds, at least {lowest:g}, got {value!r}")
    return float(value)
