"""Count the tasks of the computes in flight by the scheduler's own state, without a hook per task."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sized
from typing import TypeAlias

__all__ = ["Tally"]

_State: TypeAlias = Mapping[str, Sized]
_AHEAD = ("ready", "waiting", "running")


class Tally:
    """The computes that run at the same time, counted as one."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._states: dict[int, _State] = {}
        self._ended = (0, 0)
        self._failed = False

    def begin(self, compute: int) -> bool:
        """Note that a compute begins; return whether it is the only one."""
        if self._pid != os.getpid():
            # A forked child has none of its parent's computes, and may have its lock locked for ever.
            self._forget()
        with self._lock:
            first = not self._states
            if first:
                self._ended, self._failed = (0, 0), False
            self._states[compute] = {}
            return first

    def watch(self, compute: int, state: _State) -> None:
        """Count by this state from now on."""
        if compute in self._states:
            self._states[compute] = state

    def end(self, compute: int, *, failed: bool) -> None:
        """Note that a compute has ended, and let go of its state; once more changes nothing."""
        with self._lock:
            state = self._states.pop(compute, None)
            if state is not None:
                done, total = _count(state)
                self._ended = (self._ended[0] + done, self._ended[1] + total)
                self._failed |= failed

    @property
    def is_empty(self) -> bool:
        """Whether no compute is in flight."""
        return not self._states

    @property
    def fraction(self) -> float:
        """Finished tasks as a share of all, from 0 to 1; 1 only once all computes have ended well."""
        counts = [self._ended, *map(_count, list(self._states.values()))]
        done, total = (sum(part) for part in zip(*counts, strict=True))
        over = not self._states and not self._failed
        if over:
            return 1.0
        return min(done / total, 0.999) if total else 0.0


def _count(state: _State) -> tuple[int, int]:
    if not state:
        return 0, 0
    done = len(state["finished"])
    return done, done + sum(len(state[part]) for part in _AHEAD)
