"""A progress bar of one line of text, drawn by a thread that sleeps in between."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from dask.utils import format_time

__all__ = ["TextBar", "TextOut", "bar_text"]

_JOIN_S = 1.0
_log = logging.getLogger("taskscope")


class TextOut(Protocol):
    """Something that text can be written to."""

    def write(self, text: str, /) -> object:
        """Take text."""

    def flush(self) -> object:
        """Show what was written."""


def bar_text(fraction: float, elapsed_s: float, width: int) -> str:
    """Return the line, without what ends it.

    Examples
    --------
    >>> bar_text(0.5, 17.12, 10)
    '[#####     ] | 50% Completed | 17.12 s'
    """
    filled = "#" * int(width * fraction)
    return f"[{filled:<{width}}] | {int(100 * fraction)}% Completed | {format_time(elapsed_s)}"


class TextBar:
    """Draws on a terminal while a compute lasts, and the last state at its end.

    Parameters
    ----------
    out
        Where to; when it fails, nothing more is drawn.
    text
        Returns the line as it is now.
    minimum_s
        Seconds before which nothing is drawn.
    dt
        Seconds between two drawings.
    """

    def __init__(self, out: TextOut, text: Callable[[], str], minimum_s: float, dt: float) -> None:
        self._out: TextOut | None = out
        self._text = text
        self._dt = dt
        self._visible_from_s = time.perf_counter() + minimum_s
        self._length = 0
        self._stop = threading.Event()
        self._ended = False
        self.thread = threading.Thread(target=self._run, name="taskscope-progress", daemon=True)

    def begin(self) -> None:
        """Start drawing."""
        self.thread.start()

    def end(self) -> None:
        """Stop drawing, and write the last line; once more changes nothing."""
        self._stop.set()
        # An interrupt may have come before it was started.
        if self.thread.ident is not None:
            self.thread.join(_JOIN_S)
        if not self._ended and time.perf_counter() >= self._visible_from_s:
            self._ended = True
            self._write(f"{self._line()}\n")

    def _run(self) -> None:
        while not self._stop.wait(self._dt):
            if time.perf_counter() >= self._visible_from_s:
                self._write(self._line())

    def _line(self) -> str:
        text = self._text()
        # A shorter line must cover what a longer one left.
        padded, self._length = f"\r{text:<{self._length}}", len(text)
        return padded

    def _write(self, text: str) -> None:
        if self._out is None:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except Exception as error:  # noqa: BLE001 - whatever the user gave as out must not end the compute
            self._out = None
            _log.warning("the progress bar stopped, because it could not be written: %s", error)
