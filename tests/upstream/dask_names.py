"""Have the tests of ``dask.diagnostics`` and ``dask.callbacks`` test ours, and count that they did.

Loaded by pytest before anything is collected: every documented name of Dask's modules then is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.callbacks
import dask.diagnostics
import dask.diagnostics.profile
import dask.diagnostics.profile_visualize
import dask.diagnostics.progress
import pytest

from taskscope import diagnostics
from taskscope.diagnostics.profilers import RecordedProfiler
from tests.upstream.reach import Reach

NAMES = ("Callback", "CacheProfiler", "Profiler", "ProgressBar", "ResourceProfiler", "visualize")
MODULES: tuple[Any, ...] = (
    dask.diagnostics,
    dask.diagnostics.profile,
    dask.diagnostics.profile_visualize,
    dask.diagnostics.progress,
)
REACH = Reach(
    ("taskscope", "Dask's own"),
    elsewhere={
        "test_format_time": "a deprecated function that only formats a number",
        "test_unquote": "a helper of Dask's plots for graphs of before 2024",
        "test_get_colors": "the undocumented function that gives Dask's plots their colours",
        "test_cache_with_number": "makes a dask.cache.Cache and computes nothing with it",
    },
    different={},
)
_dask_callback = dask.callbacks.Callback


def _count(kind: type, counted: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    for name in ("__enter__", "register"):
        if name in vars(kind):
            setattr(kind, name, counted(getattr(kind, name)))


for _name in NAMES[1:5]:
    _count(getattr(dask.diagnostics, _name), REACH.theirs)
for _kind in (diagnostics.Callback, RecordedProfiler):
    _count(_kind, REACH.ours)
diagnostics.visualize = REACH.ours(diagnostics.visualize)
for _module in MODULES:
    for _name in NAMES:
        if hasattr(_module, _name):
            setattr(_module, _name, getattr(diagnostics, _name))
# Only while modules are imported: Dask's own functions keep referring to their class.
dask.callbacks.Callback = diagnostics.Callback  # type: ignore[misc]  # what this file is about


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(REACH)


def pytest_collection_finish() -> None:
    dask.callbacks.Callback = _dask_callback  # type: ignore[misc]  # see above
