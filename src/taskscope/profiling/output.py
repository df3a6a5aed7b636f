"""Where a block is shown: under its cell or in a panel, on a terminal, or nowhere."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from logging import Logger
from typing import TYPE_CHECKING, Any

from taskscope.analysis.progress import Estimates, Progress, live_states, measure_progress
from taskscope.analysis.quantities import printable
from taskscope.options import Panel
from taskscope.profiling.textbar import TextBar, cut
from taskscope.record.pump import Tick
from taskscope.recording import Recording
from taskscope.report.picture import progress_text
from taskscope.session import Session
from taskscope.sources.cell import in_kernel
from taskscope.sources.local.source import run_label

if TYPE_CHECKING:
    from taskscope.jupyter.widgets import Dashboard

_TERMINAL_DT, _MOST_PREFIXES = 0.25, 8


def choose_output(
    session: Session,
    panel: Panel | None,
    terminal: Callable[[Session, Logger | None], Output] | None = None,
    *,
    display: bool,
    logger: Logger | None = None,
) -> Output:
    """Return the output of a block that begins here; `terminal` makes that of a script."""
    if not display:
        return Output()
    if logger is None and in_kernel():
        return CellOutput(session, panel)
    return (terminal or Terminal)(session, logger)


class Output:
    """Shows nothing; other outputs show a block while it runs, and its result."""

    can_wait = True
    """Whether the result can be replaced later by the complete one."""
    shows = False
    """Whether it shows anything."""

    def start(self, first_run: int) -> None:
        """Show that the block has started, with computes from this one on."""

    def keep_place(self) -> None:
        """Keep a place for the result of a block that has ended, which another thread shows."""

    def go_on(self, recording: Recording, last_run: int | None) -> None:
        """Show that the block has ended, and that its computes on a cluster run."""

    def finish(self, recording: Recording) -> None:
        """Show the result; where it waited or went on, on another thread."""

    def show_text(self, text: str) -> None:
        """Show text below the result."""

    def close(self) -> None:
        """Close the live view; idempotent."""


class Terminal(Output):
    """Writes progress and the summary to standard error, or to a logger: a script's output stays clean.

    All computes of a block are one bar.
    """

    can_wait = False
    """It would be in the middle of the script's next output."""
    shows = True

    def __init__(
        self, session: Session, logger: Logger | None = None, *, terminal_dt: float | None = _TERMINAL_DT
    ) -> None:
        self._session, self._logger = session, logger
        self._bar = TextBar(sys.stderr, terminal_dt=terminal_dt, logger=logger)
        self._estimates = Estimates(session.recorder)
        self._label, self._first_run = "", 0
        self._undo: list[Callable[[], None]] = []

    def start(self, first_run: int) -> None:
        self._first_run = first_run
        self._label = printable(label, 40) if (label := run_label.get()) else "taskscope"
        self._bar.watch()
        self._undo = [
            self._session.pump.subscribe(self._tick),
            # The script's next output starts on a new line.
            self._session.at_compute_end(self._bar.clear),
        ]

    def _tick(self, tick: Tick) -> None:
        if tick.active and self._bar.is_due(tick.now_s):
            text = self._text(tick.now_s)
            # Measuring takes time, in which the compute may have ended.
            if self._session.recorder.is_computing():
                self._bar.draw(text)

    def _progress(self, now_s: float) -> Progress:
        recorder = self._session.recorder
        runs = recorder.runs(self._first_run)
        estimates, states = self._estimates.of(runs, now_s), live_states(recorder, runs, now_s)
        return measure_progress(recorder.progress(self._first_run), runs, now_s, estimates, states)

    def _text(self, now_s: float) -> str:
        progress = self._progress(now_s)
        parts = [self._label, *progress_text(progress).split(" · ")[2:]]
        if progress.left is not None:
            # Of a line that is cut the rest matters less.
            parts.insert(2, parts.pop())
        pending = [p for p in progress.prefixes if p.finished + p.erred < p.total]
        parts += [f"{printable(p.prefix, 24)} {p.finished:,}/{p.total:,}" for p in pending[:_MOST_PREFIXES]]
        text = " · ".join(parts)
        return cut(text, shutil.get_terminal_size().columns - 1) if self._bar.is_terminal else text

    def go_on(self, recording: Recording, last_run: int | None) -> None:
        self.finish(recording)

    def finish(self, recording: Recording) -> None:
        self.close()
        self.show_text(recording.summary())

    def show_text(self, text: str) -> None:
        for line in [text] if self._logger is None else text.splitlines():
            self._bar.end(line)

    def close(self) -> None:
        while self._undo:
            self._undo.pop()()
        self._bar.close()


