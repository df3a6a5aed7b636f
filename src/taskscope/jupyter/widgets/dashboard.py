"""All charts of the same computes, one below the other."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from taskscope.jupyter.widgets.base import RecorderWidget
from taskscope.jupyter.widgets.series import (
    HeldFollower,
    ResourceFollower,
    cache_values,
    resource_values,
    still_cache_values,
    still_resource_values,
)
from taskscope.jupyter.widgets.traits import CacheTraits, GanttTraits, ProgressTraits, ResourceTraits
from taskscope.jupyter.widgets.values import (
    gantt_values,
    progress_values,
    still_gantt_values,
    still_progress,
)
from taskscope.model.recording import RecordedData
from taskscope.session import Session

__all__ = ["Dashboard"]


class Dashboard(RecorderWidget, ProgressTraits, GanttTraits, ResourceTraits, CacheTraits):
    """Progress, Gantt chart, resources and cache on one time axis, with the traits of all four.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed.
    window
        Which computes to show; by default what runs now and all that comes.

    Notes
    -----
    ``Dashboard(compact=True)``, or the trait at any time, leaves out all but the bar and the charts.
    """

    compact = traitlets.Bool(
        False, help="Whether to leave out all but the bar and the charts; the browser follows."
    ).tag(sync=True)

    _model_name = traitlets.Unicode("DashboardModel").tag(sync=True)
    _view_name = traitlets.Unicode("DashboardView").tag(sync=True)

    _followers: tuple[ResourceFollower, HeldFollower] | None = None

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        recorder = session.recorder
        if self._followers is None:
            self._followers = ResourceFollower(recorder, self.window), HeldFollower(recorder, self.window)
        resources, held = self._followers
        progress, limits = self._progress(session, now_s), recorder.limits
        return {
            **gantt_values(recorder, self.window, progress),
            **resource_values(resources.refresh(), limits.n_cores, limits.memory_bytes),
            **cache_values(held.refresh(), recorder.groups, self.window.runs(recorder), session.metric_name),
            **progress_values(progress),
        }

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return {
            **still_gantt_values(recording),
            **still_resource_values(recording),
            **still_cache_values(recording),
            **progress_values(still_progress(recording)),
        }
