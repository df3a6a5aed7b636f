"""Profilers drawn as Dask draws them, on one time axis, and shown where the user is."""

from __future__ import annotations

import html
import tempfile
import warnings
import webbrowser
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskscope.errors import OptionError
from taskscope.export.atomic import check_writable, write_atomically
from taskscope.options import checked_path
from taskscope.report.figures import Drawing, drawn
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
    overwrite: bool = True,
    **options: Any,
) -> LayoutDOM:
    """Draw profilers, above each other on one x axis, by Dask's own functions.

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
        Replace a file of that name; a symbolic link is replaced, too, and not followed.
    **options
        ``palette`` (the name of a Bokeh palette), ``label_size``, and attributes of Bokeh's figure such as
        ``width``, which override Dask's.

    Returns
    -------
    LayoutDOM
        The Bokeh figure, or the grid of several.

    Raises
    ------
    FileError
        Before anything is drawn, if the file cannot be written, or exists and `overwrite` is false.
    MissingDependencyError
        If Bokeh is not installed.
    AttributeError, OptionError
        If Bokeh's figures have no attribute of the name of an option, or an option has a wrong value.

    Notes
    -----
    Tasks, and lines of results in memory, have the colour of their prefix. The time of all is counted from
    the earliest start.
    """
    if "file_path" in options:
        warnings.warn(
            "The file_path keyword argument is deprecated: use filename instead.", FutureWarning, stacklevel=2
        )
        filename = options.pop("file_path")
    checked = _checked(profilers)
    in_notebook = in_kernel()
    target = checked_path(filename, "filename")
    saves = not in_notebook if save is None else save
    if saves:
        check_writable(target, overwrite=overwrite)
    layout = drawn_together(checked, options)
    page = partial(_page, layout, mode)
    if saves:
        write_atomically(target, lambda file: file.write(page()), overwrite=overwrite)
    if show:
        _show(layout, page, target if saves else None, in_notebook=in_notebook)
    return layout


def drawn_together(profilers: Sequence[Any], options: dict[str, Any]) -> LayoutDOM:
    """Return the figure of a profiler, or the layout of several; those of other packages draw themselves."""
    recorded = [profiler for profiler in profilers if hasattr(profiler, "span")]
    spans = [profiler.span() for profiler in recorded]
    start_s = min((start for start, _ in spans), default=0.0)
    end_s = max((end for _, end in spans), default=0.0)
    return drawn(
        [
            Drawing(partial(profiler.draw, start_s, end_s)) if profiler in recorded else profiler
            for profiler in profilers
        ],
        options,
    )


def _checked(profilers: object) -> list[Any]:
    """Return the profilers to draw."""
    checked = list(profilers) if isinstance(profilers, Sequence) else [profilers]
    if not checked:
        raise OptionError("profilers must be a profiler or a list of them, got an empty list")
    for profiler in checked:
        if not hasattr(profiler, "_plot"):
            raise OptionError(f"profilers must be a profiler or a list of them, got {profiler!r:.80}")
    return checked


def _page(layout: LayoutDOM, mode: str | None) -> bytes:
    from bokeh.embed import file_html
    from bokeh.resources import Resources

    try:
        resources = Resources(mode=mode or "inline")  # type: ignore[arg-type]  # Bokeh checks it
    except ValueError as error:
        raise OptionError(f"mode must be one of Bokeh's, such as 'inline' or 'cdn': {error}") from error
    return file_html(layout, resources, "Profile Results").encode("utf-8", "backslashreplace")


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
