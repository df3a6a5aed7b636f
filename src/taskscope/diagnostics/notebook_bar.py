"""The progress bar under a cell: a widget where the browser can show it, else a line of text."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from IPython.display import display, update_display

from taskscope.jupyter.feed import current as current_feed
from taskscope.jupyter.widgets import ProgressWidget
from taskscope.jupyter.widgets.values import Window
from taskscope.record.pump import Tick


class NotebookBar:
    """Shows one burst of computes under the cell that started it, until the burst ends.

    It is drawn on the thread and within the budget of messages that all views of a kernel share. A compute
    that is over before its first turn leaves one line on standard output.
    """

    name = "a progress bar"
    interval_s = 0.5

    def __init__(self, text: Callable[..., str], visible_from_s: float, first_run: int | None) -> None:
        self._feed = current_feed()
        self._text = text
        self._visible_from_s = visible_from_s
        self._window = Window(self._feed.session.recorder.next_run if first_run is None else first_run)
        # Where output belongs is part of a thread's context, and this one is the cell's.
        self._context = copy_context()
        self._lock = threading.RLock()
        self._running = True
        self._display_id: str | None = None
        self._widget: ProgressWidget | None = None
        self._remove: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Show it when it is due; called on the thread that computes."""
        self._remove = self._feed.publisher.add_sender(self)

    def end(self) -> None:
        """Show the last state as text, which a saved notebook keeps; idempotent, on the computing thread."""
        self._remove()
        with self._lock:
            was_running, self._running = self._running, False
            display_id, self._display_id = self._display_id, None
        try:
            if display_id is not None:
                update_display(self._as_text(is_over=True), raw=True, display_id=display_id)
            elif was_running and time.perf_counter() >= self._visible_from_s:
                print(self._text(is_over=True))  # noqa: T201 - front ends group printed lines, so many are cheap
        finally:
            if self._widget is not None:
                self._widget.close()
                self._widget = None

    def wants(self, tick: Tick) -> bool:
        """Return whether there is something new to show."""
        visible = time.perf_counter() >= self._visible_from_s
        return self._running and visible and self._widget is None and tick.active

    def send(self, tick: Tick) -> None:
        """Show the widget, or the bar as text; called on the pump's thread."""
        self._context.run(self._show)

    def _show(self) -> None:
        with self._lock:
            if not self._running:
                return
            bundle = self._as_widget() if self._feed.has_front_end() else self._as_text()
            if self._display_id is None:
                self._display_id = f"taskscope-{uuid.uuid4().hex}"
                display(bundle, raw=True, display_id=self._display_id)
            else:
                update_display(bundle, raw=True, display_id=self._display_id)

    def _as_widget(self) -> dict[str, Any]:
        self._widget = ProgressWidget(window=self._window)
        bundle: dict[str, Any] = self._widget._repr_mimebundle_()
        return {**bundle, **self._as_text()}

    def _as_text(self, *, is_over: bool = False) -> dict[str, str]:
        return {"text/plain": self._text(is_over=is_over)}
