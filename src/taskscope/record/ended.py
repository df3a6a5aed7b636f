"""The counts of runs that are over and have no rows any more: of one as bytes, of many added up."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, Self

from taskscope.model.tables.records import Group, Run, RunStatus
from taskscope.record.run import Counted, RunCounts
from taskscope.record.tables.groups import GroupSums
from taskscope.record.writers.graph import RunGraph

_WORST_FIRST: tuple[RunStatus, ...] = ("interrupted", "erred", "finished")


class UnpackedRun(NamedTuple):
    """An ended run without rows, for a moment."""

    run: Run
    counts: RunCounts
    graph: RunGraph
    log: None = None
    rows_held: int = 0


_FIELDS = tuple(field.name for field in fields(Run))
_PLAIN = {type(None), int, float, str}


class EndedRun(bytes):
    """An ended run without rows: its record and its counts, in one object instead of dozens."""

    __slots__ = ()

    log = None
    rows_held = 0

    @classmethod
    def of(cls, state: Counted) -> Self:
        run, counts = state.run, state.counts
        values = (getattr(run, name) for name in _FIELDS)
        record = [value if type(value) in _PLAIN else _plain(value) for value in values]
        ended = {group: (s.counts, s.duration_s, s.first_s) for group, s in counts.ended.items()}
        others = dict(counts.skipped), dict(counts.released), dict(counts.superseded)
        return cls(marshal.dumps((record, dict(state.graph.totals), ended, *others, counts.lanes)))

    @property
    def run(self) -> Run:
        return Run(*self._unpacked()[0])

    @property
    def counts(self) -> RunCounts:
        return self.unpacked().counts

    @property
    def graph(self) -> RunGraph:
        """Its graph, of which only the number of tasks is left."""
        return self.unpacked().graph

    def unpacked(self) -> UnpackedRun:
        """Return all of it; for more than its record this takes a fraction of the time."""
        counts = RunCounts()
        record, totals, ended, skipped, released, superseded, counts.lanes = self._unpacked()
        for group, sums in ended.items():
            counts.ended[group] = GroupSums(*sums)
        # Nearly no run has any, and updating four counters takes longer than all else.
        for counter, values in (
            (counts.skipped, skipped),
            (counts.released, released),
            (counts.superseded, superseded),
        ):
            if values:
                counter.update(values)
        run = Run(*record)
        return UnpackedRun(run, counts, RunGraph.dropped(run.run, Counter(totals)))

    def _unpacked(self) -> tuple[Any, ...]:
        values: tuple[Any, ...] = marshal.loads(self)  # noqa: S302 - made in this process
        return values


def _plain(value: object) -> object:
    """Return a value without the class that it has besides: a place's name has the code's file, too."""
    return str(value) if isinstance(value, str) else float(value) if isinstance(value, float) else value


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
