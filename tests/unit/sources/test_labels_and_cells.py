from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from contextvars import copy_context
from types import SimpleNamespace
from typing import Any

import dask
import pytest

from taskscope.recorder import Recorder
from taskscope.sources.cell import current_cell
from taskscope.sources.local import run_label
from tests.support.local_computes import run_facts


def compute() -> None:
    dask.get({"x": (int,)}, "x")


def shell_of(monkeypatch: pytest.MonkeyPatch, parent: Mapping[str, Any] | None) -> None:
    """Pretend to be in a kernel that runs the request `parent`, or in a terminal without one."""
    kernel = None if parent is None else SimpleNamespace(get_parent=lambda: parent)
    shell = SimpleNamespace(kernel=kernel, execution_count=7)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


def test_computes_get_the_label_of_the_context_they_start_in(recorder: Recorder) -> None:
    def labelled() -> None:
        run_label.set("quick")
        compute()
        other = threading.Thread(target=compute)
        other.start()
        other.join()

    copy_context().run(labelled)
    compute()
    assert run_facts(recorder, "label") == [("quick",), (None,), (None,)]


def test_outside_of_ipython_there_is_no_cell(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    compute()
    assert "IPython" not in sys.modules
    assert run_facts(recorder, "cell") == [(None,)]


def test_computes_of_a_notebook_know_the_cell_that_runs(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell_of(monkeypatch, {"metadata": {"cellId": "0f3c-77"}})
    compute()
    assert run_facts(recorder, "cell") == [("0f3c-77",)]


@pytest.mark.parametrize("parent", [None, {}, {"metadata": {}}])
def test_without_a_cell_id_the_prompt_number_stands_for_it(
    monkeypatch: pytest.MonkeyPatch, parent: Mapping[str, Any] | None
) -> None:
    shell_of(monkeypatch, parent)
    assert current_cell() == "In [7]"
