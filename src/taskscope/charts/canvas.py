"""An empty figure with the user's options over the defaults, and common parts of figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from bokeh.embed import file_html
from bokeh.layouts import gridplot
from bokeh.models import ColumnDataSource, CustomJSHover, GridPlot, HoverTool, LayoutDOM, Range1d
from bokeh.models.annotations import Legend, LegendItem, Title
from bokeh.models.axes import Axis
from bokeh.models.grids import Grid
from bokeh.models.renderers import GlyphRenderer
from bokeh.palettes import all_palettes
from bokeh.plotting import figure
from bokeh.resources import Resources
from numpy.typing import NDArray

from taskscope.analysis.display.pictures import (
    DARK,
    FAILED_COLOUR,
    LIGHT,
    N_COLOURS,
    PALETTE,
    Coverage,
    measure_coverage,
    prefix_colours,
    rgb,
)
from taskscope.analysis.quantities import printable
from taskscope.errors import OptionError, unknown_name
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import distinct

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
    """Set the tooltips of the figure's hover tools, if it has any."""
    for hover in (tool for tool in plot.tools if isinstance(tool, HoverTool)):
        hover.tooltips = tooltips
        hover.point_policy = "follow_mouse"
        for name, value in options.items():
            setattr(hover, name, value)


def add_note(plot: figure, text: str) -> None:
    """Add a note in small print."""
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
    """Return the same where Bokeh would draw formulas with scripts from a network."""
    return _FORMULA.sub(lambda found: " ".join(found[0]), cut(text, size))


_BOKEHS_INK = "#444444"


def darken(plot: figure) -> None:
    """Set the colours of a figure for a dark background.

    Set on the figure itself, because a theme belongs to the document that a figure is put into.
    """
    plot.background_fill_color = plot.border_fill_color = DARK["paper"]
    plot.outline_line_color = DARK["line"]
    parts: list[Any] = [*plot.axis, *plot.grid, *plot.left, *plot.right, *plot.above, *plot.below, plot.title]
    for part in parts:
        if isinstance(part, Axis):
            part.major_label_text_color = DARK["ink"]
            part.axis_line_color = part.major_tick_line_color = part.minor_tick_line_color = DARK["line"]
            if part.axis_label_text_color == _BOKEHS_INK:
                part.axis_label_text_color = DARK["ink"]
        elif isinstance(part, Grid):
            part.grid_line_color = None if part.grid_line_color is None else DARK["line"]
        elif isinstance(part, Legend):
            part.label_text_color = DARK["ink"]
            part.background_fill_color = DARK["paper"]
        elif isinstance(part, Title):
            part.text_color = DARK["ink"] if part is plot.title else DARK["faint"]


_MAX_CELLS = 48_000
_MAX_COLUMNS = 3_000
_MIN_COLUMNS = 600
_IDLE = N_COLOURS + 1
_MIN_ALPHA = 24
"""A cell that was busy at all must be seen."""


