"""What the functions of tasks were doing."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from taskscope.analysis.flame import flame_message
from taskscope.analysis.profile import profile
from taskscope.jupyter.widgets.base import RecorderWidget
from taskscope.model.recording import RecordedData
from taskscope.model.stacks import StackColumns
from taskscope.options import Options
from taskscope.session import Session

__all__ = ["FlameWidget"]

_PAUSE_S = 1.0
_MAX_SHARE = 0.02


class FlameWidget(RecorderWidget):
    """A flame graph: which functions the tasks' time goes to, and which called them.

    Every bar is a call, as long as the time it took; below it are the calls made from it. Prefixes of tasks
    are the first row. A click on a bar zooms into it, the timeline below chooses a time, and functions can
    be searched for. Times are estimates from samples.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed, and samples
        are taken as long as it does.
    window
        Which computes to show; by default what runs now and all that comes.

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

    _sent: tuple[int, float] = (-1, 0.0)
    _due_s: float = 0.0

    def _recorded_options(self) -> Options:
        return Options(stacks=True)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        if now_s < self._due_s and session.recorder.is_computing():
            return {}
        clock = session.recorder.clock
        began = clock.perf_counter()
        stacks = session.recorder.stacks.between(self.first_run, self.last_run)
        values = _values(stacks)
        sent = (int(stacks.rows.count.sum()), float(stacks.rows.seconds.sum()))
        # What is drawn is sent again as a whole, so that a page that joins late has it all.
        found = values if sent != self._sent else {}
        self._sent = sent
        self._due_s = now_s + max(_PAUSE_S, (clock.perf_counter() - began) / _MAX_SHARE)
        return found

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        return {**_values(recording.stacks), "note": profile(recording).note}


def _values(stacks: StackColumns) -> Mapping[str, object]:
    return {
        "n_samples": int(stacks.rows.count.sum()),
        "sampled_s": float(stacks.rows.seconds.sum()),
        "data": flame_message(stacks),
    }
