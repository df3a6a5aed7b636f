"""A line of text that follows computes: rewritten on a terminal, elsewhere whole lines now and then."""

from __future__ import annotations

import logging
import time
from typing import TextIO
from unicodedata import east_asian_width

from taskscope.model.errortext import describe
from taskscope.model.forklock import ForkLock
from taskscope.model.guard import Guard

_FIRST_S = 1.0
"""Computes that end sooner have no line of their start."""
_LINES_DT = 10.0
_QUIET_S = 0.05
"""How long the line stays away after a log record was made, which is written a moment later."""
_log = logging.getLogger("taskscope")


def is_terminal(stream: object) -> bool:
    """Return whether a stream rewrites a line after a carriage return: a terminal's, or a kernel's."""
    try:
        is_tty: bool = stream.isatty()  # type: ignore[attr-defined]  # a user's file may have any methods
    except (AttributeError, OSError, ValueError):
        return False
    return is_tty or type(stream).__module__.startswith("ipykernel")


class TextBar:
    """Writes to a stream, or to a logger; it is drawn first after `first_s`, then every `dt` seconds."""

    def __init__(
        self,
        stream: TextIO | None,
        *,
        terminal_dt: float,
        dt: float | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        self._stream, self._logger = stream, logger
        self.is_terminal = logger is None and is_terminal(stream)
        self.dt = dt or (terminal_dt if self.is_terminal else _LINES_DT)
        self.first_s = self.dt if self.is_terminal else min(self.dt, _FIRST_S)
        self._width = 0
        """How many cells of the terminal the line takes."""
        self._cleared_s = float("-inf")

    def draw(self, text: str) -> None:
        """Show how far computes are, unless another bar is on the terminal."""
        if not self.is_terminal:
            self._write_line(text)
            return
        with _shown.lock:
            if time.monotonic() - self._cleared_s >= _QUIET_S and _shown.take(self):
                width = _cells(text)
                # A shorter line must cover a longer one.
                self._write(f"\r{text}{' ' * (self._width - width)}")
                self._width = width

    def clear(self) -> None:
        """Take the line off the terminal; idempotent."""
        with _shown.lock:
            if _shown.bar is self:
                _shown.leave()
                width, self._width = self._width, 0
                self._cleared_s = time.monotonic()
                self._write(f"\r{' ' * width}\r")

    def end(self, text: str) -> None:
        """Write a last line, which stays."""
        if not self.is_terminal:
            self._write_line(text)
            return
        with _shown.lock:
            if _shown.bar is not None and _shown.bar is not self:
                _shown.bar.clear()
            _shown.leave()
            width, self._width = self._width, 0
            self._write(f"\r{text}{' ' * (width - _cells(text))}\n")

    def _write_line(self, text: str) -> None:
        if self._logger is None:
            self._write(f"{text}\n")
        else:
            self._logger.info("%s", text)

    def _write(self, text: str) -> None:
        stream = self._stream
        if stream is not None:
            with Guard("the progress bar", self._stop):
                encoding = getattr(stream, "encoding", None) or "utf-8"
                stream.write(text.encode(encoding, "replace").decode(encoding))
                stream.flush()

    def _stop(self, _where: str, error: BaseException) -> None:
        self._stream = None
        _log.warning("the progress bar stopped, because it could not be written: %s", describe(error))


class _Shown:
    """The one bar whose line is on a terminal; the line is cleared before a log record is written."""

    def __init__(self) -> None:
        self.lock = ForkLock()
        self.bar: TextBar | None = None
        self._make_record = logging.getLogRecordFactory()
        self._is_installed = False

    def take(self, bar: TextBar) -> bool:
        """Return whether this bar may show its line."""
        if self.bar is None:
            self.bar = bar
            if not self._is_installed:
                self._make_record, self._is_installed = logging.getLogRecordFactory(), True
                logging.setLogRecordFactory(self._record)
        return self.bar is bar

    def leave(self) -> None:
        """Forget the bar; a factory that wraps this one keeps it."""
        self.bar = None
        if self._is_installed and logging.getLogRecordFactory() == self._record:
            logging.setLogRecordFactory(self._make_record)
            self._is_installed = False

    def _record(self, *arguments: object, **named: object) -> logging.LogRecord:
        bar = self.bar
        if bar is not None:
            bar.clear()
        record: logging.LogRecord = self._make_record(*arguments, **named)
        return record


_shown = _Shown()


def _cells(text: str) -> int:
    return sum(1 + (east_asian_width(c) in "WF") for c in text)


def cut(text: str, width: int) -> str:
    """Return the beginning of a text that takes at most so many cells."""
    while _cells(text) > width:
        text = text[: min(width, len(text) - 1)]
    return text
