"""Which run a key belongs to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from taskscope.sources.cluster.past import PastKeys
from taskscope.sources.cluster.runs import TrackedRun, announce

__all__ = ["Ownership"]


class Ownership:
    """The keys of the runs that go on; a key that several runs need belongs to the one that asked first."""

    def __init__(self) -> None:
        self._owners: dict[Hashable, TrackedRun] = {}
        self._runs: dict[TrackedRun, None] = {}
        self.past = PastKeys()
        """The keys of the runs that have ended."""

    def take(self, run: TrackedRun, keys: Iterable[Hashable]) -> None:
        """Note the keys of a run."""
        # Tasks of it that ended by now may have been taken for those of a run whose keys are not known.
        run.lacks_records |= any(other.assumed for other in self._runs if other is not run)
        self._runs[run] = None
        for key in keys:
            self._owners.setdefault(key, run)

    def owner(self, key: Hashable) -> TrackedRun | None:
        """Return the run that is known to have a key, None if there is none."""
        return self._owners.get(key)

    def of(self, key: Hashable) -> TrackedRun | None:
        """Return the run of a key, if need be the one whose keys are not known; None if it is not ours."""
        run = self._owners.get(key)
        if run is None:
            run = next((r for r in self._runs if r.assumed), None)
            if run is not None:
                self._owners[key] = run
                announce(run, {key: ()}, ())
        return run

    def owners(self, keys: Iterable[Hashable]) -> list[TrackedRun | None]:
        """Return the run of each key, None for those that are not ours."""
        keys = list(keys)
        owners = list(map(self._owners.get, keys))
        run = next((r for r in self._runs if r.assumed), None)
        if run is None or None not in owners:
            return owners
        new = dict.fromkeys((k for k, owner in zip(keys, owners, strict=True) if owner is None), ())
        self._owners.update(dict.fromkeys(new, run))
        announce(run, new, ())
        return [owner or run for owner in owners]

    def forget(self, run: TrackedRun) -> None:
        """Let go of a run that has ended; what others asked for too becomes theirs."""
        self._runs.pop(run, None)
        self.past.add(run.keys)
        for key in run.keys:
            if self._owners.get(key) is run:
                del self._owners[key]
                heir = next((r for r in self._runs if key in r.keys), None)
                if heir is not None:
                    self._owners[key] = heir
