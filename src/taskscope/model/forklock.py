"""A lock that a forked child does not find locked by a thread it does not have."""

from __future__ import annotations

import os
import threading

__all__ = ["ForkLock"]


class ForkLock:
    """A re-entrant lock, new in every process."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if self._pid != os.getpid():
            self._renew()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
