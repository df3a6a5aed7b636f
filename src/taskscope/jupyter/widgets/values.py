"""The synchronised traits, in groups that widgets are put together from, and their values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import traitlets

from taskscope.analysis.memory import HeldTotals, cache_metrics, cache_rows, is_lower_bound
from taskscope.analysis.progress import Estimates, Progress, headline, live_states, measure_progress
from taskscope.analysis.totals import ResourceTotals, measure_resources, prefix_progress, total_samples
from taskscope.model.keys import plain_text
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.tables.records import PrefixProgress, Run
from taskscope.model.tables.workers import Scheduled
from taskscope.record import Recorder
from taskscope.record.tables.log import Reader

_MAX_GROUPS = 200


def live_progress(
    recorder: Recorder, window: RunRange, estimates: Estimates, now_s: float, *, of_now: bool
) -> Progress:
    """Return how far the computes of a window are: all, or the running ones, else the last one."""
    runs = window.runs(recorder)
    if of_now:
        runs = headline(runs)
    numbers = {run.run for run in runs}
    rows = [row for row in window.progress(recorder) if row.run in numbers]
    states = live_states(recorder, runs, now_s)
    return measure_progress(rows, runs, now_s, estimates.of(runs, now_s), states)


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
        "live_state": progress.live_state,
        "erred": progress.erred,
        "skipped": progress.skipped,
        "released": progress.released,
        **_scheduled_values(progress.scheduled),
        "fraction": _finite(progress.fraction) or 0.0,
        "elapsed_s": _finite(progress.elapsed_s) or 0.0,
        "eta_s": None if left is None else _finite(left.stop_s),
        "eta_low_s": None if left is None else _finite(left.earliest_s),
        "eta_high_s": None if left is None else _finite(left.latest_s),
        "eta_unseen": 0 if left is None else left.n_unseen,
        "groups": [
            {
                "prefix": plain_text(row.prefix),
                "total": row.total,
                "finished": row.finished,
                "running": row.running,
                "erred": row.erred,
                **({"skipped": row.skipped} if row.skipped else {}),
                **({"released": row.released} if row.released else {}),
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


def gantt_values(recorder: Recorder, window: RunRange) -> Mapping[str, object]:
    """Return the traits of `GanttWidget` that the kernel sets."""
    own = {run.run for run in window.runs(recorder)}
    rows = [row for row in window.progress(recorder) if row.run in own]
    ended = sum(row.ended for row in rows)
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
class RunRange:
    """A range of computes of a recorder, both ends included."""

    first_run: int = 0
    last_run: int | None = None

    def of_now(self, recorder: Recorder) -> RunRange:
        """Return the running part of it, else the compute that ended last, else the next one."""
        runs = [run.run for run in headline(self.runs(recorder))]
        return RunRange(min(runs, default=recorder.next_run))

    def __contains__(self, run: int) -> bool:
        return self.first_run <= run and (self.last_run is None or run <= self.last_run)

    def runs(self, recorder: Recorder) -> list[Run]:
        """Return the computes in the window."""
        return recorder.runs(self.first_run, self.last_run)

    def progress(self, recorder: Recorder) -> list[PrefixProgress]:
        """Return how far each prefix of each compute in the window is."""
        return recorder.progress(self.first_run, self.last_run)


_MAX_ROWS = 20_000


def live_resources(recorder: Recorder, window: RunRange) -> ResourceTotals:
    """Return the totals of the samples of a window of computes."""
    runs = window.runs(recorder)
    if not runs:
        return ResourceTotals()
    samples = recorder.samples_since(min(run.start_s for run in runs))
    if window.last_run is not None:
        # The last sample of a compute is taken right after its end.
        later = recorder.runs(window.last_run + 1)
        samples = samples.part(samples.time < min((run.start_s for run in later), default=math.inf))
    return total_samples(samples, runs)


class CacheFollower:
    """Adds up cache usage in a window of computes."""

    def __init__(self, recorder: Recorder, window: RunRange, cursor: int = 0) -> None:
        self._recorder = recorder
        self.window = window
        self.rows = Reader(recorder.held, _MAX_ROWS, cursor)
        self.n_runs = 0
        """How many computes there were when it read last."""
        self.totals = HeldTotals(window.first_run, window.last_run)

    def refresh(self) -> HeldTotals:
        """Return the totals of all rows."""
        self.n_runs = self._recorder.next_run
        while self.rows.has_more:
            self.totals.add(self.rows.next()[1])
        return self.totals


def following(known: CacheFollower | None, recorder: Recorder, shown: RunRange) -> CacheFollower:
    """Return a follower of the computes that are shown: the known one, where it follows these."""
    if known is not None and known.window.first_run == shown.first_run:
        return known
    is_later = known is not None and shown.first_run >= known.n_runs
    return CacheFollower(recorder, shown, known.rows.cursor if known is not None and is_later else 0)


def resource_values(
    totals: ResourceTotals, n_cores: int | None, limit_bytes: int | None
) -> Mapping[str, object]:
    """Return the traits of `ResourceWidget`."""
    return {
        "cpu_percent": totals.cpu_percent,
        "cpu_mean_percent": totals.cpu_mean_percent,
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
        measure_resources(recording),
        n_cores if isinstance(n_cores, int) else None,
        limit if isinstance(limit, int) else None,
    )


def cache_values(totals: HeldTotals, runs: Iterable[Run], metric: str) -> Mapping[str, object]:
    """Return the traits of `CacheWidget` for these computes."""
    now, most, has_value = totals.now, totals.most, metric not in {"nbytes", "count"}
    return {
        "metric": plain_text(metric),
        "n_keys": now.n_keys,
        "nbytes": int(now.nbytes),
        "n_unsized": now.n_unsized,
        "value": now.value if has_value else None,
        "n_unvalued": now.n_unvalued if has_value else 0,
        "peak_n_keys": most.n_keys,
        "peak_nbytes": int(most.nbytes),
        "peak_value": most.value if has_value else None,
        "peak_at_least": is_lower_bound(runs),
    }


def still_cache_values(recording: RecordedData) -> Mapping[str, object]:
    """Return the same for a recording."""
    totals = HeldTotals()
    totals.add(cache_rows(recording))
    name = str(recording.metadata.get("metric", "nbytes"))
    metric = next(iter(cache_metrics(recording).values()), "count" if name == "count" else "nbytes")
    return cache_values(totals, recording.runs, metric)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _known(trait: type, help_text: str) -> traitlets.TraitType[object, object]:
    return trait(None, allow_none=True, help=f"{help_text}; None: unknown.").tag(sync=True)  # type: ignore[no-any-return]  # traitlets types its factories loosely


class ProgressTraits(traitlets.HasTraits):
    """How far the computes are; set by the kernel."""

    total = traitlets.Int(0, help="Tasks of all graphs, without the skipped ones.").tag(sync=True)
    finished = traitlets.Int(0, help="Tasks that gave a result.").tag(sync=True)
    running = traitlets.Int(0, help="Tasks in flight.").tag(sync=True)
    erred = traitlets.Int(0, help="Tasks that raised.").tag(sync=True)
    live_state = traitlets.Unicode(
        "", help="What keeps the computes from going on: `no workers yet, 3 s`; empty: nothing does."
    ).tag(sync=True)
    skipped = traitlets.Int(
        0, help="Tasks that do not have to run: their results, or those of all dependents, exist."
    ).tag(sync=True)
    released = traitlets.Int(
        0, help="Tasks of a cluster whose futures were deleted before the tasks had finished."
    ).tag(sync=True)
    queued = _known(traitlets.Int, "Tasks of a cluster that could run if a worker had a free thread")
    waiting = _known(traitlets.Int, "Tasks of a cluster that wait for other tasks")
    no_worker = _known(traitlets.Int, "Tasks of a cluster that no worker can run")
    asked = traitlets.Int(
        None, allow_none=True, help="Of how many tasks these three are, where not of all; None: of all."
    ).tag(sync=True)
    asked_s = _known(traitlets.Float, "When the scheduler sent that, seconds after the zero")
    fraction = traitlets.Float(0.0, help="Finished of total, 0 to 1.").tag(sync=True)
    elapsed_s = traitlets.Float(0.0, help="Seconds during which computes ran.").tag(sync=True)
    eta_s = traitlets.Float(
        None, allow_none=True, help="An estimate of the seconds left; None: unknown."
    ).tag(sync=True)
    eta_low_s = traitlets.Float(
        None, allow_none=True, help="About four of five true ends lie between this and eta_high_s."
    ).tag(sync=True)
    eta_high_s = traitlets.Float(None, allow_none=True, help="See eta_low_s.").tag(sync=True)
    eta_unseen = traitlets.Int(
        0, help="Pending tasks of prefixes without an ended task: it may take longer than eta_high_s."
    ).tag(sync=True)
    state = traitlets.Enum(
        ["waiting", "running", "finished", "erred", "interrupted"],
        "waiting",
        help="One word for all computes.",
    ).tag(sync=True)
    groups = traitlets.List(
        traitlets.Dict(),
        help="Per prefix: prefix, total, finished, running, erred; on clusters the next seven, too.",
    ).tag(sync=True)


class GanttTraits(traitlets.HasTraits):
    """The chart's counts and view; the browser may change the last three."""

    n_tasks = traitlets.Int(0, help="Tasks that have ended.").tag(sync=True)
    n_lanes = traitlets.Int(0, help="Worker threads seen.").tag(sync=True)
    dropped = traitlets.Int(0, help="Tasks that are no longer kept.").tag(sync=True)
    follow = traitlets.Bool(True, help="Whether the chart moves with the present.").tag(sync=True)
    time_range = traitlets.List(
        traitlets.Float(),
        None,
        allow_none=True,
        minlen=2,
        maxlen=2,
        help="Shown: [start_s, stop_s]; None: all.",
    ).tag(sync=True)
    selected_key = traitlets.Unicode(None, allow_none=True, help="Key of the selected task.").tag(sync=True)


