"""The Gantt chart: a bar per task, or beyond ten thousand a picture of the exact share of each column."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from taskscope.analysis.display.pictures import FAILED_COLOUR, prefix_colours
from taskscope.analysis.quantities import format_count
from taskscope.charts.canvas import (
    PaletteOption,
    Scheme,
    add_legend,
    add_note,
    cut,
    draw_density,
    height_is_free,
    label,
    new_figure,
    set_tooltips,
)
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import BAD_ENDS, STATUSES, TaskBlock

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
    texts: list[str] | None = None,
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
        _draw_bars(plot, recording, tasks, row, shift, scheme, texts, label_size)
        add_note(plot, f"{format_count(len(tasks))} task{'s' * (len(tasks) != 1)}{_dropped(recording)}")
    if legend:
        prefixes = {recording.groups[i].prefix for i in np.unique(tasks.group).tolist()}
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
    texts: list[str] | None,
    label_size: int | None,
) -> None:
    groups = [recording.groups[i] for i in tasks.group.tolist()]
    bad = np.isin(tasks.status, BAD_ENDS)
    colours = [
        FAILED_COLOUR if is_bad else scheme.colour(group.prefix)
        for group, is_bad in zip(groups, bad.tolist(), strict=True)
    ]
    keys = tasks.keys.iter_text([group.name for group in groups])
    what = [group.prefix for group in groups] if texts is None else texts
    source = ColumnDataSource(
        {
            "left": tasks.start + shift,
            "right": tasks.stop + shift,
            "y": row.astype(np.int32),
            "duration": tasks.stop - tasks.start,
            "colour": colours,
            "hatch": np.where(bad, "/", " ").tolist(),
            "key": [cut(key, label_size) for key in keys],
            "task": [cut(text, label_size) for text in what],
            "status": [STATUSES[code] for code in tasks.status.tolist()],
            "worker": [cut(recording.lanes[lane].label, label_size) for lane in tasks.lane.tolist()],
        }
    )
    plot.hbar(
        source=source, y="y", left="left", right="right", height=0.9, fill_color="colour",
        line_color="colour", hatch_pattern="hatch", hatch_color="white",
    )  # fmt: skip
    set_tooltips(plot, _TOOLTIPS)
