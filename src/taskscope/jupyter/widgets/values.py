"""Values of traits, of a window of computes or a recording: plain JSON, None for unknown numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from taskscope.analysis.progress import Estimates, Progress, headline, measure_progress
from taskscope.analysis.totals import ResourceTotals, add_samples, prefix_progress
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.tables.records import Group, PrefixProgress, Run
from taskscope.model.tables.workers import Scheduled
from taskscope.record import Recorder
from taskscope.record.tables.log import Reader
from taskscope.wire import wire_text

_MAX_GROUPS = 200


def live_progress(
    recorder: Recorder, window: Window, estimates: Estimates, now_s: float, *, of_now: bool
) -> Progress:
    """Return how far the computes of a window are: all, or the running ones, else the last one."""
    runs = window.runs(recorder)
    if of_now:
        runs = headline(runs)
    numbers = {run.run for run in runs}
    rows = [row for row in window.progress(recorder) if row.run in numbers]
    return measure_progress(rows, runs, now_s, estimates.of(runs, now_s))


def still_progress(recording: RecordedData) -> Progress:
    """Return how far the computes of a recording were."""
    return measure_progress(prefix_progress(recording), recording.runs, recording.now_s)


def progress_values(progress: Progress) -> Mapping[str, object]:
    """Return the traits of `ProgressWidget`; at most 200 groups, by first appearance."""
    left = progress.left
    return {
        "total": progress.total,
        "finished": progress.finished,
        "running": progress.running,
        "starting": progress.starting,
        "erred": progress.erred,
        "skipped": progress.skipped,
        **_scheduled_values(progress.scheduled),
        "fraction": _finite(progress.fraction) or 0.0,
        "elapsed_s": _finite(progress.elapsed_s) or 0.0,
        "eta_s": None if left is None else _finite(left.guess_s),
        "eta_low_s": None if left is None else _finite(left.low_s),
        "eta_high_s": None if left is None else _finite(left.high_s),
        "eta_unseen": 0 if left is None else left.n_unseen,
        "groups": [
            {
                "prefix": wire_text(row.prefix),
                "total": row.total,
                "finished": row.finished,
                "running": row.running,
                "erred": row.erred,
                **({"skipped": row.skipped} if row.skipped else {}),
                **({} if row.scheduled is None else _scheduled_values(row.scheduled)),
            }
            for row in progress.prefixes[:_MAX_GROUPS]
        ],
        # Last, so that an observer of the end finds all other traits up to date.
        "state": progress.state,
    }


def _scheduled_values(said: Scheduled | None) -> Mapping[str, object]:
    if said is None:
        return dict.fromkeys(("queued", "waiting", "no_worker", "asked", "asked_s"))
    counts = {"queued": said.queued, "waiting": said.waiting, "no_worker": said.no_worker}
    return {**counts, "asked": None if said.is_all else said.asked, "asked_s": _finite(said.time_s)}


def gantt_values(recorder: Recorder, window: Window) -> Mapping[str, object]:
    """Return the traits of `GanttWidget` that the kernel sets."""
    own = {run.run for run in window.runs(recorder)}
    rows = [row for row in window.progress(recorder) if row.run in own]
    ended = sum(row.finished + row.erred + row.interrupted for row in rows)
    dropped = recorder.dropped_of(window.first_run, window.last_run)
    lanes = recorder.lanes_of(window.first_run, window.last_run)
    going = {task.lane for task in recorder.running() if task.run in window and task.lane is not None}
    return {"n_tasks": ended, "n_lanes": len(lanes | going), "dropped": dropped}


def still_gantt_values(recording: RecordedData) -> Mapping[str, object]:
    """Return the same for a recording."""
    lanes = {int(lane) for block in recording.blocks for lane in set(block.lane.tolist())}
    return {"n_tasks": count_tasks(recording), "n_lanes": len(lanes), "dropped": recording.dropped}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Window:
    """A range of computes of a recorder, both ends included."""

    first_run: int = 0
    last_run: int | None = None

    def of_now(self, recorder: Recorder) -> Window:
        """Return the running part of it, else the compute that ended last, else the next one."""
        runs = [run.run for run in headline(self.runs(recorder))]
        return Window(min(runs, default=recorder.next_run))

    def __contains__(self, run: int) -> bool:
        return self.first_run <= run and (self.last_run is None or run <= self.last_run)

    def runs(self, recorder: Recorder) -> list[Run]:
        """Return the computes in the window."""
        return recorder.runs(self.first_run, self.last_run)

    def progress(self, recorder: Recorder) -> list[PrefixProgress]:
        """Return how far each prefix of each compute in the window is."""
        return recorder.progress(self.first_run, self.last_run)


_MAX_ROWS = 20_000
_MAX_SAMPLES = 500_000
_MAX_PEAK_GROUPS = 20

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
            for group, sums in made_of[:_MAX_PEAK_GROUPS]
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
