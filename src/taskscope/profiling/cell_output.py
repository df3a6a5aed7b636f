"""The output of a block under its cell: a widget or a picture while it runs, then the static result."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

from IPython.display import display, update_display

from taskscope.model.recording import Recording
from taskscope.profiling.block import Block
from taskscope.recorder.pump import Tick
from taskscope.report import live_bundle, result_bundle
from taskscope.widgets import Dashboard
from taskscope.widgets.feed import Feed
from taskscope.widgets.feed import current as current_feed
from taskscope.widgets.values import live_progress
from taskscope.widgets.window import Window

__all__ = ["CellOutput"]

_INTERVAL_S = 1.0


class CellOutput:
    """One output of one cell, found again by its display id whichever cell runs by then."""

    def __init__(self, feed: Feed | None = None) -> None:
        self._feed = feed or current_feed()
        self._id = f"taskscope-{uuid.uuid4().hex}"
        self._block: Block | None = None
        self._dashboard: Dashboard | None = None
        self._remove: Callable[[], None] | None = None
        self._finished = False
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Who this is, in messages about faults."""
        return "the output of a cell"

    @property
    def interval_s(self) -> float:
        """Least seconds between two updates."""
        return _INTERVAL_S

    def start(self, block: Block) -> None:
        """Show the widget if a browser can, else the picture."""
        self._block = block
        if not self._feed.is_open:
            self._feed.announce()
        display(self._bundle(), raw=True, display_id=self._id)
        self._remove = self._feed.publisher.add_sender(self)

    def wants(self, tick: Tick) -> bool:
        """Return whether the picture has to change, or can give way to the widget."""
        return not self._finished and self._dashboard is None and (tick.active or self._feed.has_front_end())

    def send(self, tick: Tick) -> None:
        """Show what is known now; called on the pump's thread."""
        with self._lock:
            if not self._finished:
                update_display(self._bundle(), raw=True, display_id=self._id)

    def finish(self, recording: Recording) -> None:
        """Replace the output by the static result, and leave no widget behind."""
        with self._lock:
            self._finished = True
        if self._remove is not None:
            self._remove()
        try:
            update_display(result_bundle(recording), raw=True, display_id=self._id)
        finally:
            if self._dashboard is not None:
                self._dashboard.close()

    def _bundle(self) -> dict[str, Any]:
        assert self._block is not None
        window = Window(self._block.first_run)
        if self._feed.has_front_end():
            self._dashboard = Dashboard(window=window)
            bundle: dict[str, Any] = self._dashboard._repr_mimebundle_()
            return bundle
        recorder = self._block.session.recorder
        return live_bundle(
            live_progress(recorder, window, self._feed.estimates, recorder.now_s()), recorder.running()
        )
