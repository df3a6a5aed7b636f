"""The feed of this kernel: one recorder, one publisher, any number of pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Literal

from taskscope.analysis.progress import Estimates
from taskscope.jupyter.adapter.channels import Channels, KernelChannels
from taskscope.jupyter.adapter.kernel import IdleClock, interrupt_main, main_waits_for_dask
from taskscope.jupyter.adapter.presence import show_presence
from taskscope.jupyter.adapter.quiet import suppress_status
from taskscope.jupyter.adapter.subshells import delete_in_turn
from taskscope.jupyter.feed.actions import Stopping
from taskscope.jupyter.feed.control import Control
from taskscope.jupyter.feed.pages import Page, Pages, PendingTraitChanges
from taskscope.jupyter.feed.publisher import Publisher, Sender
from taskscope.model.forklock import ForkLock
from taskscope.session import Session
from taskscope.session import current as current_session
from taskscope.wire import PROTOCOL

ANNOUNCE = "taskscope.announce"
SHOW = "taskscope.show"
CONTROL = "taskscope.control"
DATA = "taskscope.data"


class Feed:
    """Tells pages of a session's recorder."""

    def __init__(
        self,
        session: Session,
        *,
        channels: Channels | None = None,
        clock: Callable[[], float] = time.monotonic,
        interrupt: Callable[[], None] = interrupt_main,
        is_waiting: Callable[[], bool] = main_waits_for_dask,
    ) -> None:
        self.session = session
        self.idle_clock = IdleClock(clock)
        self.estimates = Estimates(session.recorder)
        self.trait_changes = PendingTraitChanges()
        self._channels = channels or KernelChannels()
        self._pages = Pages(clock, self.idle_clock)
        self._loads = 0
        self._undo: list[Callable[[], None]] = []
        stopping = Stopping(
            session,
            execution=lambda: self.idle_clock.execution,
            clock=clock,
            interrupt=interrupt,
            is_waiting=is_waiting,
        )
        self._control = Control(
            session,
            self._pages,
            self.estimates,
            stopping,
            self.trait_changes,
            clock=clock,
            epoch=lambda: self.epoch,
        )
        self.publisher = Publisher(
            lambda: list(self._pages.alive()), self._drop, session.recorder.fault, session.pump.wake
        )

    @property
    def epoch(self) -> str:
        """Name of this loading of taskscope; rows and ids a page has are good for one epoch."""
        return f"{self.session.recorder.id}-{self._loads}"

    @property
    def is_open(self) -> bool:
        """Whether pages can open comms."""
        return bool(self._undo)

    def announce(self) -> None:
        """Open for pages if need be, begin a new epoch and greet every page that is there."""
        if not self.is_open:
            self._open()
        self._loads += 1
        facts = {"protocol": PROTOCOL, "recorder": self.session.recorder.id, "epoch": self.epoch}
        self._channels.announce(ANNOUNCE, facts)

    def open(self) -> None:
        """Announce it, unless that was done."""
        if not self.is_open:
            self.announce()

    def ask_for_panel(self, panel: Literal["dock"] | None) -> bool:
        """Ask the page that runs this cell for its side panel."""
        if not self.has_front_end():
            return False
        self._channels.announce(SHOW, {"protocol": PROTOCOL, "panel": panel or "auto"})
        return True

    def has_front_end(self) -> bool:
        """Return whether there is a page."""
        return bool(self._pages.alive())

    def close(self) -> None:
        """Close all comms and send nothing more; `announce` opens again."""
        while self._undo:
            self._undo.pop()()
        for page in self._pages.clear():
            for channel in (page.control, page.data):
                if channel is not None:
                    channel.close()

    def _open(self) -> None:
        for target in (CONTROL, DATA):
            self._channels.register(target, partial(self._control.opened, is_control=target == CONTROL))
            self._undo.append(partial(self._channels.unregister, target))
        self._undo.append(self.session.pump.subscribe(self.publisher.tick))
        self.session.recorder.follow_held = True
        kernel = (self.idle_clock.watch_cells(), suppress_status(), delete_in_turn(), show_presence())
        self._undo += [undo for undo in kernel if undo is not None]

    def _drop(self, sender: Sender) -> None:
        if isinstance(sender, Page):
            self._pages.drop(sender)


class _Current:
    """Owner of the process-wide feed."""

    def __init__(self) -> None:
        self._feed: Feed | None = None
        self._lock = ForkLock()

    def get(self) -> Feed:
        with self._lock:
            if self._feed is None:
                self._feed = Feed(current_session())
            return self._feed


_current = _Current()


def current() -> Feed:
    """Return the feed of this process's session, made when first requested."""
    return _current.get()
