"""Answers what pages ask on the control comm, on the subshell that they ask on."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

from taskscope.model.version import __version__
from taskscope.recorder import Recorder
from taskscope.widgets.estimates import Estimates
from taskscope.widgets.feed.channels import Channel
from taskscope.widgets.feed.pages import LEASE_S, Page, Pages
from taskscope.widgets.feed.stream import PageStream
from taskscope.widgets.feed.verbs import (
    BadRequestError,
    Hello,
    Rate,
    Renew,
    Request,
    Resync,
    Snapshot,
    Stop,
    parse_page,
    parse_request,
)
from taskscope.wire import PROTOCOL

__all__ = ["Control", "interrupt_main"]


def interrupt_main() -> None:
    """Raise ``KeyboardInterrupt`` in the main thread, also out of a wait for a lock."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


class Control:
    """The handler of the control and data comms that pages open.

    Parameters
    ----------
    recorder
        What pages are told of.
    pages
        Where they are kept.
    estimates
        When the computes that run will end.
    epoch
        Returns the present epoch.
    wake
        Makes the publisher look at once.
    interrupt
        Interrupts the cell that runs.
    """

    def __init__(
        self,
        recorder: Recorder,
        pages: Pages,
        estimates: Estimates,
        *,
        epoch: Callable[[], str],
        wake: Callable[[], None],
        interrupt: Callable[[], None] = interrupt_main,
    ) -> None:
        self._recorder = recorder
        self._pages = pages
        self._estimates = estimates
        self._epoch = epoch
        self._wake = wake
        self._interrupt = interrupt

    def control_opened(self, channel: Channel, data: object) -> None:
        """Take a page's control comm."""
        page = self._page_or_refuse(channel, data)
        if page is not None:
            page.control = channel
            channel.listen(lambda asked: self._answer(page, channel, asked), lambda: self._pages.drop(page))

    def data_opened(self, channel: Channel, data: object) -> None:
        """Take a page's data comm."""
        page = self._page_or_refuse(channel, data)
        if page is not None:
            page.data = channel
            channel.listen(lambda _: None, lambda: self._pages.drop(page))
            self._wake()

    def _page_or_refuse(self, channel: Channel, data: object) -> Page | None:
        try:
            return self._pages.get(parse_page(data))
        except BadRequestError as error:
            channel.send({"re": "open", "error": str(error)})
            channel.close()
            return None

    def _answer(self, page: Page, channel: Channel, asked: object) -> None:
        on_subshell = threading.current_thread() is not threading.main_thread()
        try:
            request = parse_request(asked)
            self._pages.renew(page, on_subshell=on_subshell)
            error = self._do(page, request)
        except BadRequestError as bad:
            error = str(bad)
        channel.send(self._reply(asked, error, on_subshell=on_subshell))

    def _do(self, page: Page, request: Request) -> str | None:
        """Do it; return what went wrong, in words."""
        match request:
            case Hello(cursor, epoch):
                self._start(page, cursor if epoch == self._epoch() else 0)
            case Snapshot():
                self._start(page, 0)
            case Resync(cursor):
                self._start(page, cursor)
            case Rate(per_second):
                page.interval_s = 1 / per_second
            case Stop():
                return self._stop(page)
            case Renew():
                pass
        return None

    def _start(self, page: Page, cursor: int) -> None:
        page.stream = PageStream(self._recorder, self._epoch(), cursor, self._estimates)
        # An expired page that speaks again is let in again.
        self._pages.readmit(page)
        self._wake()

    def _stop(self, page: Page) -> str | None:
        if not self._recorder.is_active():
            return "nothing is running"
        if not page.on_subshell:
            return "this kernel is heard only between cells; interrupt it from the menu"
        self._interrupt()
        return None

    def _reply(self, asked: object, error: str | None, *, on_subshell: bool) -> dict[str, object]:
        verb = asked.get("verb") if isinstance(asked, dict) else None
        reply: dict[str, object] = {
            "re": verb if isinstance(verb, str) and len(verb) <= 20 and verb.isascii() else None,
            "protocol": PROTOCOL,
            "recorder": self._recorder.id,
            "epoch": self._epoch(),
            "cursor": self._recorder.cursor,
            "lease_s": LEASE_S,
            "subshell": on_subshell,
            "version": __version__,
        }
        return reply if error is None else reply | {"error": error}
