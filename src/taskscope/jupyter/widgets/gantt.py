"""What each worker thread did when."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from taskscope.jupyter.widgets.base import RecorderWidget
from taskscope.jupyter.widgets.traits import GanttTraits
from taskscope.jupyter.widgets.values import gantt_values, still_gantt_values
from taskscope.model.recording import RecordedData
from taskscope.session import Session

__all__ = ["GanttWidget"]


class GanttWidget(RecorderWidget, GanttTraits):
    """A chart of the tasks of this kernel: a lane per worker thread, a colour per prefix.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed.
    window
        Which computes to show; by default what runs now and all that comes.

    Notes
    -----
    The tasks themselves are no traits: the browser holds them once for all views of a kernel.

    `selected_key` is one selection for all charts of a recorder. Set it to select a task, also while a cell
    runs; observe it to hear what a person selected. While a compute runs, a kernel with subshells (ipykernel
    7) hears of that within half a second, on the thread that sets all traits; else it does at the end of the
    cell, as with any widget. The same goes for `follow` and `time_range`.
    """

    _model_name = traitlets.Unicode("GanttModel").tag(sync=True)
    _view_name = traitlets.Unicode("GanttView").tag(sync=True)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        return gantt_values(session.recorder, self.window, self._progress(session, now_s))

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return still_gantt_values(recording)
