"""Colours of pages and pictures, given to prefixes by first appearance, and the names of lanes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskscope.analysis.totals import prefix_progress
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import Group, Lane, number_prefixes

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


_UNNAMED = re.compile(r"ThreadPoolExecutor-(\d+)_(\d+)")


def lane_names(lanes: Sequence[Lane]) -> dict[int, str]:
    """Return names by the lane's number, as in the page: threads without one are thread 1 and on.

    Examples
    --------
    >>> lane_names([Lane(0, "7", 1, "ThreadPoolExecutor-0_0"), Lane(1, "7", 2, "main")])
    {0: 'thread 1', 1: 'main'}
    """
    found = {lane.id: _UNNAMED.fullmatch(lane.label) for lane in lanes}
    pools = {match[1] for match in found.values() if match}
    return {lane.id: _name(lane.label, found[lane.id], len(pools)) for lane in lanes}


def _name(label: str, match: re.Match[str] | None, n_pools: int) -> str:
    if match is None:
        return label
    pool, thread = (int(number) + 1 for number in match.groups())
    return f"thread {thread}" if n_pools == 1 else f"thread {thread} of pool {pool}"
