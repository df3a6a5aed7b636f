"""The output of a block in a notebook: live under its cell or in a panel, then the static result."""

from __future__ import annotations

from IPython.display import display

from taskscope.jupyter.feed import Feed
from taskscope.jupyter.feed import current as current_feed
from taskscope.jupyter.widgets import Dashboard
from taskscope.jupyter.widgets.output import Bundle, WidgetOutput
from taskscope.jupyter.widgets.values import Window, live_progress
from taskscope.options import Panel
from taskscope.profiling.output import Output, Shown
from taskscope.recording import Recording
from taskscope.report import live_bundle, result_bundle


class CellOutput(Output):
    """The output of one block."""

    def __init__(self, panel: Panel | None = None, feed: Feed | None = None) -> None:
        self._feed = feed or current_feed()
        self._panel = panel
        self._is_inline = True
        self._block: Shown | None = None
        self._dashboard: Dashboard | None = None
        self._output = WidgetOutput(self._feed, self._widget, self._picture, moves=True)

    def start(self, block: Shown) -> None:
        """Show it in the panel if that is wanted and a page has one, else under the cell."""
        self._block = block
        has_panel = self._panel != "inline" and self._feed.ask_for_panel(self._panel)
        self._is_inline = self._panel != "dock" or not has_panel
        if self._is_inline:
            self._output.start()

    @property
    def can_wait(self) -> bool:  # type: ignore[override]  # here it depends on the page
        """Whether a page shows it live.

        Who runs a notebook without one, as nbconvert does, takes nothing more once its last cell has ended.
        """
        return not self._is_inline or self._output.is_live

    def keep_place(self) -> None:
        """Make a place under this cell for the result, if there is none."""
        if not self._is_inline:
            self._is_inline = True
            self._output.put(self._picture())

    def go_on(self, recording: Recording) -> None:
        """Stay live under the cell, or show the present result there if it is in a panel."""
        assert self._block is not None
        if self._dashboard is not None:
            self._dashboard.last_run = self._block.last_run
        if not self._is_inline:
            self._is_inline = True
            self._output.put(result_bundle(recording))

    def finish(self, recording: Recording) -> None:
        """Leave the static result under the cell, in place of the live view."""
        bundle = result_bundle(recording)
        if not self._is_inline:
            display(bundle, raw=True)
            return
        self._output.finish(bundle)

    def show_text(self, text: str) -> None:
        """Show text below the result."""
        display({"text/plain": text}, raw=True)

    def close(self) -> None:
        """Close the live view; idempotent."""
        self._output.finish()
        if self._dashboard is not None:
            self._dashboard.close()

    def _widget(self) -> Bundle:
        assert self._block is not None
        if self._dashboard is None:
            self._dashboard = Dashboard(window=Window(self._block.first_shown, self._block.last_run))
        bundle: Bundle = self._dashboard._repr_mimebundle_()
        return bundle

    def _picture(self) -> Bundle:
        assert self._block is not None
        recorder = self._block.session.recorder
        window = Window(self._block.first_shown, self._block.last_run)
        progress = live_progress(recorder, window, self._feed.estimates, recorder.now_s(), of_now=False)
        return live_bundle(progress, recorder.running(), recorder.groups)
