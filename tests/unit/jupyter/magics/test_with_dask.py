"""Taskscope loads by itself where a person wants it: once dask is imported, and not before."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

SHELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
def state():
    return ["dask" in sys.modules, "numpy" in sys.modules, "profile" in shell.magics_manager.magics["cell"]]
shell.run_line_magic("load_ext", "taskscope.with_dask")
told = [state()]
"""
TELL = "\nprint(json.dumps(told))"


def told_by(code: str) -> Any:
    """Return what a shell of another process says in its last line."""
    command = [sys.executable, "-W", "error", "-c", SHELL + code + TELL]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(ended.stdout.splitlines()[-1])


def test_it_loads_right_after_dask_was_imported_and_nothing_is_imported_before() -> None:
    told = told_by(
        """
shell.run_cell("import json")
told.append(state())
shell.run_cell("import dask.local; recorded = dask.get({'x': (abs, -7)}, 'x')")
import taskscope
told.append([*state(), shell.user_ns["recorded"], len(taskscope.runs())])
"""
    )
    # The compute of the very cell that imports dask is recorded.
    assert told == [[False, False, False], [False, False, False], [True, True, True, 7, 1]]


def test_where_dask_is_there_it_loads_at_once_and_again_changes_nothing() -> None:
    told = told_by(
        """
shell.run_line_magic("unload_ext", "taskscope.with_dask")
shell.run_cell("import dask")
told.append(state())
for _ in range(2):
    shell.run_line_magic("reload_ext", "taskscope.with_dask")
    told.append(state()[2])
"""
    )
    assert told[0] == [False, False, False]
    assert told[1][0] is True
    assert told[1][2:] + told[2:] == [False, True, True]


def test_what_keeps_it_from_loading_keeps_nobody_from_importing_dask() -> None:
    told = told_by(
        """
def fail(name):
    raise OSError("no disk")
shell.extension_manager.load_extension = fail
told.append([shell.run_cell("import dask").success, *state()[::2]])
"""
    )
    assert told == [[False, False, False], [True, True, False]]


def test_loading_imports_what_polls_schedulers_with_the_first_client_only() -> None:
    told = told_by(
        """
def has(*modules):
    return [name in sys.modules for name in modules]
heavy = "distributed", "pandas", "ipywidgets", "taskscope.sources.cluster.scheduler"
shell.run_cell("import dask.local; recorded = dask.get({'x': (abs, -7)}, 'x')")
told = [state()[2], has(*heavy)]
shell.run_cell("from distributed import Client")
told.append(has(*heavy)[-1])
shell.run_cell("with Client(n_workers=1, dashboard_address=':0', processes=False): pass")
told.append(has(*heavy)[-1])
"""
    )
    assert told == [True, [False] * 4, False, True]
