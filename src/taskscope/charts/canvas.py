"""An empty figure with the user's options over ours, and what figures have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.models.annotations import Legend, LegendItem, Title
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from taskscope.analysis.display.colours import FAILED_COLOUR, LIGHT
from taskscope.analysis.quantities import printable
from taskscope.charts.scheme import Scheme

__all__ = ["add_legend", "add_note", "cut", "height_is_free", "label", "new_figure", "set_tooltips"]

LEGEND_COLUMNS = 4
MAX_LEGEND = 20
_ROW_PX = 24
_LABEL_SIZE = 60
_FORMULA = re.compile(r"\$\$|\\[\[\](){}]")
_OLD_NAMES = {"plot_width": "width", "plot_height": "height"}


def new_figure(options: dict[str, Any], **defaults: Any) -> figure:
    """Return a figure with `defaults` and over them the user's `options`; it raises for one that it lacks."""
    chosen = {_OLD_NAMES.get(name, name): value for name, value in options.items()}
    common = {"title": "Profile Results", "toolbar_location": "above", "width": 800, "height": 300}
    return figure(**{**common, "tools": "hover,save,reset,xwheel_zoom,xpan", **defaults, **chosen})


def height_is_free(options: Iterable[str]) -> bool:
    """Return whether the user leaves the height to us."""
    return {"height", "plot_height"}.isdisjoint(options)


def set_tooltips(plot: figure, tooltips: str | list[tuple[str, str]], **options: Any) -> None:
    """Have the figure's hover tools, if the user wants any, say this."""
    for hover in (tool for tool in plot.tools if isinstance(tool, HoverTool)):
        hover.tooltips = tooltips
        hover.point_policy = "follow_mouse"
        for name, value in options.items():
            setattr(hover, name, value)


def add_note(plot: figure, text: str) -> None:
    """Say in small print what is shown."""
    plot.add_layout(
        Title(text=text, text_font_size="9pt", text_font_style="normal", text_color=LIGHT["faint"]), "above"
    )


def add_legend(
    plot: figure, scheme: Scheme, prefixes: Iterable[str], *, ended_badly: bool = False, grow: bool = True
) -> None:
    """Add one legend of these prefixes below the plot, and, to `grow`, the room it needs."""
    present = set(prefixes)
    named = [p for p in scheme.numbers if p in present]
    entries = [(label(prefix, 26), scheme.colour(prefix)) for prefix in named[:MAX_LEGEND]]
    if len(named) > MAX_LEGEND:
        entries.append((f"{len(named) - MAX_LEGEND:,} more", "#ffffff"))
    if ended_badly:
        entries.append(("failed or interrupted", FAILED_COLOUR))
    if not entries:
        return
    rows = -(-len(entries) // LEGEND_COLUMNS)
    legend = Legend(
        items=_items(plot, entries), ncols=min(LEGEND_COLUMNS, len(entries)), border_line_color=None,
        location="left", margin=0, spacing=2, label_text_font_size="9pt", glyph_width=14, glyph_height=14,
    )  # fmt: skip
    plot.add_layout(legend, "below")
    if grow:
        plot.height = (plot.height or 300) + rows * _ROW_PX


def _items(plot: figure, entries: list[tuple[str, str]]) -> list[LegendItem]:
    # A legend shows renderers, and one drawing of all prefixes has no renderer for each.
    nowhere = np.full(len(entries), np.nan)
    source = ColumnDataSource({"x": nowhere, "y": nowhere, "colour": [colour for _, colour in entries]})
    swatches: GlyphRenderer[Any] = plot.scatter(
        "x", "y", source=source, marker="square", size=12, color="colour", name="swatch"
    )
    return [LegendItem(label=name, renderers=[swatches], index=i) for i, (name, _) in enumerate(entries)]


def cut(text: str, size: int | None) -> str:
    """Return one line of at most `size` characters (60 if None) in which every character can be seen."""
    limit = _LABEL_SIZE if size is None else max(int(size), 2)
    return printable(text, limit)


def label(text: str, size: int) -> str:
    """Return the same for where Bokeh looks for formulas, which it would draw with scripts of a network."""
    return _FORMULA.sub(lambda found: " ".join(found[0]), cut(text, size))
