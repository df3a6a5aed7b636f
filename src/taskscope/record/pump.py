"""The thread that folds new rows and calls its subscribers, ten times a second."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

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


class Pump:
    """Folds, and calls subscribers, on a daemon thread that sleeps on an event and ends itself when idle."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._subscribers: dict[Callable[[Tick], None], bool] = {}
        """Whether each subscriber reads recorded rows."""
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stop = threading.Event()
        """These two are the thread's own: they are not shared with the next thread."""
        self._thread: threading.Thread | None = None

    def subscribe(self, subscriber: Callable[[Tick], None], *, reads: bool = True) -> Callable[[], None]:
        """Call `subscriber` on every tick, on the pump's thread, until the returned function is called.

        While none of them reads, rows of running computes are folded once they are many.
        """
        self._subscribers[subscriber] = reads
        return lambda: self.unsubscribe(subscriber)

    def unsubscribe(self, subscriber: Callable[[Tick], None]) -> None:
        """Call it no more, if it was called."""
        self._subscribers.pop(subscriber, None)

    def wake(self) -> None:
        """Make the thread beat within a tick, and start it if it is not there."""
        with self._lock:
            self._wake.set()
            # It may not have been started, after an interrupt.
            if self._thread is None or not self._thread.is_alive():
                self._stop.set()
                self._wake, self._stop = threading.Event(), threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(self._wake, self._stop), name="taskscope-pump", daemon=True
                )
                self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it; `wake` during that starts another."""
        self.wait_for(self.tell_to_stop())

    def tell_to_stop(self) -> threading.Thread | None:
        """Stop the thread, and return it; a later `wake` starts another."""
        with self._lock:
            self._stop.set()
            self._wake.set()
            thread, self._thread = self._thread, None
            return thread

    def wait_for(self, thread: threading.Thread | None) -> None:
        """Wait for the end of a stopped thread."""
        if thread is not None and thread.ident not in {None, threading.get_ident()}:
            thread.join(_JOIN_S)

    def _run(self, wake: threading.Event, stop: threading.Event) -> None:
        seen = -1
        changed_s = self._recorder.now_s()
        final_due = behind = False
        while not stop.is_set():
            wake.clear()
            # A compute that is over within one tick costs a single beat, after it; a block, none.
            if not behind and stop.wait(TICK_S):
                return
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

    def _leave(self, wake: threading.Event, stop: threading.Event) -> bool:
        with self._lock:
            if wake.is_set() or stop.is_set():
                return stop.is_set()
            self._thread = None
            return True

    def _fold(self, stop: threading.Event) -> bool:
        """Fold for at most a tick; return whether more waits."""
        deadline_s = self._recorder.now_s() + TICK_S
        has_readers = any(list(self._subscribers.values()))
        with self._recorder.guard("the pump"):
            while self._recorder.pull(_SLICE_S, at_once=has_readers):
                # Workers have the interpreter for four fifths of the time.
                if stop.wait(_PAUSE_S) or self._recorder.now_s() >= deadline_s:
                    return True
        return False

    def _notify(self, tick: Tick) -> None:
        for subscriber in list(self._subscribers):
            with self._recorder.guard("a subscriber"):
                subscriber(tick)
