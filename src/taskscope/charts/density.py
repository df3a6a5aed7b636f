"""A Gantt chart too full for bars: every cell as opaque as it was busy, in the colour of what it did most."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSHover
from bokeh.plotting import figure
from numpy.typing import NDArray

from taskscope.analysis.display.colours import FAILED_COLOUR, N_COLOURS, prefix_colours, rgb
from taskscope.analysis.display.coverage import Coverage, measure_coverage
from taskscope.charts.canvas import cut, set_tooltips
from taskscope.charts.scheme import Scheme
from taskscope.model.recording import RecordedData

__all__ = ["draw_density"]

_MAX_CELLS = 48_000
_MAX_COLUMNS = 3_000
_MIN_COLUMNS = 600
_IDLE = N_COLOURS + 1
_MIN_ALPHA = 24
"""A cell that was busy at all must be seen."""


def draw_density(
    plot: figure, recording: RecordedData, lanes: NDArray[np.int64], scheme: Scheme, shift_s: float
) -> int:
    """Draw all tasks as one picture, whose last lane is at the bottom, and return how many columns it has."""
    n_columns = int(np.clip(_MAX_CELLS // max(len(lanes), 1), _MIN_COLUMNS, _MAX_COLUMNS))
    coverage = measure_coverage(recording, n_columns)
    names = _names(recording)
    source = ColumnDataSource(
        {
            "image": [_pixels(coverage, _rgb(recording, scheme))[::-1]],
            "busy": [np.rint(coverage.busy * 100).astype(np.uint8)[::-1]],
            "colour": [np.where(coverage.busy > 0, coverage.colour, _IDLE)[::-1].astype(np.uint8)],
        }
    )
    left, width = coverage.start_s + shift_s, coverage.stop_s - coverage.start_s
    plot.image_rgba(source=source, image="image", x=left, dw=width, y=-0.45, dh=len(lanes) - 0.1, dilate=True)
    named = CustomJSHover(args={"names": names}, code="return names[value]")
    tooltips = [("Mostly", "@colour{custom}"), ("Busy", "@busy%"), ("Time", "$x{0.000} s")]
    set_tooltips(plot, tooltips, formatters={"@colour": named})
    return n_columns


def _names(recording: RecordedData) -> list[str]:
    """Return what each colour number stands for; more than twenty prefixes share them."""
    sharing: list[list[str]] = [[] for _ in range(N_COLOURS)]
    for prefix, number in prefix_colours(recording).items():
        sharing[number].append(prefix)
    return [cut(" or ".join(prefixes), 60) for prefixes in sharing] + ["failed or interrupted", "nothing"]


def _rgb(recording: RecordedData, scheme: Scheme) -> NDArray[np.uint8]:
    colours = ["#808080"] * N_COLOURS + [FAILED_COLOUR]
    for prefix, number in reversed(prefix_colours(recording).items()):
        colours[number] = scheme.colour(prefix)
    return np.array([rgb(colour) for colour in colours], np.uint8)


def _pixels(coverage: Coverage, colours: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return one RGBA number per cell; its opacity is the busy share."""
    alpha = np.rint(coverage.busy * 255)
    alpha = np.where(coverage.busy > 0, np.maximum(alpha, _MIN_ALPHA), 0).astype(np.uint8)
    rgba = np.empty((*coverage.busy.shape, 4), np.uint8)
    rgba[..., :3] = colours[coverage.colour]
    rgba[..., 3] = alpha
    return rgba.view(np.uint32).reshape(coverage.busy.shape)
