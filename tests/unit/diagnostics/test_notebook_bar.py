"""The progress bar in a real kernel: what is shown under the cell, and what stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.kernel import Kernel, Said, running_kernel

WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = """
import dask, io, os, threading
from taskscope.diagnostics import ProgressBar
from taskscope.session import current
from taskscope.widgets.feed import current as feed
from ipywidgets.widgets.widget import _instances
gate = threading.Event()
def wait(i):
    gate.wait(30)
    return i
one = dask.delayed(abs)(-1)
two = dask.delayed(wait)(one)
def open_after(ticks):
    gate.clear()
    left = [ticks]
    def look(tick):
        left[0] -= tick.active
        if left[0] <= 0:
            stop()
            gate.set()
    stop = current().pump.subscribe(look)
"""
LINE = re.compile(r"\[(#*) *\] \| (\d+)% Completed \| .*")


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with running_kernel() as kernel:
        kernel.run(SETUP)
        yield kernel


def outputs(said: Said) -> list[dict[str, Any]]:
    return said.of("display_data", "update_display_data")


def percent(text: str) -> int:
    found = LINE.fullmatch(text)
    assert found is not None, text
    return int(found[2])


def test_a_short_compute_leaves_one_line_of_text(kernel: Kernel) -> None:
    said = kernel.run("with ProgressBar():\n    dask.compute(one)")
    (stream,) = said.of("stream")
    assert (stream["name"], percent(stream["text"].rstrip("\n"))) == ("stdout", 100)
    assert outputs(said) == []


def test_without_a_front_end_a_line_moves_and_its_end_stays(kernel: Kernel) -> None:
    said = kernel.run("with ProgressBar():\n    open_after(14)\n    out = dask.compute(two)\nout")
    shown = outputs(said)
    assert len({output["transient"]["display_id"] for output in shown}) == 1
    assert [set(output["data"]) for output in shown] == [{"text/plain"}] * len(shown)
    percents = [percent(output["data"]["text/plain"]) for output in shown]
    assert percents[0] == 50
    assert percents[-1] == 100
    assert said.of("stream") == []
    assert said.text() == "(1,)"


def test_with_a_front_end_the_widget_is_shown_and_text_takes_its_place(kernel: Kernel) -> None:
    kernel.run("feed().has_front_end = lambda: True\nbefore = set(_instances)")
    said = kernel.run("with ProgressBar():\n    open_after(6)\n    out = dask.compute(two)\nout")
    first, last = outputs(said)
    assert set(first["data"]) == {"text/plain", WIDGET}
    assert set(last["data"]) == {"text/plain"}
    assert percent(last["data"]["text/plain"]) == 100
    assert first["transient"] == last["transient"]
    assert kernel.run("set(_instances) - before").text() == "set()"
    kernel.run("del feed().has_front_end")


def test_nothing_is_held_when_it_is_over_and_an_explicit_out_gets_text(kernel: Kernel) -> None:
    assert kernel.run("current().held").text() == "False"
    said = kernel.run(
        "out = io.StringIO()\nwith ProgressBar(out=out):\n    dask.compute(one)\nout.getvalue()"
    )
    assert "100% Completed" in said.text()
    assert outputs(said) == []


def test_a_failed_compute_says_how_far_it_came_and_the_error_is_the_user_s(kernel: Kernel) -> None:
    said = kernel.run("with ProgressBar():\n    dask.compute(dask.delayed(divmod)(1, 0), scheduler='sync')")
    (stream,) = said.of("stream")
    assert percent(stream["text"].rstrip("\n")) == 0
    assert said.reply["ename"] == "ZeroDivisionError"


def test_a_plot_is_shown_in_a_frame_of_its_own(kernel: Kernel) -> None:
    said = kernel.run(
        "from taskscope.diagnostics import Profiler\n"
        "with Profiler() as prof:\n    dask.compute(one)\n"
        "prof.visualize(height=200);"
    )
    (shown,) = outputs(said)
    assert said.of("stream") == []
    assert shown["data"]["text/plain"] == "Profile Results"
    assert shown["data"]["text/html"].startswith(
        '<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:240px;border:0" srcdoc="'
    )
    assert kernel.run("os.path.exists('profile.html')").text() == "False"
