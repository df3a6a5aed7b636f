"""Which results of runs are in memory, by the states of their tasks.

A result that several workers have counts once, and one that was spilled to disk counts as in memory.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

from taskscope.model.keys import split_key
from taskscope.record import Holding, Recorder
from taskscope.sources.cluster.runs import TrackedRun


class Holdings:
    """Counts results that enter and leave memory, by run and group."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._moved: list[tuple[TrackedRun, Hashable, bool]] = []
        self._sizes: dict[TrackedRun, dict[Hashable, float]] = {}
        """The bytes of the results in memory, NaN where unknown."""
        self._counts: dict[TrackedRun, dict[str, Holding]] = {}

    @property
    def are_left(self) -> bool:
        return bool(self._sizes)

    def move(self, run: TrackedRun, key: Hashable, *, is_in: bool) -> None:
        """Register that a result entered or left memory."""
        self._moved.append((run, key, is_in))

    def record(self) -> None:
        """Record the groups that have changed since the last call."""
        moved, self._moved = self._moved, []
        before: dict[TrackedRun, dict[str, Holding]] = {}
        for run, key, is_in in moved:
            sizes = self._sizes.setdefault(run, {})
            if is_in == (key in sizes):
                continue
            if is_in:
                sizes[key] = run.nbytes(key)
            size = sizes[key] if is_in else sizes.pop(key)
            name, groups = split_key(key)[0], self._counts.setdefault(run, {})
            known = groups.get(name, Holding(key, 0, 0.0, 0))
            before.setdefault(run, {}).setdefault(name, known)
            groups[name] = _changed(known, size, 1 if is_in else -1)
        self._note(
            {
                run: [self._counts[run][name] for name in names if self._counts[run][name] != names[name]]
                for run, names in before.items()
            }
        )
        for run in {run for run, _, _ in moved}:
            if not self._sizes[run]:
                # A run that is over must not be kept as long as the connection.
                del self._sizes[run]
                self._counts.pop(run, None)

    def clear(self) -> None:
        """Record that nothing is in memory: the last client has left, or the scheduler is gone."""
        self._moved = [(run, key, False) for run, sizes in self._sizes.items() for key in sizes]
        self.record()

    def _note(self, changed: Mapping[TrackedRun, list[Holding]]) -> None:
        time_s = self._recorder.now_s()
        for run, holdings in changed.items():
            if holdings:
                self._recorder.note_holdings(run.log.run, time_s, holdings)


def _changed(known: Holding, size: float, n: int) -> Holding:
    n_keys, is_sized = known.n_keys + n, math.isfinite(size)
    if not n_keys:
        return Holding(known.key, 0, 0.0, 0)
    nbytes = known.nbytes + n * size if is_sized else known.nbytes
    return Holding(known.key, n_keys, nbytes, known.n_unsized + n * (not is_sized))
