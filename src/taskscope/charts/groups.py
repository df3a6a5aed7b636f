"""The graph of computes by task groups, as boxes that fill while their tasks finish."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Any

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from taskscope.analysis.display.colours import prefix_colours
from taskscope.analysis.quantities import format_count, format_duration
from taskscope.analysis.task_groups import GroupProgress, group_graph
from taskscope.charts.canvas import add_note, label, new_figure, set_tooltips
from taskscope.charts.scheme import Scheme
from taskscope.model.recording import RecordedData

__all__ = ["plot_groups"]

_MAX_GROUPS = 200
_LABEL_WIDTH = 14
_WIDE, _HIGH = 0.7, 0.6
_ROW_PX, _BESIDE_PX, _MOST_PX = 34, 110, 1_600
_TOOLTIPS = [
    ("group", "@name"), ("tasks", "@n"), ("finished", "@finished"), ("failed", "@erred"),
    ("running", "@running"), ("skipped", "@skipped"), ("time in tasks", "@seconds"), ("needs", "@needs"),
]  # fmt: skip
_Name = tuple[int, str]


def plot_groups(recording: RecordedData, run: int | None = None, **options: Any) -> figure:
    """Return a figure with a box for each group, right of those that it needs."""
    graph = group_graph(recording, run)
    groups = nlargest(_MAX_GROUPS, graph.groups, key=lambda of: of.n_tasks)
    groups = sorted(groups, key=graph.groups.index)
    at = _places(groups)
    n_rows = max((y for _, y in at.values()), default=0) + 1
    plot = new_figure(
        options,
        title="Task graph by groups",
        height=min(_ROW_PX * n_rows + _BESIDE_PX, _MOST_PX),
        x_range=(-0.5, max((x for x, _ in at.values()), default=0) + 0.5),
        y_range=(n_rows - 0.5, -0.5),
        tools="hover,save,reset,xpan,xwheel_zoom",
    )
    lines = [
        (at[of.run, needed], at[of.run, of.group])
        for of in groups
        for needed in of.needs
        if (of.run, needed) in at
    ]
    plot.segment(
        [x + _WIDE / 2 for (x, _), _ in lines], [y for (_, y), _ in lines],
        [x - _WIDE / 2 for _, (x, _) in lines], [y for _, (_, y) in lines],
        line_color="#8a8f98", line_alpha=0.6,
    )  # fmt: skip
    _boxes(plot, groups, at, Scheme.of(prefix_colours(recording)))
    plot.axis.visible = False
    plot.grid.grid_line_color = None
    set_tooltips(plot, _TOOLTIPS)
    if len(groups) < len(graph.groups):
        add_note(plot, f"the {_MAX_GROUPS} groups with the most tasks, of {len(graph.groups):,}")
    elif graph.reason is not None:
        add_note(plot, str(graph))
    return plot


def _boxes(
    plot: figure, groups: Sequence[GroupProgress], at: Mapping[_Name, tuple[int, int]], scheme: Scheme
) -> None:
    places = [at[of.run, of.group] for of in groups]
    left = [x - _WIDE / 2 for x, _ in places]
    columns: dict[str, Any] = {
        "left": left,
        "right": [x + _WIDE / 2 for x, _ in places],
        "filled": [at_left + of.done * _WIDE for at_left, of in zip(left, groups, strict=True)],
        "top": [y - _HIGH / 2 for _, y in places],
        "bottom": [y + _HIGH / 2 for _, y in places],
        "middle": [y for _, y in places],
        "colour": [scheme.colour(of.prefix) for of in groups],
        "border": ["#000000" if of.n_erred else scheme.colour(of.prefix) for of in groups],
        "border_px": [3 if of.n_erred else 1 for of in groups],
        "name": [label(of.group, 200) for of in groups],
        "short": [f" {label(of.prefix, _LABEL_WIDTH)}" for of in groups],
        "n": [format_count(of.n_tasks) for of in groups],
        "finished": [format_count(of.n_finished) for of in groups],
        "erred": [format_count(of.n_erred) for of in groups],
        "running": [format_count(of.n_running) for of in groups],
        "skipped": [format_count(of.n_skipped) for of in groups],
        "seconds": [format_duration(of.seconds) for of in groups],
        "needs": [label(", ".join(of.needs) or "nothing", 200) for of in groups],
    }
    source = ColumnDataSource(columns)
    plot.quad(
        "left", "filled", "top", "bottom", source=source, fill_color="colour", fill_alpha=0.55,
        line_color=None,
    )  # fmt: skip
    plot.quad(
        "left", "right", "top", "bottom", source=source, fill_color="colour", fill_alpha=0.12,
        line_color="border", line_width="border_px",
    )  # fmt: skip
    plot.text("left", "middle", "short", source=source, text_baseline="middle", text_font_size="8pt")


def _places(groups: Sequence[GroupProgress]) -> dict[_Name, tuple[int, int]]:
    """Return column and row of each group; computes stand below each other."""
    found: dict[_Name, tuple[int, int]] = {}
    top = 0
    for run in dict.fromkeys(of.run for of in groups):
        rows: defaultdict[int, int] = defaultdict(lambda top=top: top)  # type: ignore[misc]  # a default argument
        for of in groups:
            if of.run == run:
                found[run, of.group] = (of.layer, rows[of.layer])
                rows[of.layer] += 1
        top = max(rows.values())
    return found
