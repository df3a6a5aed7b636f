"""The lanes of a Gantt chart as pixels: a column is coloured as high as it was busy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.colours import N_COLOURS
from taskscope.analysis.coverage import ENDED_BADLY, Coverage
from taskscope.report.palette import ENDED_BADLY_RGB, PALETTE, rgb

__all__ = ["LANE_PX", "STEPS", "bar_palette", "bar_pixels"]

LANE_PX = 14
"""Height of one lane; one more row of pixels separates it from the next."""

STEPS = 8
"""A column's topmost pixel is drawn in one of this many opacities, so that its area is right."""


def bar_palette() -> list[tuple[int, int, int, int]]:
    """Return the colours that `bar_pixels` refers to; the first is see-through."""
    colours = [*(rgb(c) for c in PALETTE[:N_COLOURS]), ENDED_BADLY_RGB]
    shades = [(*c, round(255 * (i + 1) / STEPS)) for c in colours for i in range(STEPS)]
    return [(0, 0, 0, 0), *shades]


def bar_pixels(coverage: Coverage) -> NDArray[np.uint8]:
    """Return places in `bar_palette`, of shape (lanes × (`LANE_PX` + 1), columns).

    Notes
    -----
    The coloured area of a column, opacity included, is its busy share to within half a step of opacity;
    a column that was busy at all is never empty. What ended badly is hatched.
    """
    n_lanes, n_columns = coverage.busy.shape
    eighths = np.rint(coverage.busy * LANE_PX * STEPS)
    eighths = np.where(coverage.busy > 0, np.maximum(eighths, 1), 0).astype(np.int64)
    from_bottom = np.arange(LANE_PX)[::-1][None, :, None]
    step = np.clip(eighths[:, None, :] - from_bottom * STEPS, 0, STEPS)
    shade = coverage.colour[:, None, :].astype(np.int64) * STEPS + step
    diagonal = (np.arange(LANE_PX)[:, None] + np.arange(n_columns)[None, :]) % 6 < 2
    hatched = (coverage.colour[:, None, :] == ENDED_BADLY) & diagonal[None] & (step == STEPS)
    shade = np.where(hatched, shade - STEPS // 2, shade)
    lanes = np.zeros((n_lanes, LANE_PX + 1, n_columns), np.uint8)
    lanes[:, :LANE_PX] = np.where(step > 0, shade, 0)
    return lanes.reshape(n_lanes * (LANE_PX + 1), n_columns)
