"""One line on a terminal with the progress of a script's computes."""

from __future__ import annotations

import shutil
import sys
import threading
from typing import Self, TextIO

from taskscope.analysis.progress import Progress, measure_progress
from taskscope.analysis.quantities import format_left, format_percent, printable
from taskscope.profiling import Block
from taskscope.record.pump import Tick

_INTERVAL_S = 0.25
_BAR = 20
_CLEAR = "\r\x1b[K"


def progress_line(progress: Progress, width: int) -> str:
    """Return the line, at most `width` characters long.

    Examples
    --------
    >>> from taskscope.analysis.progress import PrefixCount
    >>> done = Progress(10, 5, 1, 0, 0, 0.5, 2.0, None, "running", (PrefixCount("inc", 10, 5, 1, 0),))
    >>> progress_line(done, 80)
    '##########---------- 50% · 5 / 10 tasks · too early to estimate · inc 5/10'
    """
    filled = round(progress.fraction * _BAR)
    total = f" / {progress.total:,} tasks" if progress.is_counted else " finished, total not known yet"
    time = progress.left
    left = "too early to estimate" if time is None else format_left(time.guess_s, time.high_s, time.n_unseen)
    parts = [
        f"{'#' * filled}{'-' * (_BAR - filled)} {format_percent(progress.fraction)}",
        f"{progress.finished:,}{total}",
        *([f"{progress.erred:,} failed"] if progress.erred else []),
        progress.starting or left,
    ]
    waiting = [p for p in progress.prefixes if p.finished + p.erred < p.total]
    waiting.sort(key=lambda p: -p.running)
    parts += [f"{printable(p.prefix, 24)} {p.finished:,}/{p.total:,}" for p in waiting]
    return " · ".join(parts)[:width]


class TerminalProgress:
    """Rewrites the line while a compute runs, and takes it away afterwards."""

    def __init__(self, block: Block, stream: TextIO) -> None:
        self._block = block
        self._stream = stream
        self._shown = False
        self._shown_s = float("-inf")
        self._lock = threading.Lock()
        # Here, because a script whose progress is not shown needs none of the widgets.
        from taskscope.analysis.progress import Estimates

        self._estimates = Estimates(block.session.recorder)
        self._undo = [
            block.session.pump.subscribe(self.tick),
            # The script's next output starts on a new line.
            block.session.at_compute_end(self._clear),
        ]

    @classmethod
    def on_a_terminal(cls, block: Block) -> Self | None:
        """Return one on standard error, None where that is no terminal."""
        stream = sys.stderr
        return cls(block, stream) if stream is not None and stream.isatty() else None

    def tick(self, tick: Tick) -> None:
        """Write the line if it is time; called on the pump's thread."""
        if not tick.active or tick.now_s - self._shown_s < _INTERVAL_S:
            return
        self._shown_s = tick.now_s
        recorder, first = self._block.session.recorder, self._block.first_run
        runs = recorder.runs(first)
        estimates = self._estimates.of(runs, tick.now_s)
        progress = measure_progress(recorder.progress(first), runs, tick.now_s, estimates)
        line = progress_line(progress, shutil.get_terminal_size().columns - 1)
        encoding = self._stream.encoding or "utf-8"
        with self._lock:
            # Measuring takes time, in which the compute may have ended.
            if recorder.is_computing():
                self._write(_CLEAR + line.encode(encoding, "replace").decode(encoding))
                self._shown = True

    def close(self) -> None:
        """Take the line away for good."""
        while self._undo:
            self._undo.pop()()
        self._clear()

    def _clear(self) -> None:
        with self._lock:
            if self._shown:
                self._write(_CLEAR)
                self._shown = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
