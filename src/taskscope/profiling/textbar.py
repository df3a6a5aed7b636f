"""A line of text that follows computes: rewritten on a terminal, elsewhere whole lines now and then."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TextIO
from unicodedata import east_asian_width

from taskscope.model.errortext import describe
from taskscope.model.forklock import ForkLock
from taskscope.model.guard import Guard

_FIRST_S = 1.0
"""Computes that end sooner have no line of their start."""
_LINES_DT = 10.0
_log = logging.getLogger("taskscope")


def is_terminal(stream: object) -> bool:
    """Return whether a stream rewrites a line after a carriage return: a terminal's, or a kernel's."""
    try:
        is_tty: bool = stream.isatty()  # type: ignore[attr-defined]  # a user's file may have any methods
    except (AttributeError, OSError, ValueError):
        return False
    return is_tty or type(stream).__module__.startswith("ipykernel")


class TextBar:
    """Writes to a stream, or to a logger.

    On a terminal it rewrites its line every `terminal_dt` seconds; None has whole lines there, too.
    """

    def __init__(
        self,
        stream: TextIO | None,
        *,
        terminal_dt: float | None,
        dt: float | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        self._stream, self._logger = stream, logger
        self.is_terminal = logger is None and terminal_dt is not None and is_terminal(stream)
        self._dt = dt or (terminal_dt if terminal_dt and self.is_terminal else _LINES_DT)
        self._due_s: float | None = None
        """When to draw next; None before the first compute."""
        self._width = 0
        """How many cells of the terminal the line takes."""

    def start(self) -> None:
        """Start the first interval anew."""
        self._due_s = None

    def left_s(self, now_s: float) -> float:
        """Return the seconds until it is due; the first call starts them."""
        if self._due_s is None:
            self._due_s = now_s + min(self._dt, _FIRST_S)
        return max(self._due_s - now_s, 0.0)

    def is_due(self, now_s: float) -> bool:
        """Return whether to draw now; the next time is an interval later."""
        if self.left_s(now_s):
            return False
        self._due_s = now_s + self._dt
        return True

    def watch(self) -> None:
        """Clear the line before others write to the terminal, until `close`."""
        if self.is_terminal:
            _shown.watch(self, self._stream)

    def close(self) -> None:
        """Take the line off the terminal, and watch no streams; idempotent."""
        self.clear()
        _shown.unwatch(self)

    def draw(self, text: str) -> None:
        """Show how far computes are, unless another bar or an unfinished line of others is there."""
        if not self.is_terminal:
            self._write_line(text)
            return
        with _shown.lock:
            if _shown.take(self):
                width = _cells(text)
                # A shorter line must cover a longer one.
                self._write(f"\r{text}{' ' * (self._width - width)}")
                self._width = width

    def clear(self) -> None:
        """Take the line off the terminal; idempotent."""
        with _shown.lock:
            if _shown.bar is self:
                _shown.bar = None
                width, self._width = self._width, 0
                self._write(f"\r{' ' * width}\r")

    def end(self, text: str) -> None:
        """Write a last line, which stays."""
        if not self.is_terminal:
            self._write_line(text)
            return
        with _shown.lock:
            if _shown.bar is not None and _shown.bar is not self:
                _shown.bar.clear()
            width, self._width = self._width, 0
            begin = "\n" if _shown.is_line_open else "\r"
            _shown.bar, _shown.is_line_open = None, False
            self._write(f"{begin}{text}{' ' * (width - _cells(text))}\n")

    def _write_line(self, text: str) -> None:
        if self._logger is None:
            self._write(f"{text}\n")
        else:
            self._logger.info("%s", text)

    def _write(self, text: str) -> None:
        stream = self._stream
        if stream is not None:
            with Guard("the progress bar", self._stop), _shown.own_writes():
                encoding = getattr(stream, "encoding", None) or "utf-8"
                stream.write(text.encode(encoding, "replace").decode(encoding))
                stream.flush()

    def _stop(self, _where: str, error: BaseException) -> None:
        self._stream = None
        _log.warning("the progress bar stopped, because it could not be written: %s", describe(error))


class _Shown:
    """The one bar whose line is on a terminal; the line is cleared before others write there.

    The method `write` of the bar's stream, of `sys.stdout` and of `sys.stderr` is wrapped while bars are
    open; the streams stay the same objects.
    """

    def __init__(self) -> None:
        self.lock = ForkLock()
        self.bar: TextBar | None = None
        self.is_line_open = False
        """Whether others have written the beginning of a line."""
        self._bars: set[TextBar] = set()
        self._wrapped: list[tuple[Any, partial[object], bool]] = []
        """Streams, what wraps `write`, and whether `write` was an attribute of the stream itself before."""
        self._is_own = False

    def take(self, bar: TextBar) -> bool:
        """Return whether this bar may show its line."""
        if self.bar is None and not self.is_line_open:
            self.bar = bar
        return self.bar is bar

    def watch(self, bar: TextBar, stream: object) -> None:
        with self.lock:
            self._bars.add(bar)
            for each in (stream, sys.stdout, sys.stderr):
                if is_terminal(each) and not any(each is known for known, _, _ in self._wrapped):
                    own = "write" in getattr(each, "__dict__", ())
                    wrapper = partial(self._write, each.write)  # type: ignore[union-attr]  # a stream has it
                    # Classes with slots take none.
                    with suppress(AttributeError):
                        each.write = wrapper  # type: ignore[union-attr]  # see the class
                        self._wrapped.append((each, wrapper, own))

    def unwatch(self, bar: TextBar) -> None:
        """Watch no streams for this bar; idempotent."""
        with self.lock:
            self._bars.discard(bar)
            while self._wrapped and not self._bars:
                stream, wrapper, own = self._wrapped.pop()
                if vars(stream).get("write") is not wrapper:
                    continue
                if own:
                    stream.write = wrapper.args[0]
                else:
                    del stream.write

    def _write(self, write: Callable[..., object], *arguments: object) -> object:
        with self.lock:
            if not self._is_own:
                if self.bar is not None:
                    self.bar.clear()
                if arguments and isinstance(text := arguments[0], str) and text:
                    self.is_line_open = not text.endswith("\n")
            return write(*arguments)

    @contextmanager
    def own_writes(self) -> Iterator[None]:
        """Write to a stream that is watched without clearing the line."""
        with self.lock:
            before, self._is_own = self._is_own, True
            try:
                yield
            finally:
                self._is_own = before


_shown = _Shown()


def _cells(text: str) -> int:
    return sum(1 + (east_asian_width(c) in "WF") for c in text)


def cut(text: str, width: int) -> str:
    """Return the beginning of a text that takes at most so many cells."""
    while _cells(text) > width:
        text = text[: min(width, len(text) - 1)]
    return text
