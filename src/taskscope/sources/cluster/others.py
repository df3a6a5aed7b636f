"""The tasks of other clients of a scheduler: runs of their own, and only while somebody wants to see them.

What is nobody's here is somebody else's, once it is certain that nothing of ours is on its way to the
scheduler. Of those tasks it is known what workers did, and nothing of what is ahead: no graph, and no total.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from taskscope.model.records import OTHERS
from taskscope.record import Recorder
from taskscope.sources.cluster.past import PastKeys
from taskscope.sources.cluster.runs import TrackedRun, announce
from taskscope.sources.cluster.workers import Workers

__all__ = ["Others"]

_MAX_KEYS = 100_000
"""How many tasks a run has at most; then another one follows, so that the keys of the first can be let go."""


class Others:
    """Begins and ends their runs; for one thread.

    Parameters
    ----------
    recorder
        Where they are recorded.
    workers
        Those of the scheduler.
    past
        The keys of runs of ours that are over.
    told
        Told when a run begins or ends.
    """

    def __init__(
        self, recorder: Recorder, workers: Workers, past: PastKeys, told: Callable[[], None]
    ) -> None:
        self._recorder = recorder
        self._workers = workers
        self._past = past
        self._told = told
        self._run: TrackedRun | None = None
        self.since: float | None = None
        """From when on they are recorded, on the clock's axis; None while nobody wants them."""

    def follow(self, since: float | None) -> None:
        """Record them from a moment on, which is now; None: no more.

        Where a block in a block wants them, too, the tasks of its time are a run that is part of both.
        """
        if since != self.since:
            self._end()
            self.since = since

    def take(self, keys: Sequence[Hashable]) -> list[TrackedRun | None]:
        """Return the run of each key of which it is certain that no run of ours that goes on has it.

        None where nobody wants them, or it is a task of an earlier run of ours that runs again.
        """
        if self.since is None:
            return [None] * len(keys)
        are_ours = self._past.have(keys)
        theirs = {key: () for key, is_ours in zip(keys, are_ours, strict=True) if not is_ours}
        if not theirs:
            return [None] * len(keys)
        run = self._current(self.since)
        announce(run, theirs, ())
        return [None if is_ours else run for is_ours in are_ours]

    def give_up(self, keys: Mapping[Hashable, object]) -> None:
        """Let go of tasks that a worker has and that turn out to be ours, too: they are ours then."""
        if self._run is not None:
            log = self._run.log
            for key in log.submitted.keys() & keys.keys():
                del log.submitted[key]
                log.sent_to.pop(key, None)

    def _current(self, since: float) -> TrackedRun:
        if self._run is not None and len(self._run.keys) >= _MAX_KEYS:
            self._end()
        if self._run is None:
            log = self._recorder.begin()
            log.scheduler, log.is_held_elsewhere, log.start = OTHERS, True, since
            log.n_workers = self._workers.n_threads or None
            self._run = TrackedRun(log, None, None, collects=True, wake=lambda: None, assumed=True)
            self._told()
        return self._run

    def _end(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        # What of theirs goes on was not interrupted: it is only seen no further.
        run.log.submitted.clear()
        run.log.sent_to.clear()
        run.log.status = "finished"
        run.log.stop = max(self._recorder.clock.perf_counter(), run.log.start)
        self._told()
