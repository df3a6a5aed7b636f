"""Several figures above each other, on one x axis."""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.layouts import gridplot
from bokeh.models import GridPlot, Range1d
from bokeh.plotting import figure

__all__ = ["stacked"]

_SIDE_PX = 90
_LESS_PX = 30


def stacked(figures: Sequence[figure]) -> GridPlot:
    """Return figures as one layout: the title on the first, the name of the x axis under the last."""
    top = figures[0]
    ends = [f.x_range.end for f in figures if isinstance(f.x_range, Range1d)]
    if isinstance(top.x_range, Range1d) and ends:
        top.x_range.end = max(ends)
    for below in figures[1:]:
        below.x_range = top.x_range
        below.title = None
        below.min_border_top = 20
        below.height = (below.height or 300) - _LESS_PX
    for above in figures[:-1]:
        above.xaxis.axis_label = None
        above.min_border_bottom = 20
        above.height = (above.height or 300) - _LESS_PX
    for each in figures:
        each.min_border_left = each.min_border_right = _SIDE_PX
    return gridplot([[f] for f in figures])
