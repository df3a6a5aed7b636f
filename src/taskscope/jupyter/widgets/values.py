"""The values of traits: plain JSON, with every text encodable and every unknown number None."""

from __future__ import annotations

import math
from collections.abc import Mapping

from taskscope.analysis.progress import Progress, headline, measure_progress
from taskscope.analysis.time_left import Estimates
from taskscope.analysis.totals import prefix_progress
from taskscope.jupyter.widgets.window import Window
from taskscope.model.recording import RecordedData, count_tasks
from taskscope.model.tables.workers import Scheduled
from taskscope.record import Recorder
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
