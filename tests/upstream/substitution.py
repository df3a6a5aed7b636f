"""Have the tests of ``dask.diagnostics`` and ``dask.callbacks`` test ours, and count that they did.

Loaded by pytest before anything is collected: every documented name of Dask's modules then is ours. A test
that never reached ours fails the session, but for those named in `OWN_HELPERS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import dask.callbacks
import dask.diagnostics
import dask.diagnostics.profile
import dask.diagnostics.profile_visualize
import dask.diagnostics.progress
import pytest

from taskscope import diagnostics
from taskscope.diagnostics.recorded import RecordedProfiler

NAMES = ("Callback", "CacheProfiler", "Profiler", "ProgressBar", "ResourceProfiler", "visualize")
MODULES: tuple[Any, ...] = (
    dask.diagnostics,
    dask.diagnostics.profile,
    dask.diagnostics.profile_visualize,
    dask.diagnostics.progress,
)
OWN_HELPERS = {
    "test_format_time": "a deprecated function that only formats a number",
    "test_unquote": "a helper of Dask's plots for graphs of before 2024",
    "test_get_colors": "the undocumented function that gives Dask's plots their colours",
    "test_cache_with_number": "makes a dask.cache.Cache and computes nothing with it",
}

ours: Counter[str] = Counter()
theirs: Counter[str] = Counter()
_running = [""]
_dask_callback = dask.callbacks.Callback


def _counted(method: Callable[..., Any], counter: Counter[str]) -> Callable[..., Any]:
    @wraps(method)
    def counting(*arguments: Any, **options: Any) -> Any:
        counter[_running[0]] += 1
        return method(*arguments, **options)

    return counting


def _count(kind: type, counter: Counter[str]) -> None:
    for name in ("__enter__", "register"):
        if name in vars(kind):
            setattr(kind, name, _counted(getattr(kind, name), counter))


for _name in NAMES[1:5]:
    _count(getattr(dask.diagnostics, _name), theirs)
for _kind in (diagnostics.Callback, RecordedProfiler):
    _count(_kind, ours)
diagnostics.visualize = _counted(diagnostics.visualize, ours)
for _module in MODULES:
    for _name in NAMES:
        if hasattr(_module, _name):
            setattr(_module, _name, getattr(diagnostics, _name))
# Only while modules are imported: Dask's own functions keep referring to their class.
dask.callbacks.Callback = diagnostics.Callback  # type: ignore[misc]  # what this file is about


def pytest_collection_finish() -> None:
    dask.callbacks.Callback = _dask_callback  # type: ignore[misc]  # see above


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    _running[0] = item.name.partition("[")[0]
    ours.setdefault(_running[0], 0)
    return (yield)


def _missed() -> list[str]:
    return sorted(name for name, hits in ours.items() if not hits and name not in OWN_HELPERS)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK and (_missed() or theirs):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reached = sum(hits > 0 for hits in ours.values())
    terminalreporter.section("substitution")
    terminalreporter.line(
        f"{reached} of {len(ours)} test functions reached taskscope, {sum(ours.values())} times in all"
    )
    for name, why in OWN_HELPERS.items():
        terminalreporter.line(f"not ours: {name}: {why}")
    for name in _missed():
        terminalreporter.line(f"NEVER REACHED TASKSCOPE: {name}")
    for name in theirs:
        terminalreporter.line(f"REACHED DASK'S OWN: {name}")
