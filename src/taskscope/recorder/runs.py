"""The runs a recorder remembers, by number, and when each of them changed last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping

from taskscope.model.records import Run
from taskscope.recorder.runstate import RunState

__all__ = ["RunTable"]


class RunTable(Mapping[int, RunState]):
    """Runs in order of their numbers; those that changed last can be asked for by version."""

    def __init__(self) -> None:
        self._states: OrderedDict[int, RunState] = OrderedDict()
        self._versions: OrderedDict[int, int] = OrderedDict()
        self.version = 0
        """A number that grows whenever a run starts, ends or changes."""

    def __getitem__(self, run: int) -> RunState:
        """Return a run by its number."""
        return self._states[run]

    def __iter__(self) -> Iterator[int]:
        """Return the numbers, oldest first."""
        return iter(self._states)

    def __len__(self) -> int:
        """Return how many runs are remembered."""
        return len(self._states)

    @property
    def next_run(self) -> int:
        """The number of the next run, at the earliest."""
        return max(self._states, default=-1) + 1

    def add(self, state: RunState) -> None:
        """Remember a run that has just begun."""
        self._states[state.run.run] = state
        self.touch(state.run.run)

    def update(self, state: RunState) -> None:
        """Describe a run anew, and remember if it changed."""
        current = state.describe()
        if current != state.run:
            state.run = current
            self.touch(current.run)

    def touch(self, run: int) -> None:
        """Count a run as changed."""
        self.version += 1
        self._versions[run] = self.version
        self._versions.move_to_end(run)

    def since(self, version: int) -> list[Run]:
        """Return the runs that are new or changed since `version`, the one that changed last at the end."""
        changed = []
        for run, at in reversed(self._versions.items()):
            if at <= version:
                break
            changed.append(self._states[run].run)
        return changed[::-1]

    def window(self, first_run: int, last_run: int | None) -> list[RunState]:
        """Return the runs from `first_run` to `last_run`, both included; None means up to now."""
        return [
            state
            for run, state in self._states.items()
            if first_run <= run and (last_run is None or run <= last_run)
        ]

    def oldest(self) -> RunState:
        """Return the oldest run."""
        return next(iter(self._states.values()))

    def forget(self, run: int) -> None:
        """Forget a run of which no rows are held."""
        del self._states[run], self._versions[run]

    def dropped(self, rows: Mapping[int, int]) -> None:
        """Note how many rows of which run are no longer held; of runs without any, graphs are not either."""
        for run, count in rows.items():
            state = self._states[run]
            state.rows_held -= count
            if not state.rows_held:
                state.graph.let_go()

    def clear(self) -> None:
        """Note that no rows are held any more, and forget all runs that are over."""
        for state in self._states.values():
            state.rows_held = 0
        for run in [run for run, state in self._states.items() if state.log is None]:
            self.forget(run)
