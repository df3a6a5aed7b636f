"""How far one clock is ahead of another, from messages that went there and back.

The answer was stamped between sending and receiving, so each exchange bounds the distance of the clocks,
however unequal its two ways (Cristian, "Probabilistic clock synchronization", 1989). The one with the
shortest round trip bounds it best, and every bound loosens with age, for clocks drift apart: the clock filter
of NTP (RFC 5905, section 10).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["MAX_DRIFT", "ClockFilter", "Exchange"]

MAX_DRIFT = 1e-4
"""By how much two clocks drift apart, in seconds a second; what is faster was set."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message there and back, all in wall-clock seconds.

    Parameters
    ----------
    sent
        By the clock of who asked.
    stamped
        By the clock of who answered.
    received
        `sent` and how long it took, by a clock that is never set.
    """

    sent: float
    stamped: float
    received: float

    @property
    def ahead_s(self) -> float:
        """How far the clock of who answered is ahead, if both ways took equally long."""
        return self.stamped - (self.sent + self.received) / 2

    @property
    def bound_s(self) -> float:
        """How much that can be off: half of the round trip."""
        return (self.received - self.sent) / 2


class ClockFilter:
    """Keeps the best of the exchanges with one clock, and notices when either clock is set."""

    def __init__(self) -> None:
        self.best: Exchange | None = None
        """The one to rely on; None before the first."""
        self._at = 0.0

    def note(self, exchanges: Iterable[Exchange], at: float) -> float | None:
        """Learn from exchanges that were made together.

        Parameters
        ----------
        exchanges
            At least one.
        at
            When, by a clock that is never set.

        Returns
        -------
        float or None
            By how many seconds the distance has jumped, None if it has not: no drift explains both the best
            exchange so far and the best of these.
        """
        before, best = self.best, min(exchanges, key=lambda e: e.bound_s)
        if before is None:
            self.best, self._at = best, at
            return None
        loosened_s = before.bound_s + MAX_DRIFT * (at - self._at)
        jump_s = best.ahead_s - before.ahead_s
        has_jumped = abs(jump_s) > best.bound_s + loosened_s
        if has_jumped or best.bound_s <= loosened_s:
            self.best, self._at = best, at
        return jump_s if has_jumped else None

    def forget(self) -> None:
        """Start over, because the clock of who asks was set."""
        self.best = None
