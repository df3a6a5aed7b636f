"""Which clients a connection to a scheduler is there for."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any
from weakref import WeakSet

__all__ = ["Guests"]


class Guests:
    """Clients come and leave on any thread; once the last has left, nobody can come any more.

    Parameters
    ----------
    lock
        Held by who calls `join`.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self._clients: WeakSet[Any] = WeakSet()
        self._ids: set[str] = set()
        self._leaving: deque[object] = deque()
        self.have_left = False
        """Whether the last had left when `look` was last called."""

    def join(self, client: object) -> bool:
        """Stay as long as this client does; False if it is too late for that."""
        if not self.have_left:
            self._clients.add(client)
            self._ids.add(str(getattr(client, "id", "")))
        return not self.have_left

    def have(self, client_id: str) -> bool:
        """Return whether a client of this id has joined, and may have left since."""
        return client_id in self._ids

    def leave(self, client: object) -> None:
        """Stay no longer for this client; takes no lock, for the garbage collector may be who closes it."""
        self._leaving.append(client)

    @property
    def live_here(self) -> bool:
        """Whether one runs in the caller's event loop, where its scheduler may, too: no place to wait."""
        with self._lock:
            clients = list(self._clients)
        return any(client.asynchronous for client in clients)

    @property
    def are_leaving(self) -> bool:
        """Whether there is something to `look` at."""
        return bool(self._leaving)

    def look(self) -> bool:
        """Return whether the last has left."""
        with self._lock:
            while self._leaving:
                self._clients.discard(self._leaving.popleft())
                self.have_left = not self._clients
            return self.have_left
