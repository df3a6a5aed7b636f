"""A figure on a dark ground."""

from __future__ import annotations

from typing import Any

from bokeh.models.annotations import Legend, Title
from bokeh.models.axes import Axis
from bokeh.models.grids import Grid
from bokeh.plotting import figure

from taskscope.analysis.display.colours import DARK

__all__ = ["darken"]

_BOKEHS_INK = "#444444"


def darken(plot: figure) -> None:
    """Give a figure that was drawn for a light ground a dark one, and text that can be read there.

    Set on the figure itself, because a theme belongs to the document that a figure is put into.
    """
    plot.background_fill_color = plot.border_fill_color = DARK["paper"]
    plot.outline_line_color = DARK["line"]
    parts: list[Any] = [*plot.axis, *plot.grid, *plot.left, *plot.right, *plot.above, *plot.below, plot.title]
    for part in parts:
        if isinstance(part, Axis):
            part.major_label_text_color = DARK["ink"]
            part.axis_line_color = part.major_tick_line_color = part.minor_tick_line_color = DARK["line"]
            if part.axis_label_text_color == _BOKEHS_INK:
                part.axis_label_text_color = DARK["ink"]
        elif isinstance(part, Grid):
            part.grid_line_color = None if part.grid_line_color is None else DARK["line"]
        elif isinstance(part, Legend):
            part.label_text_color = DARK["ink"]
            part.background_fill_color = DARK["paper"]
        elif isinstance(part, Title):
            part.text_color = DARK["ink"] if part is plot.title else DARK["faint"]
