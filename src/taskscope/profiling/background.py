"""Computes that a cluster goes on with after their block, and the recording that they complete."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable

from taskscope.errors import OptionError, StillRunningError
from taskscope.recording import Recording
from taskscope.session import Session

__all__ = ["Background"]


class Background:
    """Waits for the computes of a block that go on after it, and completes its recording then.

    Parameters
    ----------
    session
        What records them.
    first_run, last_run
        The computes of the block.
    complete
        Completes the recording; called once, on a thread of its own, or where Python ends before they do.
    """

    def __init__(
        self, session: Session, first_run: int, last_run: int, complete: Callable[[], Recording]
    ) -> None:
        self._session = session
        self._runs = frozenset(range(first_run, last_run + 1))
        self._complete = complete
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self.is_ending = False
        """Whether the recording is complete, or being completed."""
        self._callbacks: list[Callable[[Recording], None]] = []
        self._forget: Callable[[], None] = lambda: None
        self._recording: Recording | None = None
        self._pid = os.getpid()

    def going(self) -> set[int]:
        """Return the numbers of the computes that go on."""
        return self._session.cluster.going() & self._runs

    def start(self) -> None:
        """Begin to wait."""
        atexit.register(self._end)
        self._forget = self._session.at_compute_end(self._look)
        # The last one may have ended before.
        self._look()

    def cancel(self) -> None:
        """Wait no more, and complete nothing; once more changes nothing."""
        self._forget()
        atexit.unregister(self._end)

    def then(self, callback: Callable[[Recording], None]) -> None:
        """Have `callback` called with the complete recording, at once if it is."""
        with self._lock:
            if self._recording is None:
                self._callbacks.append(callback)
                return
        callback(self._recording)

    def wait(self, timeout: float | None = None) -> Recording:
        """Return the recording once it is complete; see `taskscope.Recording.wait`."""
        if not self._is_over.wait(_checked(timeout)):
            n = len(self.going())
            raise StillRunningError(
                f"after {timeout:g} s, computes that still run in the background: {n}; "
                "wait longer, or cancel the futures"
            )
        assert self._recording is not None
        return self._recording

    def _look(self) -> None:
        """See whether they are over; called on the thread of whatever has ended."""
        if not self.going():
            # That thread asks schedulers, which the recording has to wait for.
            threading.Thread(target=self._end, name="taskscope-block", daemon=True).start()

    def _end(self) -> None:
        with self._lock:
            if self.is_ending or os.getpid() != self._pid:
                return
            self.is_ending = True
        self.cancel()
        recording = self._complete()
        with self._lock:
            self._recording = recording
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            try:
                callback(recording)
            except Exception as error:  # noqa: BLE001 - nobody's code hears of a fault of ours
                self._session.recorder.fault("showing a result", error)
        self._is_over.set()


def _checked(timeout: object) -> float | None:
    if timeout is None or (isinstance(timeout, int | float) and 0 <= timeout <= threading.TIMEOUT_MAX):
        return timeout
    raise OptionError(f"timeout must be seconds, or None to wait for as long as it takes; got {timeout!r}")
