"""The pages that listen: each with its two comms, its stream and a lease that it must renew."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from taskscope.jupyter.adapter.channels import Channel
from taskscope.jupyter.feed.stream import PageStream
from taskscope.model.forklock import ForkLock
from taskscope.record.pump import Tick

LEASE_S = 30.0
"""Seconds that a page is sent messages without a renewal."""

MAX_PAGES = 32
"""Most pages at a time; beyond that the one that has been silent longest is dropped."""


class Page:
    """One browser page; as a `Sender` it carries its stream to the data comm."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.control: Channel | None = None
        self.data: Channel | None = None
        self.stream: PageStream | None = None
        self.interval_s = 0.1
        self.on_subshell = False
        self.renewed_s = float("-inf")
        self.at_end: list[Callable[[], None]] = []
        """Called when the page is dropped or its lease has run out."""

    def end(self) -> None:
        """Release the page's resources."""
        while self.at_end:
            self.at_end.pop()()

    def wants(self, tick: Tick) -> bool:
        """Return whether a message is due and can be carried."""
        return self.data is not None and self.stream is not None and self.stream.wants(tick)

    def send(self, tick: Tick) -> None:
        """Send the next message of the stream."""
        data, stream = self.data, self.stream
        if data is not None and stream is not None:
            message, buffers = stream.next(tick)
            data.send(message, buffers)


class Pages:
    """All pages by id."""

    def __init__(self, clock: Callable[[], float], idle_clock: Callable[[], float]) -> None:
        self._clock = clock
        self._idle_clock = idle_clock
        self._pages: dict[str, Page] = {}
        self._lock = ForkLock()

    def get(self, name: str) -> Page:
        """Return the page, made if it is new; the one silent for longest makes room."""
        with self._lock:
            if name not in self._pages and len(self._pages) >= MAX_PAGES:
                self._pages.pop(min(self._pages, key=lambda n: self._left_s(self._pages[n]))).end()
            return self._pages.setdefault(name, Page(name))

    def renew(self, page: Page, *, on_subshell: bool) -> None:
        """Renew the page's lease."""
        page.on_subshell = on_subshell
        page.renewed_s = self._now_s(page)

    def readmit(self, page: Page) -> None:
        """Take back a page that had been dropped."""
        with self._lock:
            self._pages.setdefault(page.name, page)

    def drop(self, page: Page) -> None:
        """Forget the page."""
        with self._lock:
            if self._pages.get(page.name) is page:
                del self._pages[page.name]
        page.end()

    def alive(self) -> list[Page]:
        """Return the pages with a stream and a valid lease; forget the expired."""
        with self._lock:
            expired = [self._pages.pop(name) for name in self._expired()]
            pages = list(self._pages.values())
        for page in expired:
            page.end()
        return [page for page in pages if page.stream is not None]

    def _expired(self) -> list[str]:
        return [n for n, p in self._pages.items() if p.stream is not None and self._left_s(p) <= 0]

    def clear(self) -> list[Page]:
        """Forget all pages and return them."""
        with self._lock:
            pages = list(self._pages.values())
            self._pages = {}
        for page in pages:
            page.end()
        return pages

    def _now_s(self, page: Page) -> float:
        return self._clock() if page.on_subshell else self._idle_clock()

    def _left_s(self, page: Page) -> float:
        return page.renewed_s + LEASE_S - self._now_s(page)


class PendingTraitChanges:
    """The values that wait for each widget that follows the recorder."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, object]] = {}
        self._lock = ForkLock()

    def open(self, model: str) -> None:
        """Keep values for a widget."""
        with self._lock:
            self._waiting.setdefault(model, {})

    def close(self, model: str) -> None:
        """Keep none any more."""
        with self._lock:
            self._waiting.pop(model, None)

    def put(self, model: str, trait: str, value: object) -> bool:
        """Keep the value of a trait; return whether there is such a widget. The last one counts."""
        with self._lock:
            if model not in self._waiting:
                return False
            self._waiting[model][trait] = value
            return True

    def has(self, model: str) -> bool:
        """Return whether something waits for a widget."""
        return bool(self._waiting.get(model))

    def take(self, model: str) -> Mapping[str, object]:
        """Return what waits for a widget, by trait; it counts as delivered."""
        with self._lock:
            if not self._waiting.get(model):
                return {}
            changes, self._waiting[model] = self._waiting[model], {}
            return changes
