"""The runs that a recorder remembers: with rows, without, and beyond a bound added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from taskscope.model.tables.records import Group, Run
from taskscope.record.ended import AddedRuns, EndedRun, UnpackedRun
from taskscope.record.run import RunState

AnyRun: TypeAlias = RunState | EndedRun | AddedRuns


class RunTable(Mapping[int, RunState | EndedRun]):
    """Runs in order of their numbers, readable by version: changed runs last.

    Runs that are added up are in windows and among changed runs, not in the mapping.
    """

    def __init__(self) -> None:
        self._states: dict[int, RunState | EndedRun] = {}
        self._added: dict[int, AddedRuns] = {}
        """The oldest runs added up, by the number of the first."""
        self._begins: Counter[int] = Counter()
        """The numbers at which windows begin that are open: runs before and after are not added up in one."""
        self._versions: dict[int, int] = {}
        self.version = 0
        """A number that grows whenever a run starts, ends or changes."""
        self.next_run = 0
        """The number of the next run, at the earliest."""

    def __getitem__(self, run: int) -> RunState | EndedRun:
        return self._states[run]

    def __iter__(self) -> Iterator[int]:
        """Return the numbers, oldest first."""
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def add(self, state: RunState) -> None:
        self._states[state.run.run] = state
        self.next_run = max(self.next_run, state.run.run + 1)
        self.touch(state.run.run)

    def update(self, state: RunState) -> None:
        """Update the record of a run, and mark it as changed if it differs."""
        current = state.describe()
        if current != state.run:
            state.run = current
            self.touch(current.run)

    def touch(self, run: int) -> None:
        self.version += 1
        self._versions.pop(run, None)
        self._versions[run] = self.version

    def touch_over(self, run: int) -> None:
        """Count a run as changed if it is over: no other event makes readers send its new rows."""
        state = self._states.get(run)
        if state is not None and state.log is None:
            self.touch(run)

    def since(self, version: int) -> list[Run]:
        """Return the runs that are new or changed since `version`, the one that changed last at the end."""
        changed = []
        for run, at in reversed(self._versions.items()):
            if at <= version:
                break
            changed.append((self._added.get(run) or self._states[run]).run)
        return changed[::-1]

    def unpacked(self, first_run: int, last_run: int | None) -> Iterator[RunState | UnpackedRun | AddedRuns]:
        """Yield the runs from `first_run` to `last_run`, for readers of more than their records."""
        for state in self.window(first_run, last_run):
            yield state.unpacked() if isinstance(state, EndedRun) else state

    def window(self, first_run: int, last_run: int | None) -> list[AnyRun]:
        """Return the runs from `first_run` to `last_run`, both included; None means up to now."""

        def is_in(run: int) -> bool:
            return first_run <= run and (last_run is None or run <= last_run)

        added = [a for a in self._added.values() if first_run <= a.run.run and is_in(a.run.last_run or 0)]
        return [*added, *(state for run, state in self._states.items() if is_in(run))]

    def oldest(self) -> RunState | EndedRun:
        return next(iter(self._states.values()))

    def open_window(self, first_run: int) -> None:
        """Keep runs from this one on apart from earlier ones where runs are added up, until it is closed."""
        self._begins[first_run] += 1

    def close_window(self, first_run: int) -> None:
        self._begins = +(self._begins - Counter([first_run]))

    def add_up_oldest(self, groups: Sequence[Group]) -> int:
        """Keep only sums of the oldest run, which is over; return its number."""
        run = next(iter(self._states))
        state = self._states.pop(run)
        del self._versions[run]
        self._join(state.unpacked() if isinstance(state, EndedRun) else state, groups)
        while len(self._added) > 1 and (last := next(reversed(self._added))) not in self._begins:
            self._join(self._added.pop(last), groups)
            del self._versions[last]
        self.touch(next(reversed(self._added)))
        return run

    def _join(self, state: RunState | UnpackedRun | AddedRuns, groups: Sequence[Group]) -> None:
        """Add to the newest sums; a window that begins with the run begins new ones."""
        run = state.run.run
        if not self._added or run in self._begins:
            self._added[run] = AddedRuns(state.run)
        self._added[next(reversed(self._added))].add(state, groups)

    def dropped(self, rows: Mapping[int, int]) -> None:
        """Count dropped rows by run."""
        for run, count in rows.items():
            state = self._states[run]
            assert isinstance(state, RunState)
            state.rows_held -= count
            self.pack(state)

    def pack(self, state: RunState) -> None:
        """Drop the graph of a run that has no rows left; of one that is over keep its counts as bytes."""
        if state.rows_held or not state.counts.n_ended:
            return
        state.graph.let_go()
        if state.log is None:
            self._states[state.run.run] = EndedRun.of(state)

    def clear(self) -> None:
        """Record that all rows were dropped, and forget all runs that are over."""
        for state in self._states.values():
            if isinstance(state, RunState):
                state.rows_held = 0
        for run in [run for run, state in self._states.items() if state.log is None]:
            del self._states[run], self._versions[run]
        for run in self._added:
            del self._versions[run]
        self._added.clear()
