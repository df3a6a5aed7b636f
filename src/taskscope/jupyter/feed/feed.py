"""The feed of this kernel: one recorder, any number of pages, and the handlers of their requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from taskscope.analysis.progress import Estimates
from taskscope.history import History
from taskscope.history import current as current_history
from taskscope.jupyter.adapter.channels import Channel, Channels, KernelChannels, Widget, WidgetChannel
from taskscope.jupyter.adapter.kernel import (
    IdleClock,
    delete_in_turn,
    interrupt_main,
    main_waits_for_dask,
    show_presence,
    suppress_status,
)
from taskscope.jupyter.feed.actions import Answers, Keeping, Stopping
from taskscope.jupyter.feed.pages import Page, Pages, PendingTraitChanges, Publisher, Sender
from taskscope.jupyter.feed.requests import BadRequestError, is_count, parse_page, parse_request
from taskscope.jupyter.feed.stream import PageStream
from taskscope.model.forklock import Single
from taskscope.model.streams import StopWay
from taskscope.model.version import __version__
from taskscope.session import Session
from taskscope.session import current as current_session
from taskscope.sources.cell import vscode_window
from taskscope.wire import PROTOCOL, encode_links

ANNOUNCE = "taskscope.announce"
SHOW = "taskscope.show"
CONTROL = "taskscope.control"
DATA = "taskscope.data"
_WIDGETS = ""
"""The name of the pages that are reached by the comms of widgets; no page can take it."""

_UNTIL_CLOSED_S = 1e6
"""The lease of these pages: their messages would reach the kernel only between cells."""

MAX_LINKS = 200
"""Most dependencies, and most dependents, in one answer."""


class Feed:
    """Sends a session's recorder to pages, over comms that they open.

    Requests are handled on the subshell that received them.
    """

    def __init__(
        self,
        session: Session,
        *,
        channels: Channels | None = None,
        clock: Callable[[], float] = time.monotonic,
        interrupt: Callable[[], None] = interrupt_main,
        is_waiting: Callable[[], bool] = main_waits_for_dask,
        history: History | None = None,
    ) -> None:
        self.session = session
        self._history = history or History(session)
        self.idle_clock = IdleClock(clock)
        self.estimates = Estimates(session.recorder)
        self.trait_changes = PendingTraitChanges()
        self._channels = channels or KernelChannels()
        self._pages = Pages(clock, self.idle_clock)
        self._loads = 0
        self._undo: list[Callable[[], None]] = []
        self._stopping = Stopping(
            session,
            execution=lambda: self.idle_clock.execution,
            clock=clock,
            interrupt=interrupt,
            is_waiting=is_waiting,
        )
        keeping, answers = Keeping(session, history=self._history), Answers(session, clock=clock)
        self._handlers: dict[str, Callable[..., Mapping[str, object] | None]] = {
            "hello": self._hello,
            "resync": self._start,
            "rate": self._rate,
            "renew": self._renew,
            "history": self._keep_history,
            "stop": self._stop,
            "dependencies": self._dependencies,
            "save": lambda _page, **fields: {"path": str(keeping.save(*fields.values()))},
            "compare": lambda _page, **fields: {"html": keeping.compare(**fields)},
            "explain": lambda _page, **fields: answers.explain(**fields),
            "story": lambda _page, **fields: {"story": keeping.story(**fields)},
            "profile": answers.profile,
            "end_profile": lambda page: page.end(),
            "tell": self._tell,
        }
        """By verb: called with the page and the request's fields; returns its part of the answer."""
        self.publisher = Publisher(
            lambda: list(self._pages.alive()), self._drop, session.recorder.fault, session.pump.wake
        )

    @property
    def epoch(self) -> str:
        """Name of this loading of taskscope; a page's rows and ids are valid for one epoch."""
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
        for page in self._pages.alive():
            if page.name == _WIDGETS:
                self._start(page, 0)

    def open(self) -> None:
        """Announce it, unless that was done."""
        if not self.is_open:
            self.announce()

    def ask_for_panel(self, panel: Literal["dock"] | None) -> bool:
        """Request the side panel of the page that runs this cell; return whether there is a page."""
        # A page that is reached by widgets has no place for it.
        if not self.has_front_end() or [page.name for page in self._pages.alive()] == [_WIDGETS]:
            return False
        self._channels.announce(SHOW, {"protocol": PROTOCOL, "panel": panel or "auto"})
        return True

    def has_front_end(self) -> bool:
        """Return whether there is a page."""
        return bool(self._pages.alive())

    def connect(self, widget: Widget) -> Callable[[], None]:
        """Let pages that can open no comm get the stream by that of a widget; return what ends this.

        In VS Code it starts at once, because no request arrives before the end of the cell.
        """
        page, window = self._pages.get(_WIDGETS), vscode_window()
        if not isinstance(page.data, WidgetChannel):
            page.control = page.data = channel = WidgetChannel()
            page.lease_s = _UNTIL_CLOSED_S
            channel.listen(partial(self._answer, page, channel), lambda: None)
        is_new = window is not None and window != page.window
        remove = page.data.add(widget, sends=is_new)
        if is_new:
            page.window, page.is_early = window, True
            self._pages.renew(page, on_subshell=False)
            self._start(page, 0)
        return remove

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
            self._channels.register(target, partial(self._opened, is_control=target == CONTROL))
            self._undo.append(partial(self._channels.unregister, target))
        self._undo.append(self.session.pump.subscribe(self.publisher.tick))
        self._follow_held(True)
        self._undo.append(partial(self._follow_held, False))
        kernel = (self.idle_clock.watch_cells(), suppress_status(), delete_in_turn(), show_presence())
        self._undo += [undo for undo in kernel if undo is not None]

    def _follow_held(self, is_on: bool) -> None:  # noqa: FBT001 - a switch with one argument
        self.session.recorder.follow_held = is_on

    def _drop(self, sender: Sender) -> None:
        if isinstance(sender, Page):
            self._pages.drop(sender)

    # Requests of pages ------------------------------------------------------------------------------------

    def _opened(self, channel: Channel, data: object, *, is_control: bool) -> None:
        """Add a page's control or data comm."""
        try:
            page = self._pages.get(parse_page(data))
        except BadRequestError as error:
            channel.send({"re": "open", "error": str(error)})
            channel.close()
            return
        closed = partial(self._pages.drop, page)
        if is_control:
            page.control = channel
            channel.listen(partial(self._answer, page, channel), closed)
        else:
            page.data = channel
            channel.listen(lambda _: None, closed)
            self.session.pump.wake()

    def _answer(self, page: Page, channel: Channel, request: object) -> None:
        answer: Mapping[str, object]
        on_subshell = threading.current_thread() is not threading.main_thread()
        try:
            verb, fields = parse_request(request)
            self._pages.renew(page, on_subshell=on_subshell)
            answer = self._handlers[verb](page, **fields) or {}
        except BadRequestError as bad:
            answer = {"error": str(bad)}
        channel.send({**self._facts(page, request, on_subshell=on_subshell), **answer})

    def _facts(self, page: Page, request: object, *, on_subshell: bool) -> dict[str, object]:
        sent = request if isinstance(request, dict) else {}
        verb = sent.get("verb")
        return {
            "re": verb if isinstance(verb, str) and len(verb) <= 20 and verb.isascii() else None,
            # A page may have sent several requests before the first answer.
            **({"request": sent["request"]} if is_count(sent.get("request")) else {}),
            "protocol": PROTOCOL,
            "recorder": self.session.recorder.id,
            "epoch": self.epoch,
            "cursor": self.session.recorder.cursor,
            "lease_s": page.lease_s,
            "subshell": on_subshell,
            "version": __version__,
        }

    def _hello(self, page: Page, cursor: int, epoch: str | None) -> None:
        if page.is_early:
            page.is_early = False
            self._renew(page)
        else:
            self._start(page, cursor if epoch == self.epoch else 0)

    def _start(self, page: Page, cursor: int) -> None:
        page.stream = PageStream(
            self.session.recorder, self.epoch, cursor, self.estimates, self._stopping.ways
        )
        self._renew(page)

    def _renew(self, page: Page) -> None:
        # A hidden tab's timers are slow: a page whose lease had expired gets the rows since then.
        self._pages.readmit(page)
        self.session.pump.wake()

    def _rate(self, page: Page, per_second: float) -> None:
        page.interval_s = 1 / per_second

    def _keep_history(self, _page: Page, is_on: bool) -> None:  # noqa: FBT001 - a field of the request
        if is_on:
            self._history.turn_on()
        else:
            self._history.turn_off()

    def _stop(self, page: Page, run: int, way: StopWay) -> None:
        self._stopping.stop(run, way, is_heard=page.on_subshell)
        self.session.pump.wake()

    def _dependencies(self, _page: Page, row: int) -> Mapping[str, object]:
        links = self.session.recorder.links(row, MAX_LINKS)
        return {"links": None if links is None else encode_links(links)}

    def _tell(self, _page: Page, model: str, trait: str, value: object) -> None:
        if not self.trait_changes.put(model, trait, value):
            raise BadRequestError("no widget of this kernel that is alive has this id")
        self.session.pump.wake()


_current = Single(lambda: Feed(current_session(), history=current_history()))


def current() -> Feed:
    """Return the feed of this process's session, made when first requested."""
    return _current.get()
