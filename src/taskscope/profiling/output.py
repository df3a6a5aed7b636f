"""Where a block is shown: under its cell or in a panel, on a terminal, or nowhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from taskscope.options import Panel
from taskscope.recording import Recording
from taskscope.session import Session
from taskscope.sources.cell import in_kernel

if TYPE_CHECKING:
    from taskscope.jupyter.widgets import Dashboard


def choose_output(session: Session, panel: Panel | None, *, display: bool) -> Output:
    """Return the output of a block that begins here."""
    if not display:
        return Output()
    return CellOutput(session, panel) if in_kernel() else Terminal()


class Output:
    """Shows nothing; other outputs show a block while it runs, and its result."""

    can_wait = True
    """Whether the result can be replaced later by the complete one."""

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
    """Writes the summary to standard error, which keeps a script's own output clean."""

    can_wait = False
    """It would be in the middle of the script's next output."""

    def go_on(self, recording: Recording, last_run: int | None) -> None:
        self.finish(recording)

    def finish(self, recording: Recording) -> None:
        self.show_text(recording.summary())

    def show_text(self, text: str) -> None:
        stream = sys.stderr
        if stream is None:
            return
        encoding = getattr(stream, "encoding", None) or "utf-8"
        stream.write(f"{text.encode(encoding, 'replace').decode(encoding)}\n")


class CellOutput(Output):
    """Live under its cell or in a panel, then the static result under the cell."""

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
