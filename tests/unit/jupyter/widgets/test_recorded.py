"""What a finished recording's model answers, and refuses to, in a kernel's own process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.kernel import Kernel, running_kernel

SETUP = """
import dask, taskscope
from taskscope import Dashboard, GanttWidget
from operator import add, neg
from dask.local import get_sync
graph = {'x': (neg, 1), 'y': (neg, 'x'), 'z': (add, 'x', 'y')}
with taskscope.profile(display=False) as run: get_sync(graph, ['z'])
run.recording.save('again.taskscope', overwrite=True)
shown = {
    'memory': GanttWidget(run.recording),
    'file': Dashboard(taskscope.load('again.taskscope')),
}
def ask(name, **content):
    # What ipykernel does with a message of the page.
    comm = shown[name].recorded.comm
    comm.handle_msg({'content': {'data': {'method': 'custom', 'content': content}}, 'buffers': []})
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with running_kernel() as kernel:
        kernel.run(f"import os; os.chdir({str(tmp_path_factory.mktemp('files'))!r})")
        kernel.run(SETUP)
        yield kernel


def answers(kernel: Kernel, code: str) -> list[object]:
    return [message["data"]["content"] for message in kernel.run(code).of("comm_msg")]


@pytest.mark.parametrize("name", ["memory", "file"])
def test_a_page_is_told_what_a_task_of_a_recording_needs_and_what_needs_it(kernel: Kernel, name: str) -> None:
    assert answers(kernel, f"for row in range(4): ask({name!r}, verb='dependencies', row=row)") == [
        {
            "re": "dependencies",
            "row": 0,
            "links": {
                "dependencies": [],
                "n_dependencies": 0,
                "dependents": [[1, "y"], [2, "z"]],
                "n_dependents": 2,
            },
        },
        {
            "re": "dependencies",
            "row": 1,
            "links": {
                "dependencies": [[0, "x"]],
                "n_dependencies": 1,
                "dependents": [[2, "z"]],
                "n_dependents": 1,
            },
        },
        {
            "re": "dependencies",
            "row": 2,
            "links": {
                "dependencies": [[0, "x"], [1, "y"]],
                "n_dependencies": 2,
                "dependents": [],
                "n_dependents": 0,
            },
        },
        {"re": "dependencies", "row": 3, "links": None},
    ]


def test_a_page_that_asks_for_anything_else_is_refused(kernel: Kernel) -> None:
    asked = (
        "ask('file', verb='dependencies', row=-1); ask('file', verb='stop', run=0, way='cancel'); ask('file')"
    )
    assert answers(kernel, asked) == [
        {"re": None, "error": "row must be a row number from 0, got -1"},
        {"re": None, "error": "a finished recording only answers questions about dependencies"},
        {
            "re": None,
            "error": "unknown verb None; known are hello, resync, rate, renew, stop, dependencies, save, "
            "compare, explain, profile, tell",
        },
    ]
