"""The progress bar in a real kernel: what is shown under the cell, and what stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernel import Kernel, Said, running_kernel
from tests.support.signal_pipe import LISTENER, SignalPipe

VIEW = "application/vnd.taskscope.view+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = f"""
import dask, io, os, threading
from taskscope.diagnostics import ProgressBar
from taskscope.session import current
from taskscope.jupyter.feed import current as feed
from ipywidgets.widgets.widget import _instances
{LISTENER}
gate = threading.Event()
def close_gate(pipe):
    gate.clear()
    on_signal(pipe, gate.set)
def wait(i):
    gate.wait()
    return i
one = dask.delayed(abs)(-1)
two = dask.delayed(wait)(one)
"""
LINE = re.compile(r"\[(#*) *\] \| (\d+)% Completed \| .*")


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with running_kernel() as kernel:
        kernel.run(SETUP)
        yield kernel


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[SignalPipe]:
    """Opens the gate before the second task, at the latest when the test is over."""
    with SignalPipe(tmp_path / "gate") as pipe:
        yield pipe


def outputs(said: Said) -> list[dict[str, Any]]:
    return said.of("display_data", "update_display_data")


def percent(text: str) -> int:
    found = LINE.fullmatch(text)
    assert found is not None, text
    return int(found[2])


def test_a_short_compute_leaves_one_line_of_text(kernel: Kernel) -> None:
    said = kernel.run("with ProgressBar(dt=1000):\n    dask.compute(one)")
    (stream,) = said.of("stream")
    assert (stream["name"], percent(stream["text"].rstrip("\n"))) == ("stdout", 100)
    assert outputs(said) == []


def test_without_a_front_end_a_line_moves_and_its_end_stays(kernel: Kernel, gate: SignalPipe) -> None:
    seen: list[int] = []

    def open_at_second_half(message: dict[str, Any]) -> None:
        if message["msg_type"] in {"display_data", "update_display_data"}:
            seen.append(percent(message["content"]["data"]["text/plain"]))
            if seen.count(50) == 2:
                gate.signal()

    said = kernel.run(
        f"with ProgressBar():\n    close_gate({gate.path!r})\n    out = dask.compute(two)\nout",
        open_at_second_half,
    )
    shown = outputs(said)
    assert len({output["transient"]["display_id"] for output in shown}) == 1
    assert [set(output["data"]) for output in shown] == [{"text/plain"}] * len(shown)
    assert seen == sorted(seen)
    assert seen[-1] == 100
    assert said.of("stream") == []
    assert said.text() == "(1,)"


def test_with_a_front_end_the_widget_is_shown_and_text_takes_its_place(
    kernel: Kernel, gate: SignalPipe
) -> None:
    def open_when_shown(message: dict[str, Any]) -> None:
        if message["msg_type"] == "display_data":
            gate.signal()

    kernel.run("feed().has_front_end = lambda: True\nbefore = set(_instances)")
    said = kernel.run(
        f"with ProgressBar():\n    close_gate({gate.path!r})\n    out = dask.compute(two)\nout",
        open_when_shown,
    )
    first, last = outputs(said)
    assert set(first["data"]) == {"text/plain", "text/html", VIEW, WIDGET}
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
    said = kernel.run(
        "with ProgressBar(dt=1000):\n    dask.compute(dask.delayed(divmod)(1, 0), scheduler='sync')"
    )
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
