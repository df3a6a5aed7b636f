"""An output under a cell: a picture until a page has connected, then the widget.

A saved notebook has the text and the picture of a widget, not its view. They are brought up to date
when computes end, by an update of the same output; `hosts/widget/renderer.ts` does not draw anew for that.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from IPython.display import display, update_display

from taskscope.jupyter.feed import Feed
from taskscope.model.forklock import ForkLock
from taskscope.record.pump import Tick
from taskscope.sources.cell import at_cell_end, vscode_window

Bundle: TypeAlias = Mapping[str, Any]

_INTERVAL_S = 1.0
_FOLD_S = 0.1


class WidgetOutput:
    """All outputs of one view, found again by their display id from any cell."""

    name = "an output"
    interval_s = _INTERVAL_S

    def __init__(
        self,
        feed: Feed,
        widget: Callable[[], Bundle],
        picture: Callable[[], Bundle],
        *,
        moves: bool,
        stays: bool = False,
    ) -> None:
        self._feed = feed
        self._widget = widget
        self._picture = picture
        self._moves = moves
        self._stays = stays
        self._id = f"taskscope-{uuid.uuid4().hex}"
        self._undo: list[Callable[[], None]] = []
        self._shown_version: int | None = None
        self._shown: Bundle = {}
        self._shows_widget = False
        self._finished = False
        self._lock = ForkLock()

    @property
    def is_live(self) -> bool:
        """Whether a page shows the widget."""
        return self._shows_widget

    def start(self) -> None:
        """Show the widget if a browser can, else the picture; each call shows it in one more place."""
        self._feed.open()
        with self._lock:
            self._shows_widget = self._can_show_widget()
            self._shown_version, self._shown = self._now()
        display(self._shown, raw=True, display_id=self._id)
        if self._has_news() and not self._undo:
            self._undo = [self._feed.publisher.add_sender(self), at_cell_end(self._catch_up)]

    def put(self, bundle: Bundle) -> None:
        """Show this, until `finish` shows something else."""
        display(bundle, raw=True, display_id=self._id)

    def wants(self, tick: Tick) -> bool:
        """Return whether the picture has to change, or the widget can replace it."""
        if self._finished:
            return False
        if self._shows_widget:
            return self._stays and tick.final and self._shown_version != self._feed.session.recorder.version
        return (self._moves and (tick.active or tick.final)) or self._feed.has_front_end()

    def send(self, tick: Tick) -> None:
        """Show the present picture, if it is another one; called on the pump's thread."""
        with self._lock:
            if not self._finished:
                self._shows_widget = self._shows_widget or self._feed.has_front_end()
                self._update()
        if not self._has_news():
            self._leave()

    def finish(self, bundle: Bundle | None = None) -> None:
        """Stop updates; show `bundle`, if there is one."""
        with self._lock:
            self._finished = True
        self._leave()
        if bundle is not None:
            update_display(bundle, raw=True, display_id=self._id)

    def _update(self) -> None:
        version, bundle = self._now()
        if bundle != self._shown:
            update_display(bundle, raw=True, display_id=self._id)
        # Not before: what fails or is interrupted is shown the next time.
        self._shown_version, self._shown = version, bundle

    def _catch_up(self) -> None:
        """Show how the cell's computes ended: a program that runs notebooks waits for no more."""
        session = self._feed.session
        recorder = session.recorder
        if not self._moves or self._shows_widget:
            return
        # The shell would print an error under the user's cell.
        with recorder.guard(self.name):
            session.cluster.catch_up()
            while recorder.pull(_FOLD_S) and not recorder.is_computing():
                pass
            with self._lock:
                if not self._finished and self._shown_version != recorder.version:
                    self._update()

    def _leave(self) -> None:
        while (undo := self._next_undo()) is not None:
            undo()

    def _next_undo(self) -> Callable[[], None] | None:
        # The pump's thread and the user's may call this at the same time.
        with self._lock:
            return self._undo.pop() if self._undo else None

    def _now(self) -> tuple[int | None, Bundle]:
        """Return the present bundle, and its version."""
        recorder = self._feed.session.recorder
        # Rows that are not folded yet change the picture, and no version.
        version = None if recorder.is_active() else recorder.version
        return version, self._widget() if self._shows_widget else self._picture()

    def _can_show_widget(self) -> bool:
        # Voila runs the whole notebook before there is a page, and no page of its gets updates. VS Code shows
        # a widget only in an output that began with it.
        is_voila = os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")
        return self._feed.has_front_end() or is_voila or vscode_window() is not None

    def _has_news(self) -> bool:
        """Return whether the output may have to change yet."""
        return self._stays or not self._shows_widget
