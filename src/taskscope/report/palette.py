"""The colours of prefixes, and of the page around them."""

from __future__ import annotations

from taskscope.analysis.colours import PALETTE

__all__ = ["DARK", "ENDED_BADLY_RGB", "LIGHT", "PALETTE", "rgb"]

ENDED_BADLY_RGB = (214, 0, 0)
"""Tasks that erred, were interrupted or lost; the picture hatches them, so that colour is not all."""

LIGHT = {"paper": "#ffffff", "ink": "#1f2328", "faint": "#59636e", "line": "#d1d9e0"}
DARK = {"paper": "#161b22", "ink": "#e6edf3", "faint": "#9198a1", "line": "#3d444d"}


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the three parts of a colour of `PALETTE`.

    Examples
    --------
    >>> rgb("b11f4b")
    (177, 31, 75)
    """
    return int(colour[0:2], 16), int(colour[2:4], 16), int(colour[4:6], 16)
