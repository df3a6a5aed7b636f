"""The runs that a recorder remembers: the newest as objects, older ones packed, the oldest added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from taskscope.model.tables.records import Group, Run
from taskscope.record.ended import AddedRuns, EndedRun, PackedRun, PackedRuns
from taskscope.record.run import RunState
from taskscope.record.tables import packing

OneRun: TypeAlias = RunState | EndedRun | PackedRun
AnyRun: TypeAlias = OneRun | AddedRuns

_SMALL = 50
"""Most keys of a run that is packed: larger ones are few, and take long."""


class RunTable(Mapping[int, OneRun]):
    """Runs in order of their numbers, readable by version: changed runs last.

    Runs that are added up are in windows and among changed runs, not in the mapping.
    """

    def __init__(self) -> None:
        self._states: dict[int, RunState | EndedRun] = {}
        """Those that are not packed."""
        self._packed: list[PackedRuns] = []
        self._opened: list[PackedRuns] = []
        self._n_ended = 0
        """How many runs have ended since the recorder began."""
        self._added: dict[int, AddedRuns] = {}
        """The oldest runs added up, by the number of the first."""
        self._begins: Counter[int] = Counter()
        """The numbers at which windows begin that are open: runs before and after are not added up in one."""
        self._versions: dict[int, int] = {}
        """The version in which a run changed last; of a packed one only if it has changed since."""
        self.version = 0
        """A number that grows whenever a run starts, ends or changes."""
        self.next_run = 0
        """The number of the next run, at the earliest."""

    def __getitem__(self, run: int) -> OneRun:
        state = self._states.get(run)
        if state is not None:
            return state
        for packed in self._packed:
            found = packed.get(run)
            if found is not None:
                return found
        raise KeyError(run)

    def __iter__(self) -> Iterator[int]:
        """Return the numbers, oldest first."""
        packed = (record.run for packed in self._packed for record in packed.runs)
        return iter(sorted([*packed, *self._states]))

    def __len__(self) -> int:
        return len(self._states) + sum(map(len, self._packed))

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
        state = self.get(run)
        if state is not None and state.log is None:
            self.touch(run)

    def since(self, version: int) -> list[Run]:
        """Return the runs that are new or changed since `version`, the one that changed last at the end."""
        changed = []
        for packed in self._packed:
            for record, at in zip(packed.runs, packed.versions, strict=True):
                if at > version and record.run not in self._versions:
                    changed.append((at, record))
        for run, at in reversed(self._versions.items()):
            if at <= version:
                break
            changed.append((at, (self._added.get(run) or self[run]).run))
        return [record for _, record in sorted(changed, key=lambda change: change[0])]

    def window(self, first_run: int, last_run: int | None) -> list[AnyRun]:
        """Return the runs from `first_run` to `last_run`, both included; None means up to now."""

        def is_in(run: int) -> bool:
            return first_run <= run and (last_run is None or run <= last_run)

        added = [a for a in self._added.values() if first_run <= a.run.run and is_in(a.run.last_run or 0)]
        packed = [
            run
            for packed in self._packed
            if packed.runs[-1].run >= first_run and (last_run is None or packed.runs[0].run <= last_run)
            for run in packed
            if is_in(run.run.run)
        ]
        states = [state for run, state in self._states.items() if is_in(run)]
        if packed:
            return [*added, *sorted([*packed, *states], key=lambda state: state.run.run)]
        return [*added, *states]

    def oldest(self) -> RunState | EndedRun:
        """Return the oldest run, which is not packed any more."""
        first = min(self._packed, key=lambda packed: packed.runs[0].run, default=None)
        if first is not None and first.runs[0].run < next(iter(self._states), first.runs[-1].run):
            self._unpack(first)
        return next(iter(self._states.values()))

    def open_window(self, first_run: int) -> None:
        """Keep runs from this one on apart from earlier ones where runs are added up, until it is closed."""
        self._begins[first_run] += 1

    def close_window(self, first_run: int) -> None:
        self._begins = +(self._begins - Counter([first_run]))

    def add_up_oldest(self, groups: Sequence[Group]) -> int:
        """Keep only sums of the oldest run, which is over; return its number."""
        state = self.oldest()
        run = state.run.run
        del self._states[run], self._versions[run]
        self._join(state, groups)
        while len(self._added) > 1 and (last := next(reversed(self._added))) not in self._begins:
            self._join(self._added.pop(last), groups)
            del self._versions[last]
        self.touch(next(reversed(self._added)))
        return run

    def _join(self, state: RunState | EndedRun | AddedRuns, groups: Sequence[Group]) -> None:
        """Add to the newest sums; a window that begins with the run begins new ones."""
        run = state.run.run
        if not self._added or run in self._begins:
            self._added[run] = AddedRuns(state.run)
        self._added[next(reversed(self._added))].add(state, groups)

    def dropped(self, rows: Mapping[int, int]) -> None:
        """Count dropped rows by run."""
        for run, count in rows.items():
            if run not in self._states:
                self._unpack(next(packed for packed in self._packed if packed.get(run) is not None))
            state = self._states[run]
            state.rows_held -= count
            self._let_go(state)

    def _let_go(self, state: RunState | EndedRun) -> None:
        """Drop the graph of a run that has no rows left."""
        if not state.rows_held and state.counts.n_ended:
            state.graph.let_go()

    def ended(self, state: RunState) -> None:
        """Drop what is no longer needed of a run that is over, and pack the oldest after each hundred."""
        self._let_go(state)
        self._n_ended += 1
        if self._n_ended % packing.N_PACKED == 0:
            old = [s for s in list(self._states.values())[: -packing.N_OPEN] if s.log is None]
            small = [s for s in old if s.graph.reached[0] <= _SMALL]
            for first in range(0, len(small) - packing.N_PACKED + 1, packing.N_PACKED):
                self._pack(small[first : first + packing.N_PACKED])

    def _pack(self, runs: Sequence[RunState | EndedRun]) -> None:
        numbers = [state.run.run for state in runs]
        versions = [self._versions.pop(run) for run in numbers]
        self._packed.append(PackedRuns(runs, versions, self._opened))
        for run in numbers:
            del self._states[run]

    def _unpack(self, packed: PackedRuns) -> None:
        self._packed.remove(packed)
        states = {state.run.run: state for state in packed.unpacked()}
        self._states = dict(sorted({**self._states, **states}.items()))
        earlier = dict(zip(states, packed.versions, strict=True))
        self._versions = dict(sorted({**earlier, **self._versions}.items(), key=lambda version: version[1]))

    def clear(self) -> None:
        """Record that all rows were dropped, and forget all runs that are over."""
        for state in self._states.values():
            state.rows_held = 0
        going: dict[int, RunState | EndedRun] = {
            run: state for run, state in self._states.items() if state.log is not None
        }
        self._versions = {run: at for run, at in self._versions.items() if run in going}
        self._states = going
        for parts in (self._packed, self._opened, self._added):
            parts.clear()
