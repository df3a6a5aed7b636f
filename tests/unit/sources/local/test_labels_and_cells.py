from __future__ import annotations

import sys
import threading
import zlib
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from types import SimpleNamespace
from typing import Any

import dask
import pytest

import taskscope
from taskscope.sources.cell import vscode_window
from taskscope.sources.local.source import run_label
from tests.support.computes.local_computes import run_facts


def compute() -> None:
    dask.get({"x": (int,)}, "x")


def request(code: str = "x", cell: str | None = None, kind: str = "execute_request") -> Mapping[str, Any]:
    """Return a message that asks the kernel to run a cell."""
    metadata = {} if cell is None else {"cellId": cell}
    return {"header": {"msg_type": kind}, "metadata": metadata, "content": {"code": code}}


def shell_of(
    monkeypatch: pytest.MonkeyPatch,
    parent: Mapping[str, Any] | None,
    *,
    inputs: Sequence[str] = ("x",),
    count: int = 2,
) -> None:
    """Pretend to be in a kernel that runs the request `parent`, or in a terminal without one."""
    kernel = None if parent is None else SimpleNamespace(get_parent=lambda: parent)
    history = SimpleNamespace(input_hist_raw=["", *inputs])
    shell = SimpleNamespace(kernel=kernel, execution_count=count, history_manager=history)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


def cell_of(run: taskscope.profile) -> tuple[str | None, int | None, int | None]:
    """Return cell, prompt number and checksum of the source of a compute."""
    compute()
    (found,) = run.recording.runs
    return found.cell, found.execution_count, found.source_crc


def test_computes_get_the_label_of_the_context_they_start_in(run: taskscope.profile) -> None:
    def labelled() -> None:
        run_label.set("quick")
        compute()
        other = threading.Thread(target=compute)
        other.start()
        other.join()

    copy_context().run(labelled)
    compute()
    assert run_facts(run, "label") == [("quick",), (None,), (None,)]


def test_outside_of_ipython_there_is_no_cell(run: taskscope.profile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    compute()
    assert "IPython" not in sys.modules
    assert run_facts(run, "cell") == [(None,)]


def test_computes_of_a_notebook_know_the_cell_that_runs(
    run: taskscope.profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell_of(monkeypatch, request("a\nb\n", "0f3c-77"), inputs=["1", "2", "a\nb"], count=4)
    assert cell_of(run) == ("0f3c-77", 3, zlib.crc32(b"a\nb\n"))


@pytest.mark.parametrize("parent", [None, request()])
@pytest.mark.parametrize("shells_count", [1, 2], ids=["IPython 8", "IPython 9"])
def test_without_a_cell_id_the_prompt_number_stands_for_it(
    run: taskscope.profile,
    monkeypatch: pytest.MonkeyPatch,
    parent: Mapping[str, Any] | None,
    shells_count: int,
) -> None:
    shell_of(monkeypatch, parent, count=shells_count)
    assert cell_of(run)[:2] == ("In [1]", 1)


@pytest.mark.parametrize("parent", [{}, {"metadata": {}}, request(kind="comm_msg")])
def test_what_a_message_other_than_a_cell_started_is_of_no_cell(
    run: taskscope.profile, monkeypatch: pytest.MonkeyPatch, parent: Mapping[str, Any]
) -> None:
    shell_of(monkeypatch, parent)
    assert cell_of(run) == (None, None, None)


def test_what_an_earlier_cell_left_behind_is_of_that_cell_and_not_of_the_latest_prompt(
    run: taskscope.profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell_of(monkeypatch, request("earlier", "cell-1"), inputs=["earlier", "later"], count=3)
    assert cell_of(run) == ("cell-1", None, zlib.crc32(b"earlier"))


def test_a_history_that_was_emptied_gives_no_prompt_number(
    run: taskscope.profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell_of(monkeypatch, request(cell="cell-1"), inputs=["x"], count=9)
    assert cell_of(run) == ("cell-1", None, zlib.crc32(b"x"))


@pytest.mark.parametrize(
    ("cell", "kind", "server", "window"),
    [
        ("vscode-notebook-cell:/run.ipynb#W0sZmlsZQ%3D%3D", "execute_request", None, "w"),
        ("vscode-notebook-cell:/run.ipynb#W0sZmlsZQ%3D%3D", "comm_msg", None, None),
        # It cannot read the scripts of the server's environment.
        ("vscode-notebook-cell:/run.ipynb#W0sZmlsZQ%3D%3D", "execute_request", "run.ipynb", None),
        ("0f3c-77", "execute_request", None, None),
        (None, "execute_request", None, None),
    ],
)
def test_a_window_of_vs_code_is_told_by_the_cells_that_it_runs(
    monkeypatch: pytest.MonkeyPatch, cell: str | None, kind: str, server: str | None, window: str | None
) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    if server is not None:
        monkeypatch.setenv("JPY_SESSION_NAME", server)
    asked = request(cell=cell, kind=kind)
    shell_of(monkeypatch, {**asked, "header": {**asked["header"], "session": "w"}})
    assert vscode_window() == window
