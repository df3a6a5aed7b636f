"""The keys of one run that may not have ended yet, those that were asked about longest ago first."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable

__all__ = ["Unended"]

_MAX_PASSED = 20_000
"""How many keys that workers have are gone through at most, to find others."""


class Unended:
    """A queue of keys; what has ended leaves it when it is come upon."""

    def __init__(self) -> None:
        self._keys: deque[Hashable] = deque()

    def add(self, keys: Iterable[Hashable]) -> None:
        """Append keys that are new."""
        self._keys.extend(keys)

    def take(
        self, limit: int, ended: Iterable[Collection[Hashable]], sent: Collection[Hashable]
    ) -> tuple[list[Hashable], bool]:
        """Take out keys that have neither ended nor been sent, and tell whether these are all there are.

        Parameters
        ----------
        limit
            How many at most.
        ended
            Keys of which the end is known, in several parts.
        sent
            Keys that workers have; they stay.
        """
        ended = tuple(ended)
        taken: list[Hashable] = []
        passed: list[Hashable] = []
        while self._keys and len(taken) < limit and len(passed) < _MAX_PASSED:
            key = self._keys.popleft()
            if any(key in part for part in ended):
                continue
            (passed if key in sent else taken).append(key)
        is_all = not self._keys
        self._keys.extend(passed)
        return taken, is_all

    def put_back(self, keys: Iterable[Hashable], urgent: Collection[Hashable]) -> None:
        """Put back what was taken: `urgent` ones are the next to be taken, the others the last."""
        self._keys.extendleft(urgent)
        self._keys.extend(key for key in keys if key not in urgent)
