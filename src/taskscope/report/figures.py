"""Bokeh figures of recordings and profilers, drawn by Dask's own functions on rows of Dask's own types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.diagnostics.profile import CacheData, ResourceData, TaskData
from dask.diagnostics.profile_visualize import plot_cache, plot_resources, plot_tasks, visualize

from taskscope.analysis.memory import cache_metrics
from taskscope.errors import OptionError, required, unknown_name
from taskscope.model.keys import split_key
from taskscope.model.recording import RecordedData, count_tasks, key_sizes
from taskscope.model.tables.records import FINISHED, STATUSES

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM
    from bokeh.plotting import figure

MOST_TASKS = 50_000
"""Each is an element of the page."""


class _Name(str):
    """A text that Dask's functions, which name and colour tasks by their ``repr``, show as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Held(CacheData):
    """A result of which Dask draws one line with all others of its prefix: those of the same ``repr``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self.task)


@dataclass(frozen=True, slots=True)
class Drawing:
    """What Dask's ``visualize`` takes for a profiler."""

    draw: Callable[..., figure]

    def _plot(self, **options: Any) -> figure:
        return self.draw(**options)


def drawn(drawings: Sequence[Any], options: dict[str, Any]) -> LayoutDOM:
    """Return the figure of a profiler or drawing, or the layout of several, above each other.

    Raises
    ------
    MissingDependencyError
        If Bokeh is not installed.
    OptionError
        If Bokeh has no palette of the name in the options.
    AttributeError
        If Bokeh's figures have no attribute of the name of an option.
    """
    with required("a figure", "bokeh", "'taskscope[plots]'"):
        from bokeh.palettes import all_palettes
    palette = options.get("palette", "Viridis")
    if palette not in all_palettes:
        raise OptionError(unknown_name("palette", palette, all_palettes))
    layout: LayoutDOM = visualize([*drawings], show=False, save=False, **options)
    return layout


def draw_tasks(rows: Iterable[TaskData], start_s: float, end_s: float, **options: Any) -> figure:
    """Return the Gantt chart of tasks, which have the colour and the name of their prefix."""
    named = [row._replace(task=_prefix(row)) for row in rows]
    chart: figure = plot_tasks(named, {}, start_s, end_s, **options)
    return chart


def draw_resources(rows: Sequence[ResourceData], start_s: float, end_s: float, **options: Any) -> figure:
    """Return the chart of CPU and memory."""
    chart: figure = plot_resources(rows, start_s, end_s, **options)
    return chart


def draw_cache(
    rows: Iterable[CacheData], metric_name: str, start_s: float, end_s: float, **options: Any
) -> figure:
    """Return the chart of results in memory, a line for each prefix, without those that have no number."""
    held = [*map(_held, filter(_is_valued, rows))]
    chart: figure = plot_cache(held, {}, start_s, end_s, metric_name, **options)
    return chart


def _held(row: CacheData) -> _Held:
    return _Held(row.key, _prefix(row), float(row.metric), row.cache_time, row.free_time)


def _prefix(row: TaskData | CacheData) -> _Name:
    return row.task if isinstance(row.task, _Name) else _Name(split_key(row.key)[1])


def _is_valued(row: CacheData) -> bool:
    try:
        return bool(np.isfinite(float(row.metric)))
    except (TypeError, ValueError):
        return False


def plot(recording: RecordedData, options: dict[str, Any]) -> LayoutDOM:
    """Return the figures of a recording; see `taskscope.Recording.plot`."""
    n_tasks = count_tasks(recording)
    if n_tasks > MOST_TASKS:
        raise OptionError(
            f"a figure has at most {MOST_TASKS:,} tasks, and this recording has {n_tasks:,}: "
            "to_html(path) draws any number"
        )
    zero_s = recording.zero_s
    end_s = max((_stop_s(recording, run.stop_s) for run in recording.runs), default=zero_s)
    drawings = [Drawing(lambda **rest: draw_tasks(_tasks(recording), 0.0, end_s - zero_s, **rest))]
    samples = [
        ResourceData(time_s - zero_s, rss_bytes / 1e6, cpu_percent)
        for time_s, cpu_percent, rss_bytes, *_ in recording.resources.tuples()
        # The CPU use of a first sample is not known.
        if np.isfinite(cpu_percent)
    ]
    if samples:
        drawings.append(Drawing(lambda **rest: draw_resources(samples, 0.0, end_s - zero_s, **rest)))
    metrics = cache_metrics(recording)
    is_metric = bool(metrics) and metrics.keys() == recording.graphs.keys()
    held = list(_results(recording, has_metric=is_metric))
    if held:
        name = next(iter(metrics.values())) if is_metric else "bytes"
        drawings.append(Drawing(lambda **rest: draw_cache(held, name, 0.0, end_s - zero_s, **rest)))
    return drawn(drawings, options)


def _stop_s(recording: RecordedData, stop_s: float | None) -> float:
    return recording.now_s if stop_s is None else stop_s


def _tasks(recording: RecordedData) -> Iterator[TaskData]:
    tasks = recording.tasks
    groups = [recording.groups[group] for group in tasks.group.tolist()]
    labels = [lane.label for lane in recording.lanes]
    keys = tasks.keys.to_text([group.name for group in groups])
    columns = (tasks.start, tasks.stop, tasks.lane, tasks.status)
    for key, group, start_s, stop_s, lane, status in zip(
        keys, groups, *(column.tolist() for column in columns), strict=True
    ):
        text = key if status == FINISHED else f"{key} ({STATUSES[status]})"
        yield TaskData(text, _Name(group.prefix), start_s, stop_s, labels[lane])


def _results(recording: RecordedData, *, has_metric: bool) -> Iterator[CacheData]:
    """Yield results in memory, in the user's metric where every compute has it, else in bytes."""
    zero_s, seen = recording.zero_s, recording.holdings
    until = seen.until(recording.now_s)
    prefixes = [_Name(group.prefix) for group in recording.groups]
    columns = (seen.group, seen.time - zero_s, until - zero_s, seen.nbytes)
    for group, since_s, until_s, value in zip(*(column.tolist() for column in columns), strict=True):
        yield CacheData(None, prefixes[group], value, since_s, until_s)
    for run in recording.runs:
        graph = recording.graphs.get(run.run)
        if graph is None or run.is_on_cluster:
            continue
        enter = graph.enter_times()
        rows = np.flatnonzero(~np.isnan(enter))
        leave = graph.exit_times(_stop_s(recording, run.stop_s))
        values = graph.values if has_metric else None
        sizes = key_sizes(recording, run.run, graph) if values is None else values
        columns = (graph.group[rows], enter[rows] - zero_s, leave[rows] - zero_s, sizes[rows])
        for group, since_s, until_s, value in zip(*(column.tolist() for column in columns), strict=True):
            yield CacheData(None, prefixes[group], value, since_s, until_s)
