"""Which colour a prefix gets: by first appearance among the tasks of a recording, never by hash."""

from __future__ import annotations

from taskscope.analysis.time_left import prefix_progress
from taskscope.model.recording import RecordedData

__all__ = ["N_COLOURS", "PALETTE", "prefix_colours"]

PALETTE: tuple[str, ...] = (
    *("6887ff", "4cd676", "a67f38", "006d91", "dca0d6", "3ca694", "9b54c8", "94ab39", "ccb93e", "7b566e"),
    *("97c4aa", "7541b8", "667b9e", "aa9afc", "ac5107", "9c84c7", "3375e3", "ac606d", "b11f4b", "f86685"),
)
"""Given by first appearance; far apart for colour-blind eyes, on light and on dark.

Reds come last, for red is what failed.
"""

N_COLOURS = len(PALETTE)
"""Prefixes take turns with this many colours."""


def prefix_colours(recording: RecordedData) -> dict[str, int]:
    """Return the number of each prefix's colour: the order of progress rows, as in the live views."""
    prefixes = dict.fromkeys(row.prefix for row in prefix_progress(recording))
    return {prefix: place % N_COLOURS for place, prefix in enumerate(prefixes)}
