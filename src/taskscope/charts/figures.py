"""Figures of a recording: tasks, CPU and memory, the scheduler's cache, and all of them above each other.

Tasks are a bar each, or beyond ten thousand a picture of the exact share of each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, GridPlot, LinearAxis, Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from taskscope.analysis.display.pictures import FAILED_COLOUR, LIGHT, prefix_colours
from taskscope.analysis.memory import Held, cache_metrics, memory_peak
from taskscope.analysis.quantities import format_bytes, format_count
from taskscope.charts.canvas import (
    PaletteOption,
    Scheme,
    Series,
    add_legend,
    add_note,
    cut,
    darken,
    draw_density,
    height_is_free,
    label,
    new_figure,
    running_sum,
    set_tooltips,
    stacked,
    thinned,
)
from taskscope.errors import OptionError
from taskscope.model.recording import RecordedData, key_sizes
from taskscope.model.tables.columns import distinct
from taskscope.model.tables.records import BAD_ENDS, STATUSES, TaskBlock, number_prefixes

MAX_GLYPHS = 10_000
"""How many tasks are drawn as bars at most."""

_MAX_LABELS = 24
_TOOLTIPS = [
    ("Key", "@key"),
    ("Task", "@task"),
    ("Worker", "@worker"),
    ("Start", "@left{0.000000} s"),
    ("Duration", "@duration{0.000000} s"),
    ("Status", "@status"),
]


def plot_tasks(
    recording: RecordedData,
    zero_s: float,
    until_s: float,
    *,
    scheme: Scheme | None = None,
    legend: bool = True,
    palette: PaletteOption = None,
    label_size: int | None = 60,
    **options: Any,
) -> figure:
    """Return the Gantt chart of a recording, from and to seconds after the recorder's zero."""
    tasks = recording.tasks
    scheme = scheme or Scheme.of(prefix_colours(recording), palette)
    lanes, row = np.unique(tasks.lane.astype(np.int64), return_inverse=True)
    n_rows = max(len(lanes), 1)
    right = max(until_s - zero_s, 1e-6)
    ranges = {"x_range": Range1d(start=0, end=right), "y_range": Range1d(start=-0.5, end=n_rows - 0.5)}
    plot = new_figure(options, **ranges)
    plot.grid.grid_line_color = None
    plot.axis.axis_line_color = None
    plot.axis.major_tick_line_color = None
    plot.yaxis.axis_label = "Worker ID"
    plot.xaxis.axis_label = "Time (s)"
    # The first lane is on top, where Bokeh has the last row.
    row = n_rows - 1 - row
    _name_rows(plot, [recording.lanes[lane].label for lane in lanes.tolist()][::-1])
    bad = bool(np.isin(tasks.status, BAD_ENDS).any())
    if len(tasks) > MAX_GLYPHS:
        n_columns = draw_density(plot, recording, lanes, scheme, recording.zero_s - zero_s)
        how = f"drawn as the exact share of {n_columns:,} columns; zoom does not add detail"
        add_note(plot, f"{format_count(len(tasks))} tasks, {how}{_dropped(recording)}")
    elif len(tasks):
        shift = recording.zero_s - zero_s
        _draw_bars(plot, recording, tasks, row, shift, scheme, label_size)
        add_note(plot, f"{format_count(len(tasks))} task{'s' * (len(tasks) != 1)}{_dropped(recording)}")
    if legend:
        prefixes = {recording.groups[i].prefix for i in distinct(tasks.group).tolist()}
        add_legend(plot, scheme, prefixes, ended_badly=bad, grow=height_is_free(options))
    return plot


def _dropped(recording: RecordedData) -> str:
    return f"; {recording.dropped:,} older ones are no longer kept" if recording.dropped else ""