class CellOutput(Output):
    """Live under its cell or in a panel, then the static result under the cell."""

    shows = True

    def __init__(self, session: Session, panel: Panel | None) -> None:
        from taskscope.jupyter.feed import current as current_feed
        from taskscope.jupyter.widgets.output import WidgetOutput

        self._session = session
        self._feed = current_feed()
        self._panel = panel
        self._is_inline = True
        self._first_run = 0
        self._last_run: int | None = None
        self._dashboard: Dashboard | None = None
        self._output = WidgetOutput(self._feed, self._widget, self._picture, moves=True)

    def start(self, first_run: int) -> None:
        """Show it in the panel if that is wanted and a page has one, else under the cell."""
        self._first_run = first_run
        has_panel = self._panel != "inline" and self._feed.ask_for_panel(self._panel)
        self._is_inline = self._panel != "dock" or not has_panel
        if self._is_inline:
            self._output.start()

    @property
    def can_wait(self) -> bool:  # type: ignore[override]  # here it depends on the page
        """Whether a page shows it live: nbconvert, for one, takes nothing after the end of the last cell."""
        return not self._is_inline or self._output.is_live

    def keep_place(self) -> None:
        """Make a place under this cell for the result, if there is none."""
        if not self._is_inline:
            self._is_inline = True
            self._output.put(self._picture())

    def go_on(self, recording: Recording, last_run: int | None) -> None:
        """Stay live under the cell, or show the present result there if it is in a panel."""
        self._last_run = last_run
        if self._dashboard is not None:
            self._dashboard.last_run = last_run
        if not self._is_inline:
            self._is_inline = True
            self._output.put(_bundle(recording))

    def finish(self, recording: Recording) -> None:
        """Leave the static result under the cell, in place of the live view."""
        if self._is_inline:
            self._output.finish(_bundle(recording))
        else:
            _display(_bundle(recording))

    def show_text(self, text: str) -> None:
        _display({"text/plain": text})

    def close(self) -> None:
        self._output.finish()
        if self._dashboard is not None:
            self._dashboard.close()

    def _widget(self) -> dict[str, Any]:
        from taskscope.jupyter.widgets import Dashboard
        from taskscope.jupyter.widgets.values import RunRange

        if self._dashboard is None:
            self._dashboard = Dashboard(window=RunRange(self._first_run, self._last_run))
        bundle: dict[str, Any] = self._dashboard._repr_mimebundle_()
        return bundle

    def _picture(self) -> dict[str, Any]:
        from taskscope.jupyter.widgets.values import RunRange, live_progress
        from taskscope.report import live_bundle

        recorder, window = self._session.recorder, RunRange(self._first_run, self._last_run)
        progress = live_progress(recorder, window, self._feed.estimates, recorder.now_s(), of_now=False)
        return dict(live_bundle(progress, recorder.running(), recorder.groups))


def _bundle(recording: Recording) -> dict[str, Any]:
    from taskscope.report import result_bundle

    return dict(result_bundle(recording))


def _display(bundle: dict[str, Any]) -> None:
    from IPython.display import display

    display(bundle, raw=True)
