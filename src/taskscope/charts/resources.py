"""CPU and memory over time, on two axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from bokeh.models import ColumnDataSource, LinearAxis, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from taskscope.charts.canvas import PaletteOption, Scheme, add_note, new_figure, set_tooltips, thinned

_N_COLUMNS = 1_000
_Floats: TypeAlias = NDArray[np.float64]
_CPU, _MEMORY = "% CPU", "Memory (MB)"


def plot_resources(
    samples: Sequence[tuple[float, float, float]],
    zero_s: float,
    until_s: float,
    *,
    palette: PaletteOption = None,
    label_size: int | None = None,
    **options: Any,
) -> figure:
    """Return the chart of CPU (solid, left axis) and memory in MB (dashed, right axis)."""
    del label_size
    cpu_colour, memory_colour = (Scheme.of({_CPU: 0, _MEMORY: 1}, palette).colour(n) for n in (_CPU, _MEMORY))
    rows = np.array(samples, np.float64).reshape(-1, 3)
    times = rows[:, 0] - zero_s
    right = max(until_s - zero_s, 1e-6)
    plot = new_figure(options, x_range=Range1d(start=0, end=right), y_range=_range(rows[:, 2]))
    plot.extra_y_ranges = {"memory": _range(rows[:, 1])}
    plot.xaxis.axis_label = "Time (s)"
    plot.yaxis.axis_label = f"{_CPU} (solid)"
    plot.yaxis.axis_label_text_color = cpu_colour
    plot.add_layout(
        LinearAxis(
            y_range_name="memory", axis_label=f"{_MEMORY} (dashed)", axis_label_text_color=memory_colour
        ),
        "right",
    )
    of_memory = {"line_color": memory_colour, "line_dash": "dashed", "y_range_name": "memory"}
    _line(plot, times, rows[:, 2], _CPU, line_color=cpu_colour)
    _line(plot, times, rows[:, 1], _MEMORY, **of_memory)
    if len(rows) > 3 * _N_COLUMNS:
        add_note(plot, f"{len(rows):,} samples, drawn with the extremes of {_N_COLUMNS:,} columns")
    set_tooltips(plot, [("", "@what: @y{0.0}"), ("Time", "@x{0.000} s")])
    return plot


def _line(plot: figure, times: _Floats, values: _Floats, what: str, **looks: Any) -> None:
    x, y = thinned((times, values), _N_COLUMNS)
    source = ColumnDataSource({"x": x, "y": y, "what": [what] * len(x)})
    plot.line("x", "y", source=source, line_width=2, **looks)


def _range(values: _Floats) -> Range1d:
    # The CPU of a first sample is not known.
    return Range1d(start=0, end=max(float(np.fmax.reduce(values, initial=0.0)) * 1.05, 100.0))
