"""Answers the requests of pages on the control comm, on the subshell that received them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial

from taskscope.analysis.progress import Estimates
from taskscope.jupyter.adapter.channels import Channel
from taskscope.jupyter.feed.actions import Explaining, Keeping, Profiling, Stopping
from taskscope.jupyter.feed.pages import LEASE_S, Page, Pages, PendingTraitChanges
from taskscope.jupyter.feed.requests import BadRequestError, is_count, parse_page, parse_request
from taskscope.jupyter.feed.stream import PageStream
from taskscope.model.streams import StopWay
from taskscope.model.version import __version__
from taskscope.session import Session
from taskscope.wire import PROTOCOL, encode_links

MAX_LINKS = 200
"""Most dependencies, and most dependents, in one answer."""


class Control:
    """The handler of the control and data comms that pages open."""

    def __init__(
        self,
        session: Session,
        pages: Pages,
        estimates: Estimates,
        stopping: Stopping,
        trait_changes: PendingTraitChanges,
        *,
        clock: Callable[[], float],
        epoch: Callable[[], str],
    ) -> None:
        self._recorder = session.recorder
        self._wake = session.pump.wake
        self._pages = pages
        self._estimates = estimates
        self._stopping = stopping
        self._trait_changes = trait_changes
        self._epoch = epoch
        keeping, explaining = Keeping(session), Explaining(session, clock=clock)
        self._handlers: dict[str, Callable[..., Mapping[str, object] | None]] = {
            "hello": self._hello,
            "resync": self._start,
            "rate": self._rate,
            "renew": self._renew,
            "stop": self._stop,
            "dependencies": self._dependencies,
            "save": lambda _page, **fields: {"path": str(keeping.save(*fields.values()))},
            "compare": lambda _page, **fields: {"html": keeping.compare(**fields)},
            "explain": lambda _page, **fields: explaining.explain(**fields),
            "profile": Profiling(session, clock=clock).profile,
            "tell": self._tell,
        }
        """By verb: called with the page and the request's fields; returns its part of the answer."""

    def opened(self, channel: Channel, data: object, *, is_control: bool) -> None:
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
            self._wake()

    def _answer(self, page: Page, channel: Channel, request: object) -> None:
        answer: Mapping[str, object]
        on_subshell = threading.current_thread() is not threading.main_thread()
        try:
            verb, fields = parse_request(request)
            self._pages.renew(page, on_subshell=on_subshell)
            answer = self._handlers[verb](page, **fields) or {}
        except BadRequestError as bad:
            answer = {"error": str(bad)}
        channel.send({**self._facts(request, on_subshell=on_subshell), **answer})

    def _hello(self, page: Page, cursor: int, epoch: str | None) -> None:
        self._start(page, cursor if epoch == self._epoch() else 0)

    def _start(self, page: Page, cursor: int) -> None:
        page.stream = PageStream(self._recorder, self._epoch(), cursor, self._estimates, self._stopping.ways)
        self._renew(page)

    def _renew(self, page: Page) -> None:
        # A hidden tab's timers are slow: a page whose lease had expired gets the rows since then.
        self._pages.readmit(page)
        self._wake()

    def _rate(self, page: Page, per_second: float) -> None:
        page.interval_s = 1 / per_second

    def _stop(self, page: Page, run: int, way: StopWay) -> None:
        self._stopping.stop(run, way, is_heard=page.on_subshell)
        self._wake()

    def _tell(self, _page: Page, model: str, trait: str, value: object) -> None:
        if not self._trait_changes.put(model, trait, value):
            raise BadRequestError("no widget of this kernel that is alive has this id")
        self._wake()

    def _dependencies(self, _page: Page, row: int) -> Mapping[str, object]:
        links = self._recorder.links(row, MAX_LINKS)
        return {"row": row, "links": None if links is None else encode_links(links)}

    def _facts(self, request: object, *, on_subshell: bool) -> dict[str, object]:
        sent = request if isinstance(request, dict) else {}
        verb = sent.get("verb")
        # A page may have sent several requests before the first answer.
        echoed = ("request", "run") if verb == "stop" else ("request",)
        return {
            "re": verb if isinstance(verb, str) and len(verb) <= 20 and verb.isascii() else None,
            **{name: sent[name] for name in echoed if is_count(sent.get(name))},
            "protocol": PROTOCOL,
            "recorder": self._recorder.id,
            "epoch": self._epoch(),
            "cursor": self._recorder.cursor,
            "lease_s": LEASE_S,
            "subshell": on_subshell,
            "version": __version__,
        }
