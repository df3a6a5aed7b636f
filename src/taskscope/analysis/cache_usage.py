"""Cache usage over time: the rows of a recording, and their sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

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
        step=np.cumsum(np.diff(times, prepend=times[:1]) != 0),
        time=times,
        group=graph.group[keys].astype(np.int64),
        sign=np.repeat([1, -1], [len(came), len(went)])[order],
        size=sizes[keys],
        value=np.full(len(keys), np.nan) if values is None else values[keys].astype(np.float64),
    )


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


def is_lower_bound(runs: Iterable[Run]) -> bool:
    """Return whether the cache may have had more than the peak of these computes.

    It may where computes overlap, or ran on a cluster, whose workers are sampled.
    """
    ordered = sorted(runs, key=lambda run: run.start_s)
    stops_s = [math.inf if run.stop_s is None else run.stop_s for run in ordered]
    return any(run.is_on_cluster for run in ordered) or any(
        later.start_s < max(stops_s[: i + 1]) for i, later in enumerate(ordered[1:])
    )


class HeldTotals:
    """Sums of rows, `now` and at their peaks.

    Each sum has a peak of its own in `most`. It is exact for computes one after the other; of computes at the
    same time it is the most at the moments that the rows name.
    """

    def __init__(self, first_run: int = 0, last_run: int | None = None) -> None:
        self._runs = first_run, math.inf if last_run is None else last_run
        self._state: dict[tuple[int, int], HeldSums] = {}
        self.now = self.most = HeldSums()

    def add(self, rows: CacheRows) -> None:
        """Add further rows to the sums."""
        first, last = self._runs
        rows = rows.part(np.flatnonzero((rows.run >= first) & (rows.run <= last)))
        rows = rows.part(np.argsort(rows.time, kind="stable"))
        is_last = np.diff(rows.time, append=np.inf) > 0
        columns = (
            rows.run,
            rows.group,
            rows.n_keys,
            rows.nbytes,
            rows.n_unsized,
            rows.value,
            rows.n_unvalued,
        )
        for is_over, run, group, *sums in zip(is_last.tolist(), *(c.tolist() for c in columns), strict=True):
            held = HeldSums._make(sums)
            self.now = self.now.plus(self._state.pop((run, group), HeldSums()), -1).plus(held)
            if held.n_keys:
                self._state[run, group] = held
            if is_over:
                self.most = HeldSums._make(map(max, self.most, self.now))
