"""Cache usage over time: the rows of a recording, and their sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.recording import RecordedData, key_sizes
from taskscope.model.tables.cache_usage import CacheEvents, CacheRows, CacheSeries, TimeBins
from taskscope.model.tables.columns import GraphColumns
from taskscope.model.tables.records import Run


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Results in the scheduler's cache, one element each.

    `prefix` is a place in `prefixes`; times are seconds after the recorder's zero; `value` is NaN where
    unknown.
    """

    prefixes: tuple[str, ...]
    prefix: NDArray[np.int64]
    enter_s: NDArray[np.float64]
    leave_s: NDArray[np.float64]
    value: NDArray[np.float64]


def cache_rows(recording: RecordedData, bins: TimeBins | None = None) -> CacheRows:
    """Return cache usage of each group over time: the maximum, the minimum and the last value of each bin."""
    parts = [
        _run_rows(recording, run, recording.graphs[run.run], bins)
        for run in recording.runs
        if run.run in recording.graphs and not run.is_on_cluster
    ]
    return CacheRows.concat([*parts, recording.holdings])


def cache_metrics(recording: RecordedData) -> dict[int, str]:
    """Return the name of the user's cache metric, by run; runs without one are left out."""
    name = str(recording.metadata.get("metric", "metric"))
    return {run: name for run, graph in recording.graphs.items() if graph.values is not None}


def _run_rows(recording: RecordedData, run: Run, graph: GraphColumns, bins: TimeBins | None) -> CacheRows:
    stop = recording.now_s if run.stop_s is None else run.stop_s
    has_value = graph.values is not None
    series = CacheSeries(run.run, run.start_s, has_value=has_value, bins=bins)
    events = _events(recording, run.run, graph, stop)
    rows = series.add(events, stop)
    return CacheRows.concat([rows, series.flush() if run.stop_s is None else series.close(stop)])


def _events(recording: RecordedData, run: int, graph: GraphColumns, stop: float) -> CacheEvents:
    enter, leave = graph.enter_times(), graph.exit_times(stop)
    came = np.flatnonzero(~np.isnan(enter))
    # Results that stay to the end leave with `close`; of a compute that goes on, it stays.
    went = np.flatnonzero(leave < stop)
    keys = np.concatenate([came, went])
    times = np.concatenate([enter[came], leave[went]])
    sizes, values = key_sizes(recording, run, graph), graph.values
    order = np.argsort(times, kind="stable")
    keys, times = keys[order], times[order]
    return CacheEvents(
        step=np.unique(times, return_inverse=True)[1].astype(np.int64),
        time=times,
        group=graph.group[keys].astype(np.int64),
        sign=np.repeat([1, -1], [len(came), len(went)])[order],
        size=sizes[keys],
        value=np.full(len(keys), np.nan) if values is None else values[keys].astype(np.float64),
    )


KEYS, BYTES, VALUE = "n_keys", "nbytes", "value"
_MEASURES = (KEYS, BYTES, VALUE)


class HeldSums(NamedTuple):
    """Cache usage at one moment; `n_unsized` and `n_unvalued` keys are not in `nbytes` and `value`."""

    n_keys: int = 0
    nbytes: float = 0.0
    n_unsized: int = 0
    value: float = 0.0
    n_unvalued: int = 0

    def plus(self, other: HeldSums, sign: int = 1) -> HeldSums:
        """Return the sum, or with `sign` -1 the difference."""
        sums = HeldSums._make(one + sign * more for one, more in zip(self, other, strict=True))
        # Rounding keeps sums of floats from returning to 0.
        return sums if sums.n_keys else sums._replace(nbytes=0.0, value=0.0)

    def amount(self, measure: str) -> float:
        """Return one of ``n_keys nbytes value``."""
        return float(getattr(self, measure))


@dataclass(frozen=True, slots=True)
class HeldPeak:
    """The moment of the peak, in seconds after the recorder's zero, and the usage of each group, by id."""

    time_s: float
    groups: dict[int, HeldSums]

    @property
    def sums(self) -> HeldSums:
        """The sums of all groups."""
        total = HeldSums()
        for sums in self.groups.values():
            total = total.plus(sums)
        return total


def is_lower_bound(runs: Iterable[Run]) -> bool:
    """Return whether the cache may have had more than the peak of these computes.

    It may where computes overlap, or ran on a cluster, whose workers are sampled.
    """
    runs = list(runs)
    if any(run.is_on_cluster for run in runs):
        return True
    reached_s = -math.inf
    for run in sorted(runs, key=lambda run: run.start_s):
        if run.start_s < reached_s:
            return True
        reached_s = math.inf if run.stop_s is None else max(reached_s, run.stop_s)
    return False


_State: TypeAlias = dict[tuple[int, int], HeldSums]


class HeldTotals:
    """Sums of rows, and their peaks.

    Notes
    -----
    The peak is exact for computes one after the other. Of computes at the same time it is the most at the
    moments that the rows name.
    """

    def __init__(self, first_run: int = 0, last_run: int | None = None) -> None:
        self._runs = first_run, float("inf") if last_run is None else last_run
        self._state: _State = {}
        self.now = HeldSums()
        self.peaks: dict[str, HeldPeak] = {}
        """The peak in each of ``n_keys nbytes value``; none before anything was held."""
        self._most = dict.fromkeys(_MEASURES, 0.0)

    def add(self, rows: CacheRows) -> None:
        """Add further rows to the sums."""
        first, last = self._runs
        rows = rows.part(np.flatnonzero((rows.run >= first) & (rows.run <= last)))
        order = np.argsort(rows.time, kind="stable")
        changes = _changes(rows.part(order))
        before = dict(self._state)
        best: dict[str, int] = {}
        for place, (time, key, sums) in enumerate(changes):
            self.now = self.now.plus(self._state.get(key, HeldSums()), -1).plus(sums)
            self._state[key] = sums
            if place + 1 == len(changes) or changes[place + 1][0] != time:
                for measure in _MEASURES:
                    if self.now.amount(measure) > self._most[measure]:
                        self._most[measure] = self.now.amount(measure)
                        best[measure] = place
        for measure, place in best.items():
            self.peaks[measure] = _peak(before, changes[: place + 1])
        self._state = {key: sums for key, sums in self._state.items() if sums.n_keys}


_Change: TypeAlias = tuple[float, tuple[int, int], HeldSums]


def _changes(rows: CacheRows) -> list[_Change]:
    sums = (rows.n_keys, rows.nbytes, rows.n_unsized, rows.value, rows.n_unvalued)
    values = zip(*(column.tolist() for column in sums), strict=True)
    keys = zip(rows.run.tolist(), rows.group.tolist(), strict=True)
    return [(t, key, HeldSums(*of)) for t, key, of in zip(rows.time.tolist(), keys, values, strict=True)]


def _peak(before: _State, changes: list[_Change]) -> HeldPeak:
    state = before | {key: sums for _, key, sums in changes}
    groups: dict[int, HeldSums] = {}
    for (_, group), sums in state.items():
        if sums.n_keys:
            groups[group] = groups.get(group, HeldSums()).plus(sums)
    return HeldPeak(changes[-1][0], groups)
