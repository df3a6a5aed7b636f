"""No module of ours leads back to itself: not for types or in functions, nor by a name in a string."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

import taskscope

SRC = Path(taskscope.__file__).parents[1]


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """What each module of ours imports."""
    graph = grimp.build_graph("taskscope", cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def strings_in(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_modules_are_named_in_strings_by_the_public_names_only(imports: dict[str, set[str]]) -> None:
    modules = set(imports) - {"taskscope"}
    named = {
        path.relative_to(SRC).as_posix(): found
        for path in (SRC / "taskscope").rglob("*.py")
        if (found := strings_in(path) & modules)
    }
    # The source of these is sent to schedulers and workers.
    sent = {
        "taskscope.sources.cluster.plugin",
        "taskscope.sources.line_meter",
        "taskscope.sources.stacks",
    }
    named = {path: found - sent for path, found in named.items() if found - sent}
    assert list(named) == ["taskscope/__init__.py"]


READ_THRICE = """
import sys
import dask
import taskscope

with taskscope.profile() as block:
    dask.compute([dask.delayed(sum)([i]) for i in range(300)], scheduler="threads")
block.recording.summary(), block.recording.explain(), block.recording.report()
print("\\nnumpy.ma" if "numpy.ma" in sys.modules else "\\nneither")
"""


def test_no_compute_and_no_reading_of_it_imports_masked_arrays() -> None:
    # See `distinct`: the thread that did would parse text while the user's thread may format a traceback.
    done = subprocess.run([sys.executable, "-c", READ_THRICE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "neither"
