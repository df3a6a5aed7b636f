"""CPU and memory of the kernel's computes."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from taskscope.jupyter.widgets.base import RecorderWidget
from taskscope.jupyter.widgets.series import ResourceFollower, resource_values, still_resource_values
from taskscope.jupyter.widgets.traits import ResourceTraits
from taskscope.model.recording import RecordedData
from taskscope.session import Session

__all__ = ["ResourceWidget"]


class ResourceWidget(RecorderWidget, ResourceTraits):
    """CPU and memory of this process and its children while computes run: now, at their peak, and over time.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed.
    window
        Which computes to show; by default what runs now and all that comes.

    Notes
    -----
    The chart shows CPU in percent of the available cores (those that affinity and control groups leave), the
    traits in percent of one core, as the table ``resources`` does. CPU is the mean since the sample before,
    so it is right however late a sample is; a memory peak between two samples is not seen. Memory that
    processes share is counted in each.
    """

    _model_name = traitlets.Unicode("ResourceModel").tag(sync=True)
    _view_name = traitlets.Unicode("ResourceView").tag(sync=True)

    _follower: ResourceFollower | None = None

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        if self._follower is None:
            self._follower = ResourceFollower(session.recorder, self.window)
        limits = session.recorder.limits
        return resource_values(self._follower.refresh(), limits.n_cores, limits.memory_bytes)

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return still_resource_values(recording)
