"""Runs that are over: small ones packed, and the oldest added up."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from taskscope.model.tables.records import Group, Run, RunStatus
from taskscope.record.run import Counted, RunCounts, RunState
from taskscope.record.tables import packing
from taskscope.record.writers.graph import RunGraph

_WORST_FIRST: tuple[RunStatus, ...] = ("interrupted", "erred", "finished")


@dataclass(slots=True, eq=False)
class EndedRun:
    """A run that is over."""

    run: Run
    counts: RunCounts
    graph: RunGraph
    rows_held: int
    log: None = None


class PackedRun:
    """One of `PackedRuns`; only its record is not packed."""

    __slots__ = ("_packed", "_place", "run")

    log = None

    def __init__(self, packed: PackedRuns, place: int) -> None:
        self.run = packed.runs[place]
        self._packed, self._place = packed, place

    @property
    def counts(self) -> RunCounts:
        return self._unpacked()[0]

    @property
    def graph(self) -> RunGraph:
        return self._unpacked()[1]

    @property
    def rows_held(self) -> int:
        return self._unpacked()[2]

    def _unpacked(self) -> _Rest:
        return self._packed.rest()[self._place]


_Rest: TypeAlias = tuple[RunCounts, RunGraph, int]
"""What there is of a run besides its record: counts, graph and the number of rows that are held."""


class PackedRuns:
    """Small runs that are over: each takes a fourteenth of what it takes as objects.

    Their records are kept as they are, as the runs of a block are listed ten times a second. Of the rest the
    last that was read stays unpacked among all that share `opened`.
    """

    def __init__(
        self, runs: Sequence[RunState | EndedRun], versions: Sequence[int], opened: list[PackedRuns]
    ) -> None:
        self.runs = [state.run for state in runs]
        self.versions = array("q", versions)
        rest: list[_Rest] = [(state.counts, state.graph, state.rows_held) for state in runs]
        self._bytes = packing.pack(rest)
        self._rest: list[_Rest] | None = None
        self._opened = opened

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[PackedRun]:
        return (PackedRun(self, place) for place in range(len(self.runs)))

    def get(self, run: int) -> PackedRun | None:
        """Return the run of a number; None where it is elsewhere."""
        if not self.runs[0].run <= run <= self.runs[-1].run:
            return None
        place = bisect_left(self.runs, run, key=lambda record: record.run)
        return PackedRun(self, place) if self.runs[place].run == run else None

    def rest(self) -> list[_Rest]:
        if self._rest is None:
            for other in self._opened:
                other._rest = None
            self._opened[:] = [self]
            self._rest = packing.unpack(self._bytes)
        return self._rest

    def unpacked(self) -> list[EndedRun]:
        """Return the runs as they were before."""
        return [EndedRun(run, *rest) for run, rest in zip(self.runs, self.rest(), strict=True)]


class AddedRuns:
    """Ended runs that are added up: one record, and one group for each prefix."""

    log = None
    rows_held = 0

    def __init__(self, first: Run) -> None:
        self.run = replace(first, n_runs=0, last_run=first.run, computing_s=0.0)
        self.counts = RunCounts()
        self.graph = RunGraph.dropped(first.run, Counter())
        self._group_of: dict[str, int] = {}
        """The group that stands for all groups of a prefix."""

    def add(self, state: Counted, groups: Sequence[Group]) -> None:
        """Add an ended run, or runs that are added up."""
        self.run = _joined(self.run, state.run)
        mine, theirs = self.counts, state.counts

        def group_of(group: int) -> int:
            return self._group_of.setdefault(groups[group].prefix, group)

        for group, sums in theirs.ended.items():
            mine.ended[group_of(group)].add(sums)
        for ours, others in (
            (mine.skipped, theirs.skipped),
            (mine.released, theirs.released),
            (self.graph.totals, state.graph.totals),
        ):
            for group, n in others.items():
                ours[group_of(group)] += n
        for (group, status), n in theirs.superseded.items():
            mine.superseded[group_of(group), status] += n
        mine.lanes |= theirs.lanes


_COMMON = ("label", "cell", "scheduler", "n_workers", "execution_count", "source_crc", "called_from")
"""The columns that computes which are added up have in common, or none."""


def _joined(run: Run, other: Run) -> Run:
    """Return the record of two that are added up; of times of single computes only the sum is known."""
    common = {name: getattr(run, name) for name in _COMMON if getattr(run, name) == getattr(other, name)}
    stop_s = other.start_s if other.stop_s is None else other.stop_s
    took_s = stop_s - other.start_s if other.computing_s is None else other.computing_s
    return Run(
        **{**dict.fromkeys(_COMMON), **common},
        run=run.run,
        n_tasks=(run.n_tasks if run.n_runs else 0) + other.n_tasks,
        start_s=min(run.start_s, other.start_s),
        stop_s=max(run.stop_s or stop_s, stop_s),
        status=next(status for status in _WORST_FIRST if status in {run.status, other.status}),
        error=None,
        n_runs=run.n_runs + other.n_runs,
        last_run=other.run if other.last_run is None else other.last_run,
        computing_s=(run.computing_s or 0.0) + took_s,
    )
