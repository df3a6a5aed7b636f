"""The synchronised traits, in groups that widgets are put together from."""

from __future__ import annotations

import traitlets

__all__ = ["GanttTraits", "ProgressTraits"]


class ProgressTraits(traitlets.HasTraits):
    """How far the computes are; set by the kernel."""

    total = traitlets.Int(0, help="Tasks of all graphs.").tag(sync=True)
    finished = traitlets.Int(0, help="Tasks that gave a result.").tag(sync=True)
    running = traitlets.Int(0, help="Tasks in flight.").tag(sync=True)
    erred = traitlets.Int(0, help="Tasks that raised.").tag(sync=True)
    fraction = traitlets.Float(0.0, help="Finished of total, 0 to 1.").tag(sync=True)
    elapsed_s = traitlets.Float(0.0, help="Seconds during which computes ran.").tag(sync=True)
    eta_s = traitlets.Float(
        None, allow_none=True, help="An estimate of the seconds left; None: unknown."
    ).tag(sync=True)
    eta_low_s = traitlets.Float(
        None, allow_none=True, help="About four of five true ends lie between this and eta_high_s."
    ).tag(sync=True)
    eta_high_s = traitlets.Float(None, allow_none=True, help="See eta_low_s.").tag(sync=True)
    state = traitlets.Enum(
        ["waiting", "running", "finished", "erred", "interrupted"],
        "waiting",
        help="One word for all computes.",
    ).tag(sync=True)
    groups = traitlets.List(
        traitlets.Dict(), help="Per prefix: prefix, total, finished, running, erred."
    ).tag(sync=True)


class GanttTraits(traitlets.HasTraits):
    """What the chart holds; the browser may change the last three."""

    n_tasks = traitlets.Int(0, help="Tasks that came to an end.").tag(sync=True)
    n_lanes = traitlets.Int(0, help="Worker threads seen.").tag(sync=True)
    dropped = traitlets.Int(0, help="Tasks that are no longer held.").tag(sync=True)
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
