"""Follow resources and cache usage in the recorder, as traits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from taskscope.analysis.cache_usage import (
    BYTES,
    KEYS,
    VALUE,
    HeldSums,
    HeldTotals,
    cache_metrics,
    cache_rows,
    is_lower_bound,
)
from taskscope.analysis.totals import ResourceTotals, add_samples
from taskscope.jupyter.widgets.window import Window
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Group, Run
from taskscope.record import Recorder
from taskscope.record.tables.log import Reader
from taskscope.wire import wire_text

_MAX_ROWS = 20_000
_MAX_SAMPLES = 500_000
_MAX_GROUPS = 20

_F = TypeVar("_F", "ResourceFollower", "CacheFollower")


class ResourceFollower:
    """Adds up the samples of a window of computes."""

    def __init__(self, recorder: Recorder, window: Window, cursor: int = 0) -> None:
        self._recorder = recorder
        self.window = window
        self.rows = Reader(recorder.resources, _MAX_SAMPLES, cursor)
        self.n_runs = 0
        """How many computes there were when it read last."""
        self.totals = ResourceTotals()

    def refresh(self) -> ResourceTotals:
        """Return the totals of all samples."""
        self.n_runs = self._recorder.next_run
        runs = self.window.runs(self._recorder)
        if runs:
            _, samples = self.rows.next()
            inside = samples.time >= min(run.start_s for run in runs)
            if self.window.last_run is not None:
                # The last sample of a compute is taken right after its end, and none between computes.
                later = self._recorder.runs(self.window.last_run + 1)
                inside &= samples.time < min((run.start_s for run in later), default=math.inf)
            self.totals = add_samples(self.totals, samples.part(inside))
        return self.totals


class CacheFollower:
    """Adds up cache usage in a window of computes; see `ResourceFollower`."""

    def __init__(self, recorder: Recorder, window: Window, cursor: int = 0) -> None:
        self._recorder = recorder
        self.window = window
        self.rows = Reader(recorder.held, _MAX_ROWS, cursor)
        self.n_runs = 0
        self.totals = HeldTotals(window.first_run, window.last_run)

    def refresh(self) -> HeldTotals:
        """Return the totals of all rows."""
        self.n_runs = self._recorder.next_run
        while self.rows.has_more:
            self.totals.add(self.rows.next()[1])
        return self.totals


def following(known: _F | None, make: Callable[..., _F], recorder: Recorder, shown: Window) -> _F:
    """Return a follower of the computes that are shown: the known one, where it follows these."""
    if known is not None and known.window.first_run == shown.first_run:
        return known
    is_later = known is not None and shown.first_run >= known.n_runs
    cursor = known.rows.cursor if known is not None and is_later else 0
    return make(recorder, shown, cursor)


def resource_values(
    totals: ResourceTotals, n_cores: int | None, limit_bytes: int | None
) -> Mapping[str, object]:
    """Return the traits of `ResourceWidget`."""
    return {
        "cpu_percent": totals.cpu_percent,
        "cpu_peak_percent": totals.cpu_peak_percent,
        "n_cores": n_cores,
        "rss_bytes": _whole(totals.rss_bytes),
        "rss_peak_bytes": _whole(totals.rss_peak_bytes),
        "limit_bytes": limit_bytes,
        "n_processes": totals.n_processes,
        "n_samples": totals.n_samples,
        "n_gaps": totals.n_gaps,
    }


def still_resource_values(recording: RecordedData) -> Mapping[str, object]:
    """Return the same for a recording."""
    n_cores, limit = (recording.metadata.get(name) for name in ("n_cores", "memory_limit_bytes"))
    return resource_values(
        add_samples(ResourceTotals(), recording.resources),
        n_cores if isinstance(n_cores, int) else None,
        limit if isinstance(limit, int) else None,
    )


def cache_values(
    totals: HeldTotals, groups: Sequence[Group], runs: Iterable[Run], metric: str, zero_s: float = 0.0
) -> Mapping[str, object]:
    """Return the traits of `CacheWidget` for these computes; at most 20 groups, largest first."""
    measure = {"nbytes": BYTES, "count": KEYS}.get(metric, VALUE)
    peaks = {name: peak.sums for name, peak in totals.peaks.items()}
    peak = totals.peaks.get(measure)
    made_of = [] if peak is None else sorted(peak.groups.items(), key=lambda g: -g[1].amount(measure))
    return {
        "metric": wire_text(metric),
        **_sums("", totals.now, valued=measure == VALUE),
        "peak_n_keys": peaks.get(KEYS, HeldSums()).n_keys,
        "peak_nbytes": int(peaks.get(BYTES, HeldSums()).nbytes),
        "peak_value": peaks.get(VALUE, HeldSums()).value if measure == VALUE else None,
        "peak_at_least": is_lower_bound(runs),
        "peak_s": None if peak is None else peak.time_s - zero_s,
        "peak_groups": [
            {
                "group": wire_text(groups[group].name),
                "prefix": wire_text(groups[group].prefix),
                **_sums("", sums, valued=measure == VALUE),
            }
            for group, sums in made_of[:_MAX_GROUPS]
        ],
    }


def still_cache_values(recording: RecordedData) -> Mapping[str, object]:
    """Return the same for a recording."""
    totals = HeldTotals()
    totals.add(cache_rows(recording))
    name = str(recording.metadata.get("metric", "nbytes"))
    metric = next(iter(cache_metrics(recording).values()), "count" if name == "count" else "nbytes")
    return cache_values(totals, recording.groups, recording.runs, metric, recording.zero_s)


def _sums(prefix: str, sums: HeldSums, *, valued: bool) -> dict[str, object]:
    return {
        f"{prefix}n_keys": sums.n_keys,
        f"{prefix}nbytes": int(sums.nbytes),
        f"{prefix}n_unsized": sums.n_unsized,
        f"{prefix}value": sums.value if valued else None,
        f"{prefix}n_unvalued": sums.n_unvalued if valued else 0,
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
