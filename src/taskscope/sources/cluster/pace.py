"""How often a scheduler may be asked, from how long its answers take."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

__all__ = ["Pace"]

_SHORTEST_S = 0.2
_LONGEST_S = 2.0
_SHARE = 0.05
_IDENTITY_S = 1.0


class Pace:
    """Keeps the time in which answers are awaited to a twentieth of all time, and to one look in 0.2 to 2 s.

    A scheduler that answers slowly has much to do, so it is asked less often.

    Parameters
    ----------
    now
        The clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._began = 0.0
        self._took_s = 0.0
        self._due: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._began = self._now()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._took_s = self._now() - self._began

    def pause_s(self) -> float:
        """Return how long to wait before the next look."""
        return min(max(self._took_s / _SHARE, _SHORTEST_S), _LONGEST_S)

    def is_identity_due(self) -> bool:
        """Return whether to ask for the workers again; True counts as asked."""
        return self.is_due("identity", _IDENTITY_S)

    def is_due(self, what: str, every_s: float) -> bool:
        """Return whether `every_s` seconds have passed since this was last due; True counts as asked."""
        if self._now() < self._due.get(what, float("-inf")):
            return False
        self._due[what] = self._now() + every_s
        return True
