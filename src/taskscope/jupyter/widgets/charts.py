"""The widgets: one for each chart, and all of them below each other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import traitlets

from taskscope.analysis.calls import flame_message, profile
from taskscope.analysis.code_lines import function_source
from taskscope.jupyter.widgets.base import RecorderWidget
from taskscope.jupyter.widgets.values import (
    CacheFollower,
    CacheTraits,
    GanttTraits,
    ProgressTraits,
    ResourceTraits,
    cache_values,
    following,
    gantt_values,
    live_resources,
    progress_values,
    resource_values,
    still_cache_values,
    still_gantt_values,
    still_progress,
    still_resource_values,
)
from taskscope.model.recording import RecordedData
from taskscope.model.tables.stacks import StackColumns
from taskscope.options import Options
from taskscope.session import Session

_FLAME_PAUSE_S = 1.0
_FLAME_MAX_SHARE = 0.02


class ProgressWidget(RecorderWidget, ProgressTraits):
    """A progress bar for the Dask compute that runs, else for the last one, in total and per prefix.

    It lists the computes before that, and shows the one that a person selects.

    {parameters}

    Notes
    -----
    ``eta_s`` is an estimate with a band from ``eta_low_s`` to ``eta_high_s``, in which about four of five
    true ends lie; all are None before there is evidence. ``eta_unseen`` counts the pending tasks of prefixes
    without an ended task, whose durations are unknown. `taskscope.analysis.progress.estimate_stop` has the
    rule. Traits change at most twice a second while a compute runs; beside a page, the traits of all widgets
    share three messages a second. After its end they have the final values.
    """

    _model_name = traitlets.Unicode("ProgressModel").tag(sync=True)
    _view_name = traitlets.Unicode("ProgressView").tag(sync=True)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        return progress_values(self._progress(session, now_s))

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return progress_values(still_progress(recording))


class GanttWidget(RecorderWidget, GanttTraits):
    """A chart of the tasks of this kernel: a lane per worker thread, a colour per prefix.

    {parameters}

    Notes
    -----
    The tasks themselves are no traits: the browser holds them once for all views of a kernel.

    `selected_key` is one selection for all charts of a recorder. Set it to select a task, also while a cell
    runs; observe it to follow a person's selection. While a compute runs, a kernel with subshells (ipykernel
    7) gets that in the widget's next turn, on the thread that sets all traits; else it does at the end of
    the cell, as with any widget. The same goes for `follow` and `time_range`.
    """

    _model_name = traitlets.Unicode("GanttModel").tag(sync=True)
    _view_name = traitlets.Unicode("GanttView").tag(sync=True)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        return gantt_values(session.recorder, self._shown(session))

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return still_gantt_values(recording)


class ResourceWidget(RecorderWidget, ResourceTraits):
    """CPU and memory of this process and its children while computes run: now, at their peak, and over time.

    {parameters}

    Notes
    -----
    The chart shows CPU in percent of the available cores (within the limits of affinity and control groups),
    the traits in percent of one core, as the table ``resources`` does. CPU is the mean since the sample
    before, so it is right however late a sample is; a memory peak between two samples is not seen. Memory
    that processes share is counted in each.
    """

    _model_name = traitlets.Unicode("ResourceModel").tag(sync=True)
    _view_name = traitlets.Unicode("ResourceView").tag(sync=True)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        totals, limits = live_resources(session.recorder, self._shown(session)), session.recorder.limits
        return resource_values(totals, limits.n_cores, limits.memory_bytes)

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return still_resource_values(recording)


class CacheWidget(RecorderWidget, CacheTraits):
    """The results that the scheduler holds while computes run: how much of each group, and the most it was.

    {parameters}

    Notes
    -----
    A result is held from when it lands until the last task that needs it has landed; requested results until
    the end of their compute. Bytes are estimates of each result by itself, as everywhere in Dask; results
    that share memory count twice. Keys of unknown size are counted in ``n_unsized``.
    """

    _model_name = traitlets.Unicode("CacheModel").tag(sync=True)
    _view_name = traitlets.Unicode("CacheView").tag(sync=True)

    _follower: CacheFollower | None = None

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        shown = self._shown(session)
        self._follower = following(self._follower, session.recorder, shown)
        runs = shown.runs(session.recorder)
        return cache_values(self._follower.refresh(), runs, session.metric_name)

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return still_cache_values(recording)


class FlameWidget(RecorderWidget):
    """A flame graph: which functions the tasks' time goes to, and which called them.

    Every bar is a call, as long as the time it took; below it are the calls made from it. Prefixes of tasks
    are the first row. A click on a bar zooms into it and opens the function's source, each line with its
    time; the timeline below chooses a time, and functions can be searched for. Times are estimates from
    samples.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed, and samples
        are taken as long as it does.
    window
        Which computes to show; by default all.

    Notes
    -----
    The 4,000 longest calls are drawn; others count for the one that made them. `taskscope.Recording.profile`
    has all.
    """

    _model_name = traitlets.Unicode("FlameModel").tag(sync=True)
    _view_name = traitlets.Unicode("FlameView").tag(sync=True)

    n_samples = traitlets.Int(0, help="Samples taken.").tag(sync=True)
    sampled_s = traitlets.Float(0.0, help="The task time they stand for, an estimate.").tag(sync=True)
    note = traitlets.Unicode(None, allow_none=True, help="Why there is nothing, or less than was run.").tag(
        sync=True
    )
    data = traitlets.Dict(help="What is drawn, as columns.").tag(sync=True)
    function = traitlets.Tuple(
        traitlets.Unicode(),
        traitlets.Unicode(),
        traitlets.Int(),
        default_value=None,
        allow_none=True,
        help="The function whose source is shown: name, file and first line, as in ``data``; clicks set it.",
    ).tag(sync=True)
    source = traitlets.Dict(
        help="That function's source: rows of line, text and seconds in all tasks shown."
    ).tag(sync=True)

    _sent: tuple[int, float] = (-1, 0.0)
    _due_s: float = 0.0

    def _recorded_options(self) -> Options:
        return Options(stacks=True)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        if now_s < self._due_s and session.recorder.is_computing():
            return {}
        clock = session.recorder.clock
        began = clock.perf_counter()
        stacks = session.recorder.stacks.between(self.first_run, self.last_run).of_tasks
        values = _flame_values(stacks)
        sent = (int(stacks.rows.count.sum()), float(stacks.rows.seconds.sum()))
        # All of it is sent again, so that a page that joins late has it all.
        found = {**values, "source": self._source(stacks, self._began(session))} if sent != self._sent else {}
        self._sent = sent
        self._due_s = now_s + max(_FLAME_PAUSE_S, (clock.perf_counter() - began) / _FLAME_MAX_SHARE)
        return found

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return {**_flame_values(recording.stacks.of_tasks), "note": profile(recording).note}

    @traitlets.observe("function")
    def _open(self, _change: traitlets.Bunch) -> None:
        if self._recording is not None:
            self.source = self._source(self._recording.stacks.of_tasks, self._recording.started_at)
        elif self._session is not None:
            stacks = self._session.recorder.stacks.between(self.first_run, self.last_run).of_tasks
            self.source = self._source(stacks, self._began(self._session))

    def _began(self, session: Session) -> datetime:
        """Return when the last compute began: source edited since is not the source that ran."""
        runs = self.window.runs(session.recorder)
        return session.recorder.date(runs[-1].start_s if runs else 0.0)

    def _source(self, stacks: StackColumns, started_at: datetime) -> dict[str, object]:
        chosen: tuple[str, str, int] | None = self.function
        return {} if chosen is None else function_source(stacks, *chosen, started_at)


def _flame_values(stacks: StackColumns) -> Mapping[str, object]:
    return {
        "n_samples": int(stacks.rows.count.sum()),
        "sampled_s": float(stacks.rows.seconds.sum()),
        "data": flame_message(stacks),
    }


class Dashboard(RecorderWidget, ProgressTraits, GanttTraits, ResourceTraits, CacheTraits):
    """Progress, Gantt chart, resources and cache on one time axis, with the traits of all four.

    {parameters}

    Notes
    -----
    It begins with the bar, the tasks and one line of CPU and memory, at most 380 pixels high; "More charts"
    shows the rest, and so does ``Dashboard(more_charts=True)``. ``Dashboard(compact=True)`` leaves out
    all but the bar and the charts. Both can be set at any time.
    """

    more_charts = traitlets.Bool(
        False, help="Whether to show CPU, memory and results over time, too; the browser follows and sets it."
    ).tag(sync=True)

    compact = traitlets.Bool(
        False, help="Whether to leave out all but the bar and the charts; the browser follows."
    ).tag(sync=True)

    _model_name = traitlets.Unicode("DashboardModel").tag(sync=True)
    _view_name = traitlets.Unicode("DashboardView").tag(sync=True)

    _cache: CacheFollower | None = None

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        recorder = session.recorder
        progress, limits, shown = self._progress(session, now_s), recorder.limits, self._shown(session)
        self._cache = held = following(self._cache, recorder, shown)
        return {
            **gantt_values(recorder, shown),
            **resource_values(live_resources(recorder, shown), limits.n_cores, limits.memory_bytes),
            **cache_values(held.refresh(), shown.runs(recorder), session.metric_name),
            **progress_values(progress),
        }

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return {
            **still_gantt_values(recording),
            **still_resource_values(recording),
            **still_cache_values(recording),
            **progress_values(still_progress(recording)),
        }
