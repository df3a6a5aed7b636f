"""How much of each prefix was in the scheduler's cache, over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from taskscope.analysis.cache_usage import Held
from taskscope.analysis.display.colours import LIGHT
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
