"""The one thread that folds what was recorded and calls its subscribers, ten times a second."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from typing import Self

from taskscope.record.recorder import Recorder

TICK_S = 0.1
_FINAL_AFTER_S = 1.0
_IDLE_EXIT_S = 3.0
_SLICE_S = 0.001
_PAUSE_S = 0.004
_JOIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Tick:
    """One beat of the pump."""

    now_s: float
    active: bool
    final: bool


class CoreWait:
    """For how long the thread that made it was ready, but others had the cores: by the kernel's own account.

    Some kernels keep none.
    """

    def __init__(self, path: str = "/proc/thread-self/schedstat") -> None:
        try:
            self._file: FileIO | None = FileIO(path)
        except OSError:
            self._file = None
        self._last_s = 0.0
        self.taken_s()

    def taken_s(self) -> float:
        """Return the seconds since this was asked for last; 0 where nobody counts them."""
        try:
            # One call, as who asks the system for something gives the interpreter's lock away.
            known = b"" if self._file is None else os.pread(self._file.fileno(), 64, 0)
            now_s = int(known.split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0
        last_s, self._last_s = self._last_s, now_s
        return now_s - last_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


class Pump:
    """Folds, and calls subscribers, on a daemon thread that sleeps on an event and ends itself when idle."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._subscribers: dict[Callable[[Tick], None], None] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stop = threading.Event()
        """These two are the thread's own: what is asked of one is nothing to the next."""
        self._thread: threading.Thread | None = None

    def subscribe(self, subscriber: Callable[[Tick], None]) -> Callable[[], None]:
        """Have `subscriber` called on every tick, on the pump's thread; return what ends that.

        An error in it is counted as a fault of ours and harms nobody.
        """
        self._subscribers[subscriber] = None
        return lambda: self.unsubscribe(subscriber)

    def unsubscribe(self, subscriber: Callable[[Tick], None]) -> None:
        """Call it no more, if it was called."""
        self._subscribers.pop(subscriber, None)

    def wake(self) -> None:
        """Make the thread beat within a tick, and start it if it is not there."""
        with self._lock:
            self._wake.set()
            # An interrupt may have come before it was started.
            if self._thread is None or not self._thread.is_alive():
                self._stop.set()
                self._wake, self._stop = threading.Event(), threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(self._wake, self._stop), name="taskscope-pump", daemon=True
                )
                self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it; what wakes the pump meanwhile starts another."""
        self.wait_for(self.tell_to_stop())

    def tell_to_stop(self) -> threading.Thread | None:
        """Have the thread end, and return it; what wakes the pump from now on starts another."""
        with self._lock:
            self._stop.set()
            self._wake.set()
            thread, self._thread = self._thread, None
            return thread

    def wait_for(self, thread: threading.Thread | None) -> None:
        """Wait until a thread that was asked to has ended."""
        if thread is not None and thread.ident not in {None, threading.get_ident()}:
            thread.join(_JOIN_S)

    def _run(self, wake: threading.Event, stop: threading.Event) -> None:
        with CoreWait() as core_wait:
            self._beat(wake, stop, core_wait)

    def _beat(self, wake: threading.Event, stop: threading.Event, core_wait: CoreWait) -> None:
        seen = -1
        changed_s = self._recorder.now_s()
        final_due = behind = False
        while not stop.is_set():
            wake.clear()
            if not behind:
                # A compute that is over within one tick costs a single beat, after it.
                self._wait_a_tick(stop, core_wait)
            behind = self._fold(stop)
            now_s = self._recorder.now_s()
            active = self._recorder.is_active()
            if active or self._recorder.version != seen:
                seen, changed_s, final_due = self._recorder.version, now_s, True
            final = final_due and now_s - changed_s >= _FINAL_AFTER_S
            self._notify(Tick(now_s, active, final))
            if final:
                final_due = False
            if not final_due:
                if now_s - changed_s >= _IDLE_EXIT_S and self._leave(wake, stop):
                    return
                wake.wait(_IDLE_EXIT_S)

    def _wait_a_tick(self, stop: threading.Event, core_wait: CoreWait) -> None:
        """Wait, and note how much longer that took: who runs Python meanwhile lets go of its lock late."""
        began_s = self._recorder.now_s()
        if not stop.wait(TICK_S):
            late_s = self._recorder.now_s() - began_s - TICK_S
            # Not that other programs had the cores. What it waited for them before this wait counts, too.
            self._recorder.note_lock_wait(began_s, late_s - core_wait.taken_s())

    def _leave(self, wake: threading.Event, stop: threading.Event) -> bool:
        with self._lock:
            if wake.is_set() or stop.is_set():
                return stop.is_set()
            self._thread = None
            return True

    def _fold(self, stop: threading.Event) -> bool:
        """Fold for at most a tick; return whether more waits."""
        deadline_s = self._recorder.now_s() + TICK_S
        try:
            while self._recorder.pull(_SLICE_S):
                # Workers have the interpreter for four fifths of the time.
                if stop.wait(_PAUSE_S) or self._recorder.now_s() >= deadline_s:
                    return True
        except Exception as error:  # noqa: BLE001 - the thread must survive a fault of ours
            self._recorder.fault("the pump", error)
        return False

    def _notify(self, tick: Tick) -> None:
        for subscriber in list(self._subscribers):
            try:
                subscriber(tick)
            except Exception as error:  # noqa: BLE001 - see _fold
                self._recorder.fault("a subscriber", error)
