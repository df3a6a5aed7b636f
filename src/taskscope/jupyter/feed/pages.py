"""The pages and other senders of a kernel, and the order in which they send.

Everything that this kernel sends unrequested is paced here, on the pump's thread. A page has two comms, its
stream and a lease that it must renew.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from taskscope.jupyter.adapter.channels import Channel
from taskscope.jupyter.feed.stream import PageStream
from taskscope.model.forklock import ForkLock
from taskscope.model.guard import Guard
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
        self.lease_s = LEASE_S
        self.window: str | None = None
        """The VS Code window whose cell showed a widget last."""
        self.is_early = False
        """Whether the stream was started for this window, which has requested none yet."""
        self.on_subshell = False
        self.renewed_s = float("-inf")
        self.at_end: list[Callable[[], None]] = []
        """Called when the page is dropped or its lease has run out."""

    def end(self) -> None:
        """Release the page's resources."""
        while self.at_end:
            self.at_end.pop()()

    def wants(self, tick: Tick) -> bool:
        data, stream = self.data, self.stream
        return data is not None and data.is_open and stream is not None and stream.wants(tick)

    def send(self, tick: Tick) -> None:
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
        """Add a dropped page again."""
        with self._lock:
            self._pages.setdefault(page.name, page)

    def drop(self, page: Page) -> None:
        """Drop the page, and release its resources."""
        with self._lock:
            if self._pages.get(page.name) is page:
                del self._pages[page.name]
        page.end()

    def alive(self) -> list[Page]:
        """Return the pages with a stream and a valid lease; drop the expired ones."""
        with self._lock:
            expired = [self._pages.pop(name) for name in self._expired()]
            pages = list(self._pages.values())
        for page in expired:
            page.end()
        return [page for page in pages if page.stream is not None]

    def _expired(self) -> list[str]:
        return [n for n, p in self._pages.items() if p.stream is not None and self._left_s(p) <= 0]

    def clear(self) -> list[Page]:
        """Drop all pages and return them."""
        with self._lock:
            pages = list(self._pages.values())
            self._pages = {}
        for page in pages:
            page.end()
        return pages

    def _now_s(self, page: Page) -> float:
        return self._clock() if page.on_subshell else self._idle_clock()

    def _left_s(self, page: Page) -> float:
        return page.renewed_s + page.lease_s - self._now_s(page)


class PendingTraitChanges:
    """The values that pages have set, by widget and trait, until the widget takes them."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, object]] = {}
        self._lock = ForkLock()

    def open(self, model: str) -> None:
        """Keep values for a widget, until `close`."""
        with self._lock:
            self._waiting.setdefault(model, {})

    def close(self, model: str) -> None:
        with self._lock:
            self._waiting.pop(model, None)

    def put(self, model: str, trait: str, value: object) -> bool:
        """Keep the last value of a trait; return whether there is such a widget."""
        with self._lock:
            found = self._waiting.get(model)
            if found is not None:
                found[trait] = value
            return found is not None

    def has(self, model: str) -> bool:
        return bool(self._waiting.get(model))

    def take(self, model: str) -> Mapping[str, object]:
        """Return the values of a widget, once."""
        with self._lock:
            changes = self._waiting.get(model, {})
            if changes:
                self._waiting[model] = {}
            return changes


MAX_MESSAGES_PER_S = 10
"""Most messages per second and kernel, whatever the task rate and however many pages and widgets."""

_N_ADDED = 3
"""Most of them that traits and outputs take of a page."""

_ADDED = 0
"""The key of all traits and outputs together."""

_NEVER = float("-inf")


class Sender(Protocol):
    """Something that has news now and then: a page, a widget's traits, a display update."""

    @property
    def name(self) -> str:
        """The name in messages about faults."""

    @property
    def interval_s(self) -> float:
        """Least seconds between two sends."""

    def wants(self, tick: Tick) -> bool:
        """Return whether there is something to send; cheap, called on every tick."""

    def send(self, tick: Tick) -> None:
        """Send one message with everything that is new."""


class Publisher:
    """Gives senders their turn, one message each per tick, the one that sent longest ago first."""

    def __init__(
        self,
        pages: Callable[[], list[Sender]],
        dropped: Callable[[Sender], None],
        fault: Callable[[str, BaseException], None],
        wake: Callable[[], None],
    ) -> None:
        self._pages = pages
        self._dropped = dropped
        self._fault = fault
        self._wake = wake
        self._added: dict[int, Sender] = {}
        self._sent_s: deque[float] = deque(maxlen=MAX_MESSAGES_PER_S)
        """When the last messages were sent."""
        self._due_s: dict[int, float] = {}
        """From when on each sender may send again; the one that sent last is last."""
        self._owed_final: set[int] = set()
        self._pid = os.getpid()

    def add_sender(self, sender: Sender) -> Callable[[], None]:
        """Add `sender` to the turns; return the function that removes it."""
        self._added[id(sender)] = sender

        def remove() -> None:
            self._added.pop(id(sender), None)

        return remove

    def tick(self, tick: Tick) -> None:
        """Call senders in turn; only the pump's thread calls this."""
        if os.getpid() != self._pid:
            return  # a forked child has no browser
        pages = self._pages()
        # The one that sent longest ago is first.
        order = {key: i for i, key in enumerate(self._due_s)}
        senders = sorted([*pages, *self._added.values()], key=lambda sender: order.get(id(sender), -1))
        alive = {id(s) for s in senders}
        self._owed_final &= alive
        self._due_s = {key: at for key, at in self._due_s.items() if key in alive or key == _ADDED}
        if tick.final:
            self._owed_final = alive
        waiting = False
        for sender in senders:
            waiting |= not self._give_turn(sender, self._pauses(sender, has_pages=bool(pages)), tick)
        if waiting:
            self._wake()

    def _give_turn(self, sender: Sender, pauses: Mapping[int, float], tick: Tick) -> bool:
        """Return whether the sender has nothing left to send."""
        key = id(sender)
        mine = replace(tick, final=key in self._owed_final)
        with Guard(f"the feed to {sender.name}", self._fault):
            if not sender.wants(mine):
                self._owed_final.discard(key)
                return True
            early = any(tick.now_s < self._due_s.get(k, _NEVER) - s * 0.1 for k, s in pauses.items())
            is_full = len(self._sent_s) == MAX_MESSAGES_PER_S
            # Clocks are floats: ten tenths may be a touch less than a second.
            if early or (is_full and tick.now_s - self._sent_s[0] < 1.0 - 1e-6):
                return False
            self._sent_s.append(tick.now_s)
            for k, s in pauses.items():
                # Counted from when it was due: ticks are up to 0.1 s late, and that would add up.
                self._due_s[k] = max(self._due_s.pop(k, _NEVER), tick.now_s - s) + s
            sender.send(mine)
            self._owed_final.discard(key)
            return not sender.wants(replace(tick, final=False))
        # A page connects again; an added sender has its turn again.
        self._dropped(sender)
        return True

    def _pauses(self, sender: Sender, *, has_pages: bool) -> Mapping[int, float]:
        """Return the least seconds between two messages: of this sender, and of all added ones together."""
        if id(sender) in self._added:
            return {id(sender): sender.interval_s, _ADDED: 1.0 / _N_ADDED if has_pages else 0.0}
        # One message a second is left over, or a late tick would find the second used up.
        n_left = MAX_MESSAGES_PER_S - (_N_ADDED + 1 if self._added else 0)
        return {id(sender): max(sender.interval_s, 1.0 / n_left)}
