"""A recording as a static result: plain text, and HTML that needs neither kernel nor network."""

from taskscope.report.page import page_html, performance_html
from taskscope.report.picture import live_bundle
from taskscope.report.result import MAX_EMBEDDED_TASKS, result_bundle, still_bundle

__all__ = [
    "MAX_EMBEDDED_TASKS",
    "live_bundle",
    "page_html",
    "performance_html",
    "result_bundle",
    "still_bundle",
]
