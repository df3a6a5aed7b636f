"""Draw profilers above each other on one x axis."""

from __future__ import annotations

import html
import tempfile
import warnings
import webbrowser
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskscope.analysis.display.pictures import prefix_colours
from taskscope.errors import OptionError
from taskscope.export.atomic import check_writable, write_atomically
from taskscope.sources.cell import in_kernel

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM

_DEFAULT_FILENAME = "profile.html"
_MARGIN_PX = 40


def visualize(
    profilers: Any,
    filename: str | PathLike[str] = _DEFAULT_FILENAME,
    show: bool = True,  # noqa: FBT001, FBT002 - dask.diagnostics takes these by place too
    save: bool | None = None,  # noqa: FBT001 - as show
    mode: str | None = None,
    *,
    overwrite: bool = False,
    **options: Any,
) -> LayoutDOM:
    """Draw profilers, above each other on one x axis.

    Parameters
    ----------
    profilers
        One or several.
    filename
        Where to save.
    show
        Show the plot: under the cell in a notebook, else in a browser.
    save
        Write a file; by default everywhere but in a notebook.
    mode
        Where the file has Bokeh's scripts from; by default they are in it, so that it needs no network.
    overwrite
        Replace a file of that name. Without it only ``profile.html`` is replaced, and no symbolic link.
    **options
        ``palette`` (the name of a Bokeh palette, or colours), ``label_size`` (longest text in the hover box,
        60 characters by default), and attributes of Bokeh's figure such as ``width``, which override
        taskscope's.

    Returns
    -------
    LayoutDOM
        The Bokeh figure, or the grid of several.

    Raises
    ------
    FileError
        Before anything is drawn, if the file cannot be written, or exists.
    AttributeError, OptionError
        If Bokeh's figures have no attribute of the name of an option, or an option has a wrong value.

    Notes
    -----
    Up to 10,000 tasks are drawn one by one. Beyond that the Gantt chart is a picture with the busy share of
    each column of a lane as its opacity, and a note.
    """
    if "file_path" in options:
        warnings.warn(
            "The file_path keyword argument is deprecated: use filename instead.", FutureWarning, stacklevel=2
        )
        filename = options.pop("file_path")
    drawn = list(profilers) if isinstance(profilers, Sequence) else [profilers]
    if not drawn:
        raise OptionError("profilers must be a profiler or a list of them, got an empty list")
    in_notebook = in_kernel()
    target = Path(filename).expanduser()
    replaces = overwrite or (str(filename) == _DEFAULT_FILENAME and not target.is_symlink())
    saves = not in_notebook if save is None else save
    if saves:
        check_writable(target, overwrite=replaces)
    layout = _draw(drawn, options)

    def page() -> bytes:
        from taskscope.charts import html_document

        return html_document(layout, "Profile Results", mode).encode("utf-8", "backslashreplace")

    if saves:
        write_atomically(target, lambda file: file.write(page()), overwrite=replaces)
    if show:
        _show(layout, page, target if saves else None, in_notebook=in_notebook)
    return layout


def _draw(profilers: Sequence[Any], options: dict[str, Any]) -> LayoutDOM:
    from taskscope.charts import Scheme, stacked

    # Profilers of other packages have Dask's `_plot` alone.
    recorded = [profiler for profiler in profilers if hasattr(profiler, "draw")]
    if len(profilers) == 1 or not recorded:
        figures = [profiler._plot(**options) for profiler in profilers]
        return figures[0] if len(figures) == 1 else stacked(figures)
    starts, stops = zip(*(profiler.span() for profiler in recorded), strict=True)
    numbers = {prefix: n for p in recorded for prefix, n in prefix_colours(p.recording).items()}
    scheme = Scheme.of(numbers, options.get("palette"))
    with_legend = next((profiler for profiler in recorded if profiler.has_prefixes), None)
    figures = []
    for profiler in profilers:
        if profiler not in recorded:
            figures.append(profiler._plot(**options))
            continue
        shared = {"scheme": scheme, "legend": profiler is with_legend} if profiler.has_prefixes else {}
        figures.append(profiler.draw(min(starts), max(stops), **{**options, **shared}))
    return stacked(figures)


def _show(layout: LayoutDOM, page: Callable[[], bytes], saved: Path | None, *, in_notebook: bool) -> None:
    if in_notebook:
        from IPython.display import display

        # In a frame of its own it needs neither an extension nor a trusted notebook, and cannot reach either.
        source = html.escape(page().decode("utf-8"))
        style = f"width:100%;height:{_height_px(layout)}px;border:0"
        frame = f'<iframe sandbox="allow-scripts allow-downloads" style="{style}" srcdoc="{source}"></iframe>'
        display({"text/plain": "Profile Results", "text/html": frame}, raw=True)
        return
    if saved is None:
        with tempfile.NamedTemporaryFile("wb", prefix="profile-", suffix=".html", delete=False) as file:
            file.write(page())
        saved = Path(file.name)
    webbrowser.open(saved.resolve().as_uri())


def _height_px(layout: Any) -> int:
    rows = getattr(layout, "children", None)
    figures = [row[0] for row in rows] if rows else [layout]
    return sum(figure.height or 600 for figure in figures) + _MARGIN_PX
