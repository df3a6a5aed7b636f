"""How far the kernel's computes are."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from taskscope.jupyter.widgets.base import RecorderWidget
from taskscope.jupyter.widgets.traits import ProgressTraits
from taskscope.jupyter.widgets.values import progress_values, still_progress
from taskscope.model.recording import RecordedData
from taskscope.session import Session

__all__ = ["ProgressWidget"]


class ProgressWidget(RecorderWidget, ProgressTraits):
    """A progress bar for all Dask computes of this kernel, in total and per group.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed.
    window
        Which computes to show; by default what runs now and all that comes.

    Notes
    -----
    ``eta_s`` is an estimate with a band from ``eta_low_s`` to ``eta_high_s``, in which about four of five
    true ends lie; all are None before there is evidence. How many of the tasks ahead are of prefixes of which
    none has ended, so that nobody knows how long they take, is ``eta_unseen``.
    `taskscope.analysis.time_left.estimate_stop` has the rule.
    Traits change at most twice a second while a compute runs. Who reads one after it has ended reads the end.
    """

    _model_name = traitlets.Unicode("ProgressModel").tag(sync=True)
    _view_name = traitlets.Unicode("ProgressView").tag(sync=True)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        return progress_values(self._progress(session, now_s))

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return progress_values(still_progress(recording))
