from __future__ import annotations

import re
import subprocess
from pathlib import Path

HEAVY = ("IPython", "bokeh", "distributed", "ipywidgets", "pandas", "pyarrow")


def run(bin_directory: Path, *command: str, cwd: Path) -> str:
    """Run a command of the fresh environment, where nothing else is on the PATH."""
    done = subprocess.run(
        [bin_directory / command[0], *command[1:]],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PATH": str(bin_directory), "HOME": str(cwd)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_jupyterlab_finds_the_extension_enabled(installed_without_node: Path, tmp_path: Path) -> None:
    listed = run(installed_without_node, "jupyter", "labextension", "list", cwd=tmp_path)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", listed)
    line = next(line for line in plain.splitlines() if " taskscope " in line)
    assert line.split()[2:] == ["enabled", "OK", "(python,", "taskscope)"]


def test_import_loads_nothing_heavy(installed_without_node: Path, tmp_path: Path) -> None:
    program = f"import sys, taskscope; print([name for name in {HEAVY} if name in sys.modules])"
    assert run(installed_without_node, "python", "-c", program, cwd=tmp_path) == "[]\n"


def test_a_plain_script_is_profiled_by_the_installed_wheel(
    installed_without_node: Path, tmp_path: Path
) -> None:
    program = (
        "import dask, taskscope\n"
        "with taskscope.profile(display=False) as run:\n"
        "    dask.delayed(sum)([1, 2]).compute(scheduler='threads')\n"
        "print(len(run.recording.tasks))\n"
    )
    assert run(installed_without_node, "python", "-c", program, cwd=tmp_path) == "1\n"


def test_pyarrow_is_not_installed_and_parquet_alone_asks_for_it(
    installed_without_node: Path, tmp_path: Path
) -> None:
    program = (
        "import dask, importlib.util, taskscope\n"
        "print(importlib.util.find_spec('pyarrow'))\n"
        "with taskscope.profile(display=False, save='a.taskscope') as run:\n"
        "    dask.delayed(sum)([1, 2]).compute(scheduler='threads')\n"
        "loaded = taskscope.load('a.taskscope')\n"
        "print(list(loaded.table('tasks')['status']))\n"
        "loaded.to_csv('csv')\n"
        "try:\n"
        "    loaded.save('a.parquet')\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert run(installed_without_node, "python", "-c", program, cwd=tmp_path) == (
        "None\n['finished']\nParquet needs pyarrow; install it: pip install 'taskscope[parquet]'\n"
    )
