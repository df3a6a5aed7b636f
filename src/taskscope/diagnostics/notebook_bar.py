"""The progress bar under a cell: a widget where the browser can show it, else a line of text."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from taskscope.jupyter.feed import current as current_feed
from taskscope.jupyter.widgets import ProgressWidget
from taskscope.jupyter.widgets.output import WidgetOutput
from taskscope.jupyter.widgets.values import Window
from taskscope.record.pump import Tick


class NotebookBar:
    """Shows one burst of computes under the cell that started it, until the burst ends.

    A compute that is over before the pump's first tick leaves one line on standard output.
    """

    name = "a progress bar"
    interval_s = 0.5

    def __init__(self, text: Callable[..., str], visible_from_s: float, first_run: int | None) -> None:
        self._feed = current_feed()
        self._text = text
        self._visible_from_s = visible_from_s
        self._window = Window(self._feed.session.recorder.next_run if first_run is None else first_run)
        # The cell of an output is part of a thread's context, and this one is the cell's.
        self._context = copy_context()
        self._output = WidgetOutput(self._feed, self._as_widget, self._as_text, moves=True)
        self._lock = threading.RLock()
        self._is_over = self._is_shown = False
        self._widget: ProgressWidget | None = None
        self._remove: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Show it when it is due; called on the thread that computes."""
        self._remove = self._feed.publisher.add_sender(self)

    def end(self) -> None:
        """Show the last state as text, which a saved notebook keeps; on the thread that computes."""
        self._remove()
        with self._lock:
            self._is_over = True
        try:
            if self._is_shown:
                self._output.finish(self._as_text(is_over=True))
            elif time.perf_counter() >= self._visible_from_s:
                print(self._text(is_over=True))  # noqa: T201 - front ends group printed lines, so many are cheap
        finally:
            if self._widget is not None:
                self._widget.close()

    def wants(self, tick: Tick) -> bool:
        """Return whether it is due; later updates are those of the output."""
        return not self._is_shown and tick.active and time.perf_counter() >= self._visible_from_s

    def send(self, tick: Tick) -> None:
        """Show it; called on the pump's thread."""
        with self._lock:
            if not self._is_over:
                self._is_shown = True
                self._context.run(self._output.start)

    def _as_widget(self) -> dict[str, Any]:
        if self._widget is None:
            self._widget = ProgressWidget(window=self._window)
        bundle: dict[str, Any] = self._widget._repr_mimebundle_()
        return {**bundle, **self._as_text()}

    def _as_text(self, *, is_over: bool = False) -> dict[str, str]:
        return {"text/plain": self._text(is_over=is_over)}
