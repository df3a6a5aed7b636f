"""How often a scheduler may be asked, from how long its answers take."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

__all__ = ["Pace"]

_SHORTEST_S = 0.2
_LONGEST_S = 2.0
_SHARE = 0.05
_SHARE_OF_EACH = 0.005
_IDENTITY_S = 1.0
_FEW = 4


class Pace:
    """Keeps the time in which answers are awaited to a twentieth of all time, and to one look in 0.2 to 2 s.

    A scheduler that answers slowly has much to do, so it is asked less often. What it has to say of all
    workers takes it longer the more there are: each such message has a pace of its own, see `sparing`.

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
        self._awaited: dict[str, deque[float]] = {}

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

    @contextmanager
    def sparing(self, what: str) -> Iterator[Callable[[], None]]:
        """Have this be due so late that what is awaited meanwhile is at most half a percent of all time.

        The shortest of the last few times counts: others say more of this machine than of the scheduler. One
        that says nothing of it is not counted: what is yielded is called then.
        """
        began, counts = self._now(), [True]
        yield counts.clear
        if not counts:
            return
        took = self._awaited.setdefault(what, deque(maxlen=_FEW))
        took.append(self._now() - began)
        if len(took) == _FEW:
            self._due[what] = max(self._due.get(what, began), began + min(took) / _SHARE_OF_EACH)
