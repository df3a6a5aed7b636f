"""Make `ResourceData` of a recording."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from taskscope.diagnostics.results import ResourceData, Results
from taskscope.model.recording import RecordedData

__all__ = ["resource_data"]


def resource_data(
    recording: RecordedData, spans_s: Iterable[tuple[float, float]], origin: float
) -> Results[ResourceData]:
    """Return the samples of these spans of time, in seconds after the recorder's zero.

    A sample whose CPU use is not known, as that of the first one never is, is left out.
    """
    rows = recording.resources
    times = rows.time
    mine = np.zeros(len(rows), bool)
    for start_s, stop_s in spans_s:
        mine |= (times >= start_s) & (times <= stop_s)
    rows = rows.part(mine & ~np.isnan(rows.cpu_percent))
    return Results(
        ResourceData(time_s + origin, rss_bytes / 1e6, cpu_percent)
        for time_s, cpu_percent, rss_bytes, *_ in rows.tuples()
    )