class ResourceTraits(traitlets.HasTraits):
    """CPU and memory of this process and its children; set by the kernel."""

    cpu_percent = _known(traitlets.Float, "CPU at the last sample, 100 per core")
    cpu_mean_percent = _known(traitlets.Float, "The mean over the time of all samples, 100 per core")
    cpu_peak_percent = _known(traitlets.Float, "The most until the computes ended, 100 per core")
    n_cores = _known(traitlets.Int, "Cores that may be used")
    rss_bytes = _known(traitlets.Int, "Resident memory at the last sample")
    rss_peak_bytes = _known(traitlets.Int, "The most until the computes ended")
    limit_bytes = _known(traitlets.Int, "Memory that may be used")
    n_processes = traitlets.Int(0, help="Processes at the last sample.").tag(sync=True)
    n_samples = traitlets.Int(0, help="Samples taken.").tag(sync=True)
    n_gaps = traitlets.Int(0, help="How often samples were missing.").tag(sync=True)


class CacheTraits(traitlets.HasTraits):
    """Cache usage of the scheduler; set by the kernel."""

    metric = traitlets.Unicode("nbytes", help="nbytes, count, or the name of the user's metric.").tag(
        sync=True
    )
    n_keys = traitlets.Int(0, help="Keys in memory now.").tag(sync=True)
    nbytes = traitlets.Int(0, help="Bytes of those whose size is known.").tag(sync=True)
    n_unsized = traitlets.Int(0, help="Keys of unknown size.").tag(sync=True)
    value = _known(traitlets.Float, "The sum in memory, in the user's metric")
    n_unvalued = traitlets.Int(0, help="Keys the user's metric gave nothing for.").tag(sync=True)
    peak_n_keys = traitlets.Int(0, help="The most keys in memory at once.").tag(sync=True)
    peak_nbytes = traitlets.Int(0, help="The most bytes in memory at once.").tag(sync=True)
    peak_value = _known(traitlets.Float, "The most in memory at once, in the user's metric")
    peak_at_least = traitlets.Bool(
        False, help="Whether computes ran at the same time; then the peaks are lower bounds."
    ).tag(sync=True)


_GROUPS = (ProgressTraits, GanttTraits, ResourceTraits, CacheTraits)
LIVE_TRAITS = frozenset({"data", "sampled_s"}) | frozenset(
    name
    for group in _GROUPS
    for name in group.class_own_traits()
    if name not in {"follow", "time_range", "selected_key"}
)
"""Traits that the kernel sets while computes run; the first two are of the flame graph."""
