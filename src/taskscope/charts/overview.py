"""All figures of a recording above each other: tasks, CPU and memory, and the scheduler's cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import GridPlot
from bokeh.models.annotations import Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from taskscope.analysis.cache_usage import Held, cache_metrics
from taskscope.analysis.display.pictures import LIGHT, prefix_colours
from taskscope.analysis.memory import memory_peak
from taskscope.analysis.quantities import format_bytes
from taskscope.charts.canvas import PaletteOption, Scheme, add_note, darken, stacked
from taskscope.charts.series import plot_cache, plot_resources
from taskscope.charts.tasks import plot_tasks
from taskscope.errors import OptionError
from taskscope.model.recording import RecordedData, key_sizes
from taskscope.model.tables.records import number_prefixes

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