def draw_density(
    plot: figure, recording: RecordedData, lanes: NDArray[np.int64], scheme: Scheme, shift_s: float
) -> int:
    """Draw all tasks as one picture, whose last lane is at the bottom, and return how many columns it has."""
    n_columns = int(np.clip(_MAX_CELLS // max(len(lanes), 1), _MIN_COLUMNS, _MAX_COLUMNS))
    coverage = measure_coverage(recording, n_columns)
    names = _names(recording)
    source = ColumnDataSource(
        {
            "image": [_pixels(coverage, _rgb(recording, scheme))[::-1]],
            "busy": [np.rint(coverage.busy * 100).astype(np.uint8)[::-1]],
            "colour": [np.where(coverage.busy > 0, coverage.colour, _IDLE)[::-1].astype(np.uint8)],
        }
    )
    left, width = coverage.start_s + shift_s, coverage.stop_s - coverage.start_s
    plot.image_rgba(source=source, image="image", x=left, dw=width, y=-0.45, dh=len(lanes) - 0.1, dilate=True)
    named = CustomJSHover(args={"names": names}, code="return names[value]")
    tooltips = [("Mostly", "@colour{custom}"), ("Busy", "@busy%"), ("Time", "$x{0.000} s")]
    set_tooltips(plot, tooltips, formatters={"@colour": named})
    return n_columns


def _names(recording: RecordedData) -> list[str]:
    """Return the prefixes of each colour number; more than twenty prefixes share them."""
    sharing: list[list[str]] = [[] for _ in range(N_COLOURS)]
    for prefix, number in prefix_colours(recording).items():
        sharing[number].append(prefix)
    return [cut(" or ".join(prefixes), 60) for prefixes in sharing] + ["failed or interrupted", "nothing"]


def _rgb(recording: RecordedData, scheme: Scheme) -> NDArray[np.uint8]:
    colours = ["#808080"] * N_COLOURS + [FAILED_COLOUR]
    for prefix, number in reversed(prefix_colours(recording).items()):
        colours[number] = scheme.colour(prefix)
    return np.array([rgb(colour) for colour in colours], np.uint8)


def _pixels(coverage: Coverage, colours: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return one RGBA number per cell; its opacity is the busy share."""
    alpha = np.rint(coverage.busy * 255)
    alpha = np.where(coverage.busy > 0, np.maximum(alpha, _MIN_ALPHA), 0).astype(np.uint8)
    rgba = np.empty((*coverage.busy.shape, 4), np.uint8)
    rgba[..., :3] = colours[coverage.colour]
    rgba[..., 3] = alpha
    return rgba.view(np.uint32).reshape(coverage.busy.shape)


def html_document(layout: LayoutDOM, title: str, mode: str | None = None) -> str:
    """Return a page with the figure; `mode`: the source of Bokeh's scripts, by default the page."""
    try:
        resources = Resources(mode=mode or "inline")  # type: ignore[arg-type]  # Bokeh checks it
    except ValueError as error:
        raise OptionError(f"mode must be one of Bokeh's, such as 'inline' or 'cdn': {error}") from error
    return file_html(layout, resources, title)


PaletteOption: TypeAlias = str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Scheme:
    """Colours by prefix, as in the live views, or of a palette in turn by first appearance."""

    numbers: Mapping[str, int]
    colours: tuple[str, ...]

    @staticmethod
    def of(numbers: Mapping[str, int], palette: PaletteOption = None) -> Scheme:
        """Return the scheme for prefixes of these numbers, by default of taskscope's palette."""
        if palette is None:
            return Scheme(dict(numbers), PALETTE)
        return Scheme({prefix: i for i, prefix in enumerate(numbers)}, _colours(palette, len(numbers)))

    def colour(self, prefix: str) -> str:
        """Return the colour of a prefix."""
        return self.colours[self.numbers.get(prefix, 0) % len(self.colours)]


def _colours(palette: object, n: int) -> tuple[str, ...]:
    if isinstance(palette, str):
        sizes = all_palettes.get(palette)
        if sizes is None:
            raise OptionError(unknown_name("palette", palette, sorted(all_palettes)[:1000]))
        return tuple(sizes[min((size for size in sizes if size >= n), default=max(sizes))])
    colours = tuple(palette) if isinstance(palette, Iterable) else ()
    if not colours or not all(isinstance(colour, str) for colour in colours):
        raise OptionError(
            f"palette must be the name of a Bokeh palette or a list of colours, got {palette!r}"
        )
    return colours


Series = tuple[NDArray[np.float64], NDArray[np.float64]]


def running_sum(times: NDArray[np.float64], changes: NDArray[np.float64]) -> Series:
    """Return the moments at which a sum changes, in order, and the sum after each.

    Examples
    --------
    >>> times, sums = running_sum(np.array([2.0, 1.0, 1.0]), np.array([-3.0, 1.0, 2.0]))
    >>> times.tolist(), sums.tolist()
    ([1.0, 2.0], [3.0, 0.0])
    """
    moments, place = np.unique(times, return_inverse=True)
    return moments, np.cumsum(np.bincount(place, changes, len(moments)))


def thinned(series: Series, n_columns: int) -> Series:
    """Return a series with at most three points in each of `n_columns` spans of time.

    They are the least, the greatest and the last of each, so that no extreme is lost at this resolution.

    Examples
    --------
    >>> times, values = thinned((np.arange(9.0), np.array([0.0, 5, 1, 2, 9, 3, 1, 0, 2])), 2)
    >>> times.tolist(), values.tolist()
    ([0.0, 1.0, 3.0, 4.0, 7.0, 8.0], [0.0, 5.0, 2.0, 9.0, 0.0, 2.0])
    """
    times, values = series
    if len(times) <= 3 * n_columns:
        return series
    span = times[-1] - times[0]
    column = np.minimum(((times - times[0]) / span * n_columns).astype(np.int64), n_columns - 1)
    order = np.lexsort((values, column))
    ends = np.flatnonzero(np.diff(column, append=column[-1] + 1))
    starts = np.concatenate([[0], ends[:-1] + 1])
    kept = distinct(np.concatenate([order[starts], order[ends], ends]))
    return times[kept], values[kept]


_SIDE_PX = 90
_LESS_PX = 30


def stacked(figures: Sequence[figure]) -> GridPlot:
    """Return figures as one layout: the title on the first, the name of the x axis under the last."""
    top = figures[0]
    ends = [f.x_range.end for f in figures if isinstance(f.x_range, Range1d)]
    if isinstance(top.x_range, Range1d) and ends:
        top.x_range.end = max(ends)
    for below in figures[1:]:
        below.x_range = top.x_range
        below.title = None
        below.min_border_top = 20
        below.height = (below.height or 300) - _LESS_PX
    for above in figures[:-1]:
        above.xaxis.axis_label = None
        above.min_border_bottom = 20
        above.height = (above.height or 300) - _LESS_PX
    for each in figures:
        each.min_border_left = each.min_border_right = _SIDE_PX
    return gridplot([[f] for f in figures])
