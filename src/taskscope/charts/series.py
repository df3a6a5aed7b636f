"""Cache usage, CPU and memory over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from bokeh.models import ColumnDataSource, LinearAxis, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from taskscope.analysis.cache_usage import Held
from taskscope.analysis.display.pictures import LIGHT
from taskscope.analysis.quantities import format_count
from taskscope.charts.canvas import (
    PaletteOption,
    Scheme,
    Series,
    add_legend,
    add_note,
    cut,
    height_is_free,
    label,
    new_figure,
    running_sum,
    set_tooltips,
    thinned,
)

_MAX_LINES = 20
_N_COLUMNS = 400
_REST = "all others"


def plot_cache(
    held: Held,
    metric_name: str,
    zero_s: float,
    until_s: float,
    *,
    scheme: Scheme | None = None,
    legend: bool = True,
    palette: PaletteOption = None,
    label_size: int | None = 60,
    **options: Any,
) -> figure:
    """Return a line per prefix; options as of `taskscope.charts.plot_tasks`."""
    right = max(until_s - zero_s, 1e-6)
    scheme = scheme or Scheme.of({prefix: i for i, prefix in enumerate(held.prefixes)}, palette)
    plot = new_figure(options, x_range=Range1d(start=0, end=right))
    plot.yaxis.axis_label = f"Cache Size ({label(metric_name, 40)})"
    plot.xaxis.axis_label = "Time (s)"
    lines = _lines(held)
    if not lines:
        plot.y_range = Range1d(start=0, end=10)
    for prefix, (times, sums) in lines.items():
        # From zero before the first result to the end of the axis.
        data: dict[str, Any] = {"x": np.append(times - zero_s, right), "y": np.append(sums, sums[-1:])}
        data["label"] = np.array([cut(prefix, label_size)] * len(data["x"]))
        colour = LIGHT["faint"] if prefix == _REST else scheme.colour(prefix)
        plot.step("x", "y", source=ColumnDataSource(data), mode="after", line_color=colour, line_width=2)
    unknown = int(np.isnan(held.value).sum())
    if unknown:
        add_note(
            plot,
            f"the metric of {format_count(unknown)} of {format_count(len(held.value))} results is unknown",
        )
    set_tooltips(plot, [("Task", "@label"), (cut(metric_name, 40), "@y"), ("Time", "@x{0.000} s")])
    if legend:
        add_legend(plot, scheme, lines, grow=height_is_free(options))
    return plot


def _lines(held: Held) -> dict[str, Series]:
    known = np.nan_to_num(held.value)
    found: dict[str, Series] = {}
    for place, prefix in enumerate(held.prefixes):
        mine = held.prefix == place
        if mine.any():
            found[prefix] = _sum_over_time(held, mine, known)
    if len(found) > _MAX_LINES:
        first = sorted(found, key=lambda prefix: -float(found[prefix][1].max()))[: _MAX_LINES - 1]
        rest = ~np.isin(held.prefix, [held.prefixes.index(prefix) for prefix in first])
        found = {p: found[p] for p in found if p in first} | {_REST: _sum_over_time(held, rest, known)}
    return {prefix: thinned(series, _N_COLUMNS) for prefix, series in found.items()}


def _sum_over_time(held: Held, mine: NDArray[np.bool_], value: NDArray[np.float64]) -> Series:
    times = np.concatenate([held.enter_s[mine], held.leave_s[mine]])
    return running_sum(times, np.concatenate([value[mine], -value[mine]]))


_N_SAMPLE_COLUMNS = 1_000
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
    if len(rows) > 3 * _N_SAMPLE_COLUMNS:
        add_note(plot, f"{len(rows):,} samples, drawn with the extremes of {_N_SAMPLE_COLUMNS:,} columns")
    set_tooltips(plot, [("", "@what: @y{0.0}"), ("Time", "@x{0.000} s")])
    return plot


def _line(plot: figure, times: _Floats, values: _Floats, what: str, **looks: Any) -> None:
    x, y = thinned((times, values), _N_SAMPLE_COLUMNS)
    source = ColumnDataSource({"x": x, "y": y, "what": [what] * len(x)})
    plot.line("x", "y", source=source, line_width=2, **looks)


def _range(values: _Floats) -> Range1d:
    # The CPU of a first sample is not known.
    return Range1d(start=0, end=max(float(np.fmax.reduce(values, initial=0.0)) * 1.05, 100.0))
