"""A lock that a forked child does not find locked by a thread it does not have, and what it guards."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class ForkLock:
    """A re-entrant lock, new in every process."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()

    def _of_this_process(self) -> threading.RLock:
        if self._pid != os.getpid():
            self._renew()
        return self._lock

    # A ``with`` statement calls the lock's own two, so that an interrupt cannot come in between.

    @property
    def __enter__(self) -> Callable[[], bool]:
        return self._of_this_process().__enter__

    @property
    def __exit__(self) -> Callable[..., None]:  # noqa: PLE0302, PYI036 - a property
        return self._of_this_process().__exit__


class Single(Generic[_T]):
    """The one value of its kind in this process, made when it is first requested."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self.made: _T | None = None
        self._lock = ForkLock()

    def get(self) -> _T:
        """Return the value."""
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made
