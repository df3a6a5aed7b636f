"""A figure as a page of HTML that needs no network."""

from __future__ import annotations

from bokeh.embed import file_html
from bokeh.models import LayoutDOM
from bokeh.resources import Resources

from taskscope.errors import OptionError

__all__ = ["html_document"]


def html_document(layout: LayoutDOM, title: str, mode: str | None = None) -> str:
    """Return a page with the figure; `mode`: where Bokeh's scripts come from, by default the page."""
    try:
        resources = Resources(mode=mode or "inline")  # type: ignore[arg-type]  # Bokeh checks it
    except ValueError as error:
        raise OptionError(f"mode must be one of Bokeh's, such as 'inline' or 'cdn': {error}") from error
    return file_html(layout, resources, title)
