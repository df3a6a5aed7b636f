"""What pictures of tasks are made of: colours by prefix, names of lanes, and the busy share of pixel columns.

Prefixes get colours by first appearance. Busy shares are exact at any number of tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.totals import prefix_progress
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import BAD_ENDS, Group, TaskBlock, number_prefixes

PALETTE: tuple[str, ...] = (
    *("#6887ff", "#4cd676", "#a67f38", "#006d91", "#dca0d6", "#3ca694", "#9b54c8", "#94ab39", "#ccb93e"),
    *("#7b566e", "#97c4aa", "#7541b8", "#667b9e", "#aa9afc", "#ac5107", "#9c84c7", "#3375e3", "#ac606d"),
    *("#b11f4b", "#f86685"),
)
"""Given by first appearance; far apart for colour-blind eyes, on light and on dark.

Reds are last, because red marks failed tasks.
"""

N_COLOURS = len(PALETTE)
"""Prefixes take turns with this many colours."""

FAILED_COLOUR = "#d60000"
"""Tasks that erred, were interrupted or lost; they are hatched too, so that colour is not all."""

LIGHT = {"paper": "#ffffff", "ink": "#1f2328", "faint": "#59636e", "line": "#d8dde3"}
DARK = {"paper": "#161b22", "ink": "#e6edf3", "faint": "#a3adb8", "line": "#3d444d"}


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the three parts of a colour.

    Examples
    --------
    >>> rgb("#b11f4b")
    (177, 31, 75)
    """
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def prefix_colours(recording: RecordedData) -> dict[str, int]:
    """Return the number of each prefix's colour, as in live views: by the start of its first task."""
    numbers = colours_of(recording.groups)
    return {row.prefix: numbers[row.prefix] for row in prefix_progress(recording)}


def colours_of(groups: Sequence[Group]) -> dict[str, int]:
    """Return the number of each prefix's colour, the same in all views of a session.

    Old recordings lack the prefixes of their session: theirs are numbered as their groups are.
    """
    places = {prefix: i for i, prefix in enumerate(number_prefixes(groups)[0])}
    known = {group.prefix: group.colour for group in groups if group.colour is not None}
    return {prefix: number % N_COLOURS for prefix, number in {**places, **known}.items()}


ENDED_BADLY = N_COLOURS
"""The colour of tasks that erred, were interrupted or lost."""


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """The busy share of every column of every lane, 0 to 1, and the colour that took most of it.

    `lanes` are the ids of the arrays' rows; `start_s` and `stop_s` are the edges, in seconds after
    `Recording.started_at`; `colour` is `ENDED_BADLY` or below `N_COLOURS`.
    """

    lanes: NDArray[np.int64]
    start_s: float
    stop_s: float
    busy: NDArray[np.float64]
    colour: NDArray[np.uint8]


def column_overlap(
    row: NDArray[np.int64], first: NDArray[np.float64], last: NDArray[np.float64], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return how much of every cell of `shape` is covered by intervals, passed as columns."""
    # Where intervals of a row overlap, a cell gets the sum of their shares, at most 1.
    n_rows, n_columns = shape
    # The running sum of slopes: an interval adds its height at its first edge and takes it at its last.
    ramp = np.zeros((n_rows, n_columns + 2))
    flat = ramp.reshape(-1)
    for edge, sign in ((first, 1.0), (last, -1.0)):
        column = np.minimum(edge.astype(np.int64), n_columns)
        inside = column + 1 - edge
        cell = row * (n_columns + 2) + column
        size = len(flat)
        flat += np.bincount(cell, sign * inside, size) + np.bincount(cell + 1, sign * (1 - inside), size)
    return np.clip(np.cumsum(ramp, axis=1)[:, :n_columns], 0.0, 1.0)


def measure_coverage(
    recording: RecordedData,
    n_columns: int,
    *,
    span_s: float | None = None,
    colours: Mapping[str, int] | None = None,
) -> Coverage:
    """Return the busy share of `n_columns` columns of every lane, by default of the whole recording."""
    tasks = recording.tasks
    start_s, stop_s = _extent(recording, tasks.start, tasks.stop)
    stop_s = stop_s if span_s is None else start_s + span_s
    # Codes are small numbers: counting them finds the different ones sooner than sorting does.
    lanes = np.flatnonzero(np.bincount(tasks.lane))
    row = np.searchsorted(lanes, np.arange(lanes.max(initial=-1) + 1))[tasks.lane]
    scale = n_columns / (stop_s - start_s)
    first = np.clip((tasks.start - start_s) * scale, 0, n_columns)
    last = np.clip((tasks.stop - start_s) * scale, first, n_columns)
    ended_badly = np.isin(tasks.status, BAD_ENDS)
    places = prefix_colours(recording) if colours is None else colours
    painted = np.where(ended_badly, ENDED_BADLY, _colours(recording, tasks, places))
    shape = (len(lanes), n_columns)
    busy, best, colour = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.uint8)
    for value in np.flatnonzero(np.bincount(painted)):
        mine = painted == value
        share = column_overlap(row[mine], first[mine], last[mine], shape)
        busy += share
        colour[share > best] = value
        best = np.maximum(best, share)
    if _overlap(row, first, last):
        busy = column_overlap(*_disjoint(row, first, last, n_columns), shape)
    return Coverage(lanes, start_s, stop_s, np.clip(busy, 0.0, 1.0), colour)


def _overlap(row: NDArray[np.int64], first: NDArray[np.float64], last: NDArray[np.float64]) -> bool:
    """Return whether any interval begins before the one ahead of it in its row has ended."""
    by_row = np.argsort(row.astype(np.uint16), kind="stable")
    row, first, last = row[by_row], first[by_row], last[by_row]
    return bool(((first[1:] < last[:-1] - 1e-6) & (row[1:] == row[:-1])).any())


def _disjoint(
    row: NDArray[np.int64], first: NDArray[np.float64], last: NDArray[np.float64], n_columns: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the part of each interval that no earlier one in its row covers."""
    order = np.argsort(first, kind="stable")
    order = order[np.argsort(row[order].astype(np.uint16), kind="stable")]
    row, first, last = row[order], first[order], last[order]
    # Each row's columns lie behind the columns of the row before, so that one running maximum serves all.
    base = row * (n_columns + 1.0)
    reach = np.maximum.accumulate(last + base) - base
    first[1:] = np.maximum(first[1:], np.where(row[1:] == row[:-1], reach[:-1], 0.0))
    return row, first, np.maximum(first, last)


def _extent(
    recording: RecordedData, start: NDArray[np.float64], stop: NDArray[np.float64]
) -> tuple[float, float]:
    starts = [run.start_s - recording.zero_s for run in recording.runs]
    stops = [run.stop_s - recording.zero_s for run in recording.runs if run.stop_s is not None]
    left = min([*starts, *start[:1].tolist()], default=0.0)
    if len(start):
        left = min(left, float(start.min()))
        stops.append(float(stop.max()))
    right = max(stops, default=left)
    return left, right if right > left else left + 1e-6


def extent_s(recording: RecordedData) -> float:
    """Return how many seconds a picture of a recording shows."""
    tasks = recording.tasks
    start_s, stop_s = _extent(recording, tasks.start, tasks.stop)
    return stop_s - start_s


def _colours(recording: RecordedData, tasks: TaskBlock, colours: Mapping[str, int]) -> NDArray[np.int64]:
    by_group = np.array([colours.get(group.prefix, 0) for group in recording.groups], np.int64)
    return by_group[tasks.group] if len(tasks) else np.empty(0, np.int64)
