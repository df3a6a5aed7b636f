"""The screen of a terminal: all of it for a while, or rows below the output of others."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from taskscope.model.forklock import ForkLock

KEY_S = 0.2
HOME = "\x1b[H"
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_SAVE, _BACK, _DOWN = "\x1b7", "\x1b8", "\x1bD"
"""Save and restore the cursor with its colours; go down a row, where the last row scrolls."""
_RESTORE = f"{_SAVE}\x1b[r{_BACK}\x1b[J"
_GUARD = r"""exec 3<&0
(while read -r line; do shown=$line; done
[ "$shown" = 1 ] && printf '\0337\033[r\0338\033[J') <&3 3<&- &"""
"""Restores the terminal of a process that was killed: its end of the pipe is closed then."""


def has_screen(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal whose cursor moves."""
    is_tty = stream is not None and not stream.closed and stream.isatty()
    return is_tty and os.name == "posix" and os.environ.get("TERM", "") not in {"", "dumb", "unknown"}


class Region:
    """The last rows of a terminal; the output of every process scrolls in the rows above.

    It needs neither standard output nor the keyboard: a terminal scrolls only the rows of its scrolling
    region, wherever the output comes from.
    """

    def __init__(self, stream: TextIO) -> None:
        # The script may close or redirect the stream.
        self._fd = os.dup(stream.fileno())
        self._encoding = stream.encoding
        self._shown: tuple[os.terminal_size, int] | None = None
        """The terminal's size and the number of rows, while there are any."""
        self._is_over = False
        self._lock = ForkLock()
        ours, self._pipe = os.pipe()
        os.register_at_fork(after_in_child=self._leave)
        try:
            # The shell ends at once, so that the script has no child which it did not start.
            subprocess.run(  # noqa: S603 - a constant command
                ["/bin/sh", "-c", _GUARD],
                stdin=ours,
                stdout=self._fd,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                check=False,
            )
        finally:
            os.close(ours)

    def was_resized(self) -> bool:
        """Return whether the terminal has another size than the rows were drawn for."""
        with self._lock:
            return not self._is_over and self._shown is not None and self._shown[0] != self._size()

    def _size(self) -> os.terminal_size:
        return os.get_terminal_size(self._fd)

    def draw(self, picture: Callable[[os.terminal_size], list[str]], *, if_: Callable[[], bool]) -> None:
        """Show the picture for a terminal of this size, if that is still wanted once it is made."""
        with self._lock:
            if self._is_over:
                return
            size = self._size()
            lines = picture(size)
            if not if_():
                return
            if self._shown is not None and self._shown[0] == size:
                lines += [""] * (self._shown[1] - len(lines))
            n_lines, top = len(lines), size.lines - len(lines)
            begin = ""
            if self._shown != (size, n_lines):
                # A new size has reset the scrolling region; the old rows are anywhere below the cursor.
                begin = f"{_RESTORE if self._shown else ''}{_DOWN * n_lines}\x1b[{n_lines}A"
            rows = "".join(f"\x1b[{top + 1 + n};1H\x1b[2K{line}" for n, line in enumerate(lines))
            self._shown = (size, n_lines)
            self._note("1")
            self._write(f"{begin}{_SAVE}\x1b[1;{top}r\x1b[m{rows}{_BACK}")

    def clear(self) -> None:
        """Return the rows to the output of others; idempotent."""
        with self._lock:
            if self._shown is not None and not self._is_over:
                self._write(_RESTORE)
                self._note("0")
                self._shown = None

    def close(self) -> None:
        """Clear it for good; idempotent."""
        with self._lock:
            self.clear()
            self._leave()

    def _leave(self) -> None:
        """Close its files; the terminal of a forked child is its parent's."""
        if not self._is_over:
            self._is_over = True
            os.close(self._pipe)
            os.close(self._fd)

    def _note(self, shown: str) -> None:
        # The guard may have been killed.
        with suppress(OSError):
            os.write(self._pipe, f"{shown}\n".encode())

    def _write(self, text: str) -> None:
        """Write it at once, so that no output of others gets in between."""
        rest = text.encode(self._encoding, "replace")
        while rest:
            rest = rest[os.write(self._fd, rest) :]


@contextmanager
def own_screen() -> Iterator[Callable[[], str]]:
    """Show an empty screen, and the one from before at the end; yields what returns the pressed keys."""
    import termios
    import tty

    has_keys = sys.stdin is not None and sys.stdin.isatty()
    before = termios.tcgetattr(sys.stdin) if has_keys else None
    try:
        if has_keys:
            tty.setcbreak(sys.stdin)
        write(_ENTER)
        yield lambda: _pressed(has_keys=has_keys)
    finally:
        write(_LEAVE)
        if before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _pressed(*, has_keys: bool) -> str:
    if not has_keys:
        time.sleep(KEY_S)
        return ""
    ready, _, _ = select.select([sys.stdin], [], [], KEY_S)
    return os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace") if ready else ""


def write(text: str) -> None:
    """Write to standard output, with a replacement for characters that it does not have."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()
