"""A lock that a forked child does not find locked by a thread it does not have."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


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
