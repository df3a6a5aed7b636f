"""The colours of prefixes, and of the page around them."""

from __future__ import annotations

__all__ = ["DARK", "ENDED_BADLY_RGB", "LIGHT", "PALETTE", "rgb"]

PALETTE: tuple[str, ...] = (
    *("b11f4b", "4cd676", "6887ff", "a67f38", "006d91", "dca0d6", "3ca694", "9b54c8", "f86685", "94ab39"),
    *("ac5107", "9c84c7", "ac606d", "7b566e", "667b9e", "97c4aa", "ccb93e", "aa9afc", "7541b8", "3375e3"),
)
"""Given by first appearance; far apart for colour-blind eyes, on light and on dark."""

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
