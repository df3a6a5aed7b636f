"""The output of a block under its cell: a widget or a picture while it runs, then the static result."""

from __future__ import annotations

from taskscope.model.recording import Recording
from taskscope.profiling.block import Block
from taskscope.report import live_bundle, result_bundle
from taskscope.widgets import Dashboard
from taskscope.widgets.feed import Feed
from taskscope.widgets.feed import current as current_feed
from taskscope.widgets.output import Bundle, WidgetOutput
from taskscope.widgets.values import live_progress
from taskscope.widgets.window import Window

__all__ = ["CellOutput"]


class CellOutput:
    """The output of one block."""

    def __init__(self, feed: Feed | None = None) -> None:
        self._feed = feed or current_feed()
        self._block: Block | None = None
        self._dashboard: Dashboard | None = None
        self._output = WidgetOutput(self._feed, self._widget, self._picture, moves=True)

    def start(self, block: Block) -> None:
        """Show the widget if a browser can, else the picture."""
        self._block = block
        self._output.start()

    def finish(self, recording: Recording) -> None:
        """Replace the output by the static result, and leave no widget behind."""
        try:
            self._output.finish(result_bundle(recording))
        finally:
            if self._dashboard is not None:
                self._dashboard.close()

    def _widget(self) -> Bundle:
        assert self._block is not None
        self._dashboard = Dashboard(window=Window(self._block.first_run))
        bundle: Bundle = self._dashboard._repr_mimebundle_()
        return bundle

    def _picture(self) -> Bundle:
        assert self._block is not None
        recorder = self._block.session.recorder
        window = Window(self._block.first_run)
        progress = live_progress(recorder, window, self._feed.estimates, recorder.now_s())
        return live_bundle(progress, recorder.running())
