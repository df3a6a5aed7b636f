"""What layers above do for those below: each function named here, and loaded when first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

__all__ = ["HOMES", "Face", "face"]

Face: TypeAlias = Literal[
    "comparison_bundle",
    "comparison_to_html",
    "live_bundle",
    "load",
    "plot",
    "profile",
    "result_bundle",
    "save",
    "still_bundle",
    "summary_text",
    "to_chrome_trace",
    "to_csv",
    "to_html",
    "to_parquet",
    "to_speedscope",
]

HOMES: dict[Face, str] = {
    "comparison_bundle": "taskscope.report.comparison",
    "comparison_to_html": "taskscope.export.save",
    "live_bundle": "taskscope.report",
    "load": "taskscope.export",
    "plot": "taskscope.charts",
    "profile": "taskscope.analysis.profile",
    "result_bundle": "taskscope.report",
    "save": "taskscope.export",
    "still_bundle": "taskscope.report",
    "summary_text": "taskscope.analysis.summary",
    "to_chrome_trace": "taskscope.export.save",
    "to_csv": "taskscope.export.folder",
    "to_html": "taskscope.export.save",
    "to_parquet": "taskscope.export.folder",
    "to_speedscope": "taskscope.export.save",
}
"""The module of each function."""


def face(name: Face) -> Callable[..., Any]:
    """Return the function of this name."""
    found: Callable[..., Any] = getattr(importlib.import_module(HOMES[name]), name)
    return found
