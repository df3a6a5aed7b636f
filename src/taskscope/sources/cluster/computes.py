"""The computes of this process's clients, as the threads see them that hand them over and wait for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from taskscope.model.records import CLUSTER
from taskscope.record import Recorder
from taskscope.sources.cell import current_cell
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Call, Submission
from taskscope.sources.cluster.runs import LetGo, TrackedRun
from taskscope.sources.local.source import run_label

__all__ = ["Computes"]


class Computes:
    """Begins runs, and knows when one is over for its user.

    Parameters
    ----------
    recorder
        Where they are recorded.
    on_stop
        Called when a run has ended, with what stands for it.
    """

    def __init__(self, recorder: Recorder, on_stop: Callable[[object], None]) -> None:
        self._recorder = recorder
        self._on_stop = on_stop
        self._lock = threading.Lock()
        """Held while it is decided whether a run has been answered."""
        self._joinable: dict[tuple[Hashable, ...], TrackedRun] = {}
        self._calls: dict[int, list[TrackedRun]] = {}
        self.n_returned = 0
        """How many calls that waited have come back."""
        self._n_handed_over = 0
        """How many calls are handing work to a scheduler."""
        self._going: set[TrackedRun] = set()
        self._released: dict[Any, LetGo] = {}
        """What clients know of futures that were let go, and what of their tasks until then."""

    def handing_over(self) -> None:
        """Know that a client is about to hand work to its scheduler."""
        with self._lock:
            self._n_handed_over += 1

    def handed_over(self) -> None:
        """Know that by such a call nothing is on its way any more."""
        with self._lock:
            # Whoever began to watch in between did not hear that it was.
            self._n_handed_over = max(self._n_handed_over - 1, 0)

    def part(self) -> None:
        """Have nothing join the runs that there are."""
        with self._lock:
            self._joinable.clear()

    def are_coming(self) -> bool:
        """Return whether a client may be about to hand something over."""
        return self._n_handed_over > 0

    def take(
        self, submission: Submission, n_threads: int | None, wake: Callable[[], None]
    ) -> tuple[TrackedRun, bool]:
        """Return the run that a submission is part of, and whether it begins it.

        Parameters
        ----------
        submission
            What was handed over.
        n_threads
            How many tasks the workers run at a time, None where that is not known.
        wake
            Has the scheduler of a new run looked at soon.
        """
        label, cell = run_label.get(), current_cell()
        place = (id(submission.client), label, cell)
        states = adapter.future_states(submission.client, submission.keys)
        with self._lock:
            run = self._joinable.get(place) if submission.single and submission.call is None else None
            if run is not None:
                run.look(self._recorder.clock.perf_counter(), self._released)
            is_new = run is None or run.answered is not None or run.over is not None
            if run is None or is_new:
                log = self._recorder.begin()
                log.label, log.scheduler, log.is_held_elsewhere = label, CLUSTER, True
                log.cell, log.execution_count, log.source_crc = cell
                log.n_workers = n_threads
                run = TrackedRun(log, submission.client, submission.call, submission.single, wake)
                run.handed_over = submission.began
                if submission.single:
                    self._joinable[place] = run
                if submission.call is not None:
                    self._calls.setdefault(id(submission.call), []).append(run)
            self._going.add(run)
            run.ask(states)
        return run, is_new

    def run_of(self, call: Call) -> int | None:
        """Return the number of the run that a call of ``Client.get`` waits for, None before it began."""
        with self._lock:
            runs = self._calls.get(id(call))
            return runs[0].log.run if runs else None

    def released(self, key: Hashable, state: Any) -> None:
        """Know that a future was let go; takes no lock, on the client's event loop."""
        # There may be very many that nobody waits for.
        if any(run.waits_for(key) for run in tuple(self._going)):
            self._released[state] = LetGo(state.status, state.exception if state.status == "error" else None)

    def returned(self, call: Call, error: BaseException | None) -> None:
        """Know that the runs of a call are over, for it has come back."""
        now = self._recorder.clock.perf_counter()
        with self._lock:
            runs = self._calls.pop(id(call), [])
            self.n_returned += bool(runs)
            for run in runs:
                run.returned(now, error)
        for run in runs:
            run.wake()

    def look(self, runs: Sequence[TrackedRun]) -> None:
        """See whose futures nobody waits for any more."""
        now = self._recorder.clock.perf_counter()
        with self._lock:
            for run in runs:
                run.look(now, self._released)

    def ended(self, run: TrackedRun) -> None:
        """Let go of a run that has ended, and tell so."""
        with self._lock:
            self._joinable = {place: r for place, r in self._joinable.items() if r is not run}
            self._going.discard(run)
            if not self._going:
                self._released.clear()
        self._on_stop(run.log)

    def clear(self) -> None:
        """Let go of all runs."""
        with self._lock:
            self._joinable.clear()
            self._calls.clear()
            self._going.clear()
            self._released.clear()
            self._n_handed_over = 0

    def renew_lock(self) -> None:
        """Start over in a child process, where nobody holds the lock."""
        self._lock = threading.Lock()
