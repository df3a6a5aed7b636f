"""See what a Dask computation is doing while it runs: in the cell, in a docked panel, or in a saved file.

Public names are loaded when they are first used, so that ``import taskscope`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from taskscope.model.version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from taskscope.errors import TaskscopeError
    from taskscope.jupyter.widgets import (
        CacheWidget,
        Dashboard,
        FlameWidget,
        GanttWidget,
        ProgressWidget,
        ResourceWidget,
    )
    from taskscope.profiling import last, profile, runs
    from taskscope.recording import Recording, compare, load

_HOMES = {
    "CacheWidget": "taskscope.jupyter.widgets",
    "Dashboard": "taskscope.jupyter.widgets",
    "FlameWidget": "taskscope.jupyter.widgets",
    "GanttWidget": "taskscope.jupyter.widgets",
    "ProgressWidget": "taskscope.jupyter.widgets",
    "Recording": "taskscope.recording",
    "ResourceWidget": "taskscope.jupyter.widgets",
    "TaskscopeError": "taskscope.errors",
    "compare": "taskscope.recording",
    "last": "taskscope.profiling",
    "load": "taskscope.recording",
    "profile": "taskscope.profiling",
    "runs": "taskscope.profiling",
}

__all__ = [
    "CacheWidget",
    "Dashboard",
    "FlameWidget",
    "GanttWidget",
    "ProgressWidget",
    "Recording",
    "ResourceWidget",
    "TaskscopeError",
    "__version__",
    "compare",
    "last",
    "load",
    "profile",
    "runs",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Watch every Dask compute of this kernel: ``%load_ext taskscope``."""
    importlib.import_module("taskscope.jupyter.magics").load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Stop watching: ``%unload_ext taskscope``."""
    importlib.import_module("taskscope.jupyter.magics").unload(shell)
