"""What completes the recording of a block after the block has ended.

When a compute on a cluster returns, the last answers about it are on their way: bytes of transfers, samples
of call stacks, CPU, the last states. They come within some ten milliseconds as a rule, within four seconds at
the most. Who reads the recording waits for them; the block's own thread does not (`Background.begin`). What a
cluster was handed and nobody waited for may go on for hours after that, and so may what another thread
computes that a cell has begun: reading tells how far it is, and ``wait`` waits (`Background.start`).

=======================  =================================================================================
an interrupt             comes before the thread has begun, and the block is closed as it stands, which its
                         recording says, or after that, and the thread completes it
a client that is closed  is closed once the answers are there
Python ends              waits for the thread; of what goes on after that there is what is known by then
a forked child           has no such thread, and reads what was known at the fork
the next block           begins meanwhile: its computes have other numbers
an event loop            in which the scheduler may live is held up for half a second at most, and what is
                         read in it is what is known by then; while something else holds it up, a
                         notebook's next cell perhaps, the thread waits, for nothing is lost by that
=======================  =================================================================================
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeAlias

from taskscope.errors import OptionError, StillRunningError
from taskscope.model.forklock import ForkLock
from taskscope.recording import Recording
from taskscope.session import Session

_ANSWERS_S = 5.0
"""How long who reads waits: longer than the last answers take where nothing holds a scheduler up."""

_Stage: TypeAlias = Literal["new", "answers", "going", "ending", "over", "withdrawn"]


class Background:
    """Waits for a cluster's last answers, then for computes that go on, and completes the recording."""

    def __init__(
        self,
        session: Session,
        going: Callable[[], set[int]],
        so_far: Callable[[], Recording],
        complete: Callable[[float | None], Recording],
        left: Callable[[Recording], None],
        over: Callable[[Recording], None],
    ) -> None:
        self._session = session
        self.going = going
        self._so_far = so_far
        self._complete = complete
        self._left = left
        self._callbacks = [over]
        self._stage: _Stage = "new"
        self._answered = threading.Event()
        self._is_over = threading.Event()
        self._lock = ForkLock()
        self._due: Recording | None = None
        """What was given out before the answers were there, and has nothing in it so far."""
        self._forget: Callable[[], None] = lambda: None
        self._recording: Recording | None = None
        self._pid = os.getpid()

    @property
    def is_going(self) -> bool:
        """Whether the answers are there, and computes go on."""
        return self._stage in {"going", "ending"}

    def begin(self, due: Recording) -> None:
        """Begin to wait for the answers, on a thread, and put what they complete into `due`."""
        self._due = due
        self._session.cluster.awaited.add(self._answered)
        # Python waits for it at its end: until then the cluster is there.
        thread = threading.Thread(target=self._take_answers, name="taskscope-block")
        try:
            thread.start()
        except RuntimeError:
            # While the interpreter shuts down there are no new threads.
            self._take_answers()

    def start(self) -> None:
        """Begin to wait for the computes that go on; the answers are there."""
        self._answered.set()
        atexit.register(self._end)
        self._forget = self._session.at_compute_end(self._look)
        self._stage = "going"
        # The last one may have ended before.
        self._look()

    def withdraw(self) -> bool:
        """Return whether nothing was begun, which is not begun from now on; once more changes nothing."""
        with self._lock:
            if self._stage == "new":
                self._stage = "withdrawn"
        if self._stage != "withdrawn":
            return False
        self._wait_no_more()
        self._all_answered()
        return True

    def then(self, callback: Callable[[Recording], None]) -> None:
        """Have `callback` called with the complete recording, at once if it is."""
        with self._lock:
            if self._recording is None:
                self._callbacks.append(callback)
                return
        callback(self._recording)

    def fill(self, due: Recording) -> None:
        """Return once the answers are in `due`, or what is known by now where it is no use to wait."""
        if os.getpid() == self._pid:
            patience_s = self._session.cluster.patience_s
            self._answered.wait(_ANSWERS_S if patience_s is None else patience_s)
            with self._lock:
                if due is not self._due:
                    return
                # What comes later is a recording of its own.
                self._due = None
        due.take(replace(self._so_far(), completion=self))

    def wait(self, timeout: float | None = None) -> Recording:
        """Return the recording once it is complete; see `taskscope.Recording.wait`."""
        timeout = _checked(timeout)
        if not self._is_over.is_set() and self._session.cluster.runs_here:
            raise StillRunningError(
                "the scheduler runs in this thread's event loop, which cannot go on while it is waited for; "
                "write: await asyncio.to_thread(recording.wait)"
            )
        if not self._is_over.wait(timeout):
            if not self._answered.is_set():
                raise StillRunningError(
                    f"after {timeout:g} s, the cluster's last answers are on their way; wait longer"
                )
            n = len(self.going())
            raise StillRunningError(
                f"after {timeout:g} s, computes that still run in the background: {n}; "
                "wait longer, or cancel the futures of a cluster"
            )
        assert self._recording is not None
        return self._recording

    def _take_answers(self) -> None:
        with self._lock:
            if self._stage != "new":
                return
            self._stage = "answers"
        try:
            left_s = self._session.cluster.settle_in_background()
            if self.going():
                left = self._put(replace(self._so_far(), completion=self))
                self._call(self._left, left)
                self.start()
            else:
                self._finish(self._put(self._complete(left_s)))
        finally:
            self._all_answered()

    def _all_answered(self) -> None:
        self._answered.set()
        self._session.cluster.awaited.discard(self._answered)

    def _put(self, recording: Recording) -> Recording:
        """Return the recording that was given out, with this in it, if it is the first that is."""
        with self._lock:
            due, self._due = self._due, None
            if due is None:
                return recording
            due.take(recording)
        return due

    def _look(self) -> None:
        """See whether they are over; called on the thread of whatever has ended."""
        if self._stage == "going" and not self.going():
            # That thread asks schedulers, which the recording has to wait for.
            threading.Thread(target=self._end, name="taskscope-block", daemon=True).start()

    def _end(self) -> None:
        with self._lock:
            if self._stage != "going" or os.getpid() != self._pid:
                return
            self._stage = "ending"
        self._wait_no_more()
        self._finish(self._complete(None))

    def _finish(self, recording: Recording) -> None:
        with self._lock:
            self._recording = recording
            self._stage = "over"
            callbacks, self._callbacks = self._callbacks, []
        self._answered.set()
        for callback in callbacks:
            self._call(callback, recording)
        self._is_over.set()

    def _call(self, callback: Callable[[Recording], None], recording: Recording) -> None:
        with self._session.recorder.guard("showing a result"):
            callback(recording)

    def _wait_no_more(self) -> None:
        self._forget()
        atexit.unregister(self._end)


def _checked(timeout: object) -> float | None:
    if timeout is None or (isinstance(timeout, int | float) and 0 <= timeout <= threading.TIMEOUT_MAX):
        return timeout
    raise OptionError(f"timeout must be seconds, or None to wait for as long as it takes; got {timeout!r}")
