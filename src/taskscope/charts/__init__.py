"""Bokeh figures of a recording. Bokeh is loaded when something here is."""

from taskscope.errors import required

with required("a figure", "bokeh", "'bokeh>=3.4'"):
    import bokeh  # noqa: F401 - only whether it is there

from taskscope.charts.canvas import Scheme, html_document, stacked
from taskscope.charts.figures import MAX_GLYPHS, plot, plot_cache, plot_resources, plot_tasks

__all__ = [
    "MAX_GLYPHS",
    "Scheme",
    "html_document",
    "plot",
    "plot_cache",
    "plot_resources",
    "plot_tasks",
    "stacked",
]
