"""Answers the requests of pages on the control comm, on the subshell that they came by."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from taskscope.analysis.time_left import Estimates
from taskscope.jupyter.adapter.channels import Channel
from taskscope.jupyter.feed.explaining import Explaining
from taskscope.jupyter.feed.keeping import Keeping
from taskscope.jupyter.feed.pages import LEASE_S, Page, Pages
from taskscope.jupyter.feed.profiling import Profiling
from taskscope.jupyter.feed.stopping import Stopping
from taskscope.jupyter.feed.stream import PageStream
from taskscope.jupyter.feed.trait_changes import PendingTraitChanges
from taskscope.jupyter.feed.verbs import BadRequestError, parse_page, parse_request
from taskscope.model.streams import StopWay
from taskscope.model.version import __version__
from taskscope.record import Recorder
from taskscope.wire import PROTOCOL, encode_links

MAX_LINKS = 200
"""Most dependencies, and most dependents, in one answer."""


class Control:
    """The handler of the control and data comms that pages open."""

    def __init__(
        self,
        recorder: Recorder,
        pages: Pages,
        estimates: Estimates,
        *,
        epoch: Callable[[], str],
        trait_changes: PendingTraitChanges,
        stopping: Stopping,
        keeping: Keeping,
        explaining: Explaining,
        profiling: Profiling,
        wake: Callable[[], None],
    ) -> None:
        self._recorder = recorder
        self._pages = pages
        self._estimates = estimates
        self._epoch = epoch
        self._trait_changes = trait_changes
        self._wake = wake
        self._stopping = stopping
        self._handlers: dict[str, Callable[..., Mapping[str, object] | None]] = {
            "hello": self._hello,
            "resync": self._start,
            "rate": self._rate,
            "renew": self._renew,
            "stop": self._stop,
            "dependencies": self._dependencies,
            "save": lambda _page, *window: {"path": str(keeping.save(*window))},
            "compare": lambda _page, *window: {"html": keeping.compare(*window)},
            "explain": lambda _page, *window: explaining.explain(*window),
            "profile": profiling.profile,
            "tell": self._tell,
        }
        """By verb: called with the page and the checked arguments; returns its part of the answer."""

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
        answer: Mapping[str, object]
        on_subshell = threading.current_thread() is not threading.main_thread()
        try:
            verb, arguments = parse_request(asked)
            self._pages.renew(page, on_subshell=on_subshell)
            answer = self._handlers[verb](page, *arguments) or {}
        except BadRequestError as bad:
            answer = {"error": str(bad)}
        channel.send({**self._facts(asked, on_subshell=on_subshell), **answer})

    def _hello(self, page: Page, cursor: int, epoch: str | None) -> None:
        self._start(page, cursor if epoch == self._epoch() else 0)

    def _rate(self, page: Page, per_second: float) -> None:
        page.interval_s = 1 / per_second

    def _renew(self, page: Page) -> None:
        # A hidden tab's timers are slow: what it was not sent since its lease ran out is sent now.
        self._pages.readmit(page)
        self._wake()

    def _stop(self, page: Page, run: int, way: StopWay) -> None:
        self._stopping.stop(run, way, is_heard=page.on_subshell)
        self._wake()

    def _start(self, page: Page, cursor: int) -> None:
        page.stream = PageStream(self._recorder, self._epoch(), cursor, self._estimates, self._stopping.ways)
        # An expired page that speaks again is let in again.
        self._pages.readmit(page)
        self._wake()

    def _tell(self, _page: Page, model: str, trait: str, value: object) -> None:
        if not self._trait_changes.put(model, trait, value):
            raise BadRequestError("no widget of this kernel that is alive has this id")
        self._wake()

    def _dependencies(self, _page: Page, row: int) -> Mapping[str, object]:
        links = self._recorder.links(row, MAX_LINKS)
        return {"row": row, "links": None if links is None else encode_links(links)}

    def _facts(self, asked: object, *, on_subshell: bool) -> dict[str, object]:
        fields = asked if isinstance(asked, dict) else {}
        verb, run, request = fields.get("verb"), fields.get("run"), fields.get("request")
        return {
            "re": verb if isinstance(verb, str) and len(verb) <= 20 and verb.isascii() else None,
            # Several may be asked to stop at a time.
            **({"run": run} if verb == "stop" and type(run) is int and 0 <= run < 2**53 else {}),
            # Others may have been asked meanwhile.
            **({"request": request} if type(request) is int and 0 <= request < 2**53 else {}),
            "protocol": PROTOCOL,
            "recorder": self._recorder.id,
            "epoch": self._epoch(),
            "cursor": self._recorder.cursor,
            "lease_s": LEASE_S,
            "subshell": on_subshell,
            "version": __version__,
        }
