"""Which keys the runs that are over had, in eight bytes each."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

__all__ = ["PastKeys"]

_MAX_KEYS = 2_000_000
_AT_ONCE = 10_000
_PART = 100_000


class PastKeys:
    """Remembers keys by their hashes: about two million at most, those that were added last.

    What ran once may run again for later tasks, where its result was lost with a worker: it is no task of
    other clients.
    """

    def __init__(self) -> None:
        self._parts: deque[NDArray[np.int64]] = deque()

    def add(self, keys: Iterable[Hashable]) -> None:
        """Remember keys."""
        left = iter(keys)
        new = [np.empty(0, np.int64)]
        # In pieces, so that other threads have their turn.
        while part := list(islice(left, _AT_ONCE)):
            new.append(_hashes(part))
        last = [self._parts.pop()] if self._parts and len(self._parts[-1]) < _PART else []
        self._parts.append(np.unique(np.concatenate([*last, *new])))
        while sum(map(len, self._parts)) > _MAX_KEYS and len(self._parts) > 1:
            self._parts.popleft()

    def have(self, keys: Collection[Hashable]) -> list[bool]:
        """Return of each key whether it is one of these."""
        hashes = _hashes(keys)
        found = np.zeros(len(hashes), bool)
        for part in self._parts:
            if len(part):
                places = np.minimum(np.searchsorted(part, hashes), len(part) - 1)
                found |= part[places] == hashes
        return [bool(one) for one in found]


def _hashes(keys: Collection[Hashable]) -> NDArray[np.int64]:
    return np.array(list(map(hash, keys)), np.int64)
