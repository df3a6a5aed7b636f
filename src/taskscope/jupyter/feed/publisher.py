"""Whose turn it is: everything this kernel sends unasked is paced here, on the pump's thread."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from taskscope.model.guard import Guard
from taskscope.record.pump import Tick

MAX_MESSAGES_PER_S = 10
"""Most messages per second and kernel, whatever the task rate and however many pages and widgets."""


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


class Budget:
    """Allows at most `n` messages in any second."""

    def __init__(self, n: int) -> None:
        self._sent_s: deque[float] = deque(maxlen=n)

    def allows(self, now_s: float) -> bool:
        """Return whether one more message may go."""
        full = len(self._sent_s) == self._sent_s.maxlen
        # Clocks are floats: ten tenths may be a touch less than a second.
        return not full or now_s - self._sent_s[0] >= 1.0 - 1e-6

    def spend(self, now_s: float) -> None:
        """Count a message."""
        self._sent_s.append(now_s)


class Publisher:
    """Gives senders their turn, round robin, one message each per tick."""

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
        self._budget = Budget(MAX_MESSAGES_PER_S)
        self._sent_s: dict[int, float] = {}
        self._owed_final: set[int] = set()
        self._turn = 0
        self._pid = os.getpid()

    def add_sender(self, sender: Sender) -> Callable[[], None]:
        """Add `sender` to the turns; return the function that removes it."""
        self._added[id(sender)] = sender

        def remove() -> None:
            self._added.pop(id(sender), None)

        return remove

    def tick(self, tick: Tick) -> None:
        """Let senders send; called on the pump's thread, and nowhere else."""
        if os.getpid() != self._pid:
            return  # a forked child has no browser
        senders = [*self._pages(), *self._added.values()]
        self._forget_gone({id(s) for s in senders})
        if tick.final:
            self._owed_final = {id(s) for s in senders}
        self._turn %= max(len(senders), 1)
        waiting = False
        for sender in senders[self._turn :] + senders[: self._turn]:
            waiting |= not self._give_turn(sender, tick)
        self._turn += 1
        if waiting:
            self._wake()

    def _forget_gone(self, alive: set[int]) -> None:
        self._owed_final &= alive
        self._sent_s = {key: at for key, at in self._sent_s.items() if key in alive}

    def _give_turn(self, sender: Sender, tick: Tick) -> bool:
        """Return whether the sender has nothing left to send."""
        key = id(sender)
        mine = replace(tick, final=key in self._owed_final)
        with Guard(f"the feed to {sender.name}", self._fault):
            if not sender.wants(mine):
                self._owed_final.discard(key)
                return True
            early = tick.now_s - self._sent_s.get(key, float("-inf")) < sender.interval_s * 0.9
            if early or not self._budget.allows(tick.now_s):
                return False
            self._budget.spend(tick.now_s)
            self._sent_s[key] = tick.now_s
            sender.send(mine)
            self._owed_final.discard(key)
            return not sender.wants(replace(tick, final=False))
        # A page connects again; an added sender has its turn again.
        self._dropped(sender)
        return True
