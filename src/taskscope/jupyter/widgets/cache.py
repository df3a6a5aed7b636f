"""What the scheduler holds."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from taskscope.jupyter.widgets.base import RecorderWidget
from taskscope.jupyter.widgets.series import HeldFollower, cache_values, still_cache_values
from taskscope.jupyter.widgets.traits import CacheTraits
from taskscope.model.recording import RecordedData
from taskscope.session import Session

__all__ = ["CacheWidget"]


class CacheWidget(RecorderWidget, CacheTraits):
    """The results that the scheduler holds while computes run: how much of each group, and the most it was.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed.
    window
        Which computes to show; by default what runs now and all that comes.

    Notes
    -----
    A result is held from when it lands until the last task that needs it has landed; requested results until
    the end of their compute. Bytes are estimates of each result by itself, as everywhere in Dask; results
    that share memory count twice. Keys of unknown size are counted in ``n_unsized``.
    """

    _model_name = traitlets.Unicode("CacheModel").tag(sync=True)
    _view_name = traitlets.Unicode("CacheView").tag(sync=True)

    _follower: HeldFollower | None = None

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        if self._follower is None:
            self._follower = HeldFollower(session.recorder, self.window)
        runs = self.window.runs(session.recorder)
        return cache_values(self._follower.refresh(), session.recorder.groups, runs, session.metric_name)

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return still_cache_values(recording)