def _name_rows(plot: figure, labels: list[str]) -> None:
    step = -(-len(labels) // _MAX_LABELS) or 1
    shown = range(0, len(labels), step)
    plot.yaxis.ticker = FixedTicker(ticks=list(shown))
    plot.yaxis.major_label_overrides = {place: label(labels[place], 24) for place in shown}


def _draw_bars(
    plot: figure,
    recording: RecordedData,
    tasks: TaskBlock,
    row: NDArray[np.int64],
    shift: float,
    scheme: Scheme,
    label_size: int | None,
) -> None:
    groups = [recording.groups[i] for i in tasks.group.tolist()]
    bad = np.isin(tasks.status, BAD_ENDS)
    colours = [
        FAILED_COLOUR if is_bad else scheme.colour(group.prefix)
        for group, is_bad in zip(groups, bad.tolist(), strict=True)
    ]
    keys = tasks.keys.to_text([group.name for group in groups])
    source = ColumnDataSource(
        {
            "left": tasks.start + shift,
            "right": tasks.stop + shift,
            "y": row.astype(np.int32),
            "duration": tasks.stop - tasks.start,
            "colour": colours,
            "hatch": np.where(bad, "/", " ").tolist(),
            "key": [cut(key, label_size) for key in keys],
            "task": [cut(group.prefix, label_size) for group in groups],
            "status": [STATUSES[code] for code in tasks.status.tolist()],
            "worker": [cut(recording.lanes[lane].label, label_size) for lane in tasks.lane.tolist()],
        }
    )
    plot.hbar(
        source=source, y="y", left="left", right="right", height=0.9, fill_color="colour",
        line_color="colour", hatch_pattern="hatch", hatch_color="white",
    )  # fmt: skip
    set_tooltips(plot, _TOOLTIPS)


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


_THEMES = ("light", "dark")
_MB = 1e6


def plot(recording: RecordedData, *, theme: str, palette: PaletteOption, **options: Any) -> GridPlot:
    """Return the figures; see `taskscope.Recording.plot`."""
    if theme not in _THEMES:
        raise OptionError(f"theme must be 'light' or 'dark', got {theme!r}")
    until_s = max((_stop(recording, run.stop_s) for run in recording.runs), default=recording.zero_s)
    scheme = Scheme.of(prefix_colours(recording), palette)
    figures = [plot_tasks(recording, recording.zero_s, until_s, scheme=scheme, **options)]
    if not recording.runs:
        add_note(figures[0], "no Dask computation was recorded")
    if len(recording.resources):
        figures.append(plot_resources(_samples(recording), recording.zero_s, until_s, **options))
    held, metric = _held(recording)
    if len(held.value):
        figures.append(
            plot_cache(held, metric, recording.zero_s, until_s, scheme=scheme, **{**options, "legend": False})
        )
        _mark_peak(figures[-1], recording)
    if theme == "dark":
        for each in figures:
            darken(each)
    return _responsive(stacked(figures), figures)


def _mark_peak(plot: figure, recording: RecordedData) -> None:
    """Mark when most memory was in use, with its parts, where it is more than before the first task."""
    peak = memory_peak(recording)
    if peak.nbytes("rest"):
        mark = Span(location=peak.time_s, dimension="height", line_dash="dashed", line_color=LIGHT["faint"])
        plot.add_layout(mark)
        add_note(plot, f"most memory, {format_bytes(peak.peak_bytes)}, at the dashed line: {peak.words()}")


def _stop(recording: RecordedData, stop_s: float | None) -> float:
    return recording.now_s if stop_s is None else stop_s


def _responsive(layout: GridPlot, figures: list[figure]) -> GridPlot:
    for each in figures:
        each.sizing_mode = "stretch_width"
    layout.sizing_mode = "stretch_width"
    return layout


def _samples(recording: RecordedData) -> list[tuple[float, float, float]]:
    """Return time, MB and CPU percent, with nothing between the samples on both sides of a gap."""
    found: list[tuple[float, float, float]] = []
    rows = recording.resources
    for time_s, cpu_percent, rss_bytes, gap in zip(
        rows.time, rows.cpu_percent, rows.rss_bytes, rows.gap, strict=True
    ):
        if gap and found:
            found.append((time_s, np.nan, np.nan))
        found.append((time_s, rss_bytes / _MB, cpu_percent))
    return found


def _held(recording: RecordedData) -> tuple[Held, str]:
    """Return cache usage, in the user's metric where every compute has it, else in bytes."""
    metrics = cache_metrics(recording)
    names, of_group = number_prefixes(recording.groups)
    has_metric = bool(metrics) and metrics.keys() == recording.graphs.keys()
    seen = recording.holdings
    parts: list[tuple[NDArray[Any], ...]] = [
        (of_group[seen.group], seen.time, seen.until(recording.now_s), seen.nbytes)
    ]
    for run in recording.runs:
        graph = recording.graphs.get(run.run)
        if graph is None or run.is_on_cluster:
            continue
        enter = graph.enter_times()
        rows = np.flatnonzero(~np.isnan(enter))
        leave = graph.exit_times(_stop(recording, run.stop_s))
        value = (
            graph.values if has_metric and graph.values is not None else key_sizes(recording, run.run, graph)
        )
        parts.append((of_group[graph.group[rows]], enter[rows], leave[rows], value[rows]))
    empty = (np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0))
    prefix, enter_s, leave_s, value = (np.concatenate(column) for column in zip(empty, *parts, strict=True))
    name = next(iter(metrics.values())) if has_metric else "bytes"
    return Held(names, prefix, enter_s, leave_s, value), name
