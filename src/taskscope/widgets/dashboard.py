"""Progress above, the chart of tasks below."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from taskscope.model.recording import Recording
from taskscope.session import Session
from taskscope.widgets.base import RecorderWidget
from taskscope.widgets.traits import GanttTraits, ProgressTraits
from taskscope.widgets.values import (
    gantt_values,
    progress_values,
    still_gantt_values,
    still_progress,
)

__all__ = ["Dashboard"]


class Dashboard(RecorderWidget, ProgressTraits, GanttTraits):
    """Progress and Gantt chart in one, with the traits of both.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed.
    window
        Which computes to show; by default what runs now and all that comes.
    """

    _model_name = traitlets.Unicode("DashboardModel").tag(sync=True)
    _view_name = traitlets.Unicode("DashboardView").tag(sync=True)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        progress = self._progress(session, now_s)
        return {**progress_values(progress), **gantt_values(session.recorder, progress)}

    def _still(self, recording: Recording) -> Mapping[str, object]:
        return {**progress_values(still_progress(recording)), **still_gantt_values(recording)}
