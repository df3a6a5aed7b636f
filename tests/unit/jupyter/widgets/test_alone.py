"""Widgets shown in a front end that has never heard of taskscope: nbclient here, as Colab would be."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.kernel import executed

HINT = "Colab and VS Code with a remote Jupyter server show this picture."
SETUP = """
import dask, threading
dask.config.set(num_workers=2)
import taskscope
from taskscope import CacheWidget, Dashboard, GanttWidget, ProgressWidget, ResourceWidget
KINDS = ProgressWidget, GanttWidget, ResourceWidget, CacheWidget, Dashboard
gate = threading.Event()
def wait(i):
    gate.wait(30)
    return i
def compute(n):
    return sum(dask.compute(*[dask.delayed(wait)(i) for i in range(n)]))
"""


def outputs_of(*cells: str) -> list[list[dict[str, Any]]]:
    """Return the outputs of the cells, which run after those that all need."""
    return executed(SETUP, *cells)[1:]


@pytest.fixture(scope="module")
def alone() -> list[list[dict[str, Any]]]:
    return outputs_of(
        # A front end that runs notebooks is gone after their last cell, so the picture must be right by then.
        "live = [kind() for kind in KINDS]\nfor widget in live: display(widget)",
        "threading.Timer(0.5, gate.set).start()\ncompute(4)",
        "for widget in live: widget.close()",
        "with taskscope.profile(display=False) as run: compute(3)\nrun.recording",
        "for kind in KINDS: display(kind(run.recording))",
        "taskscope.ProgressWidget()",
    )


def test_each_live_widget_shows_a_picture_that_has_followed_the_compute(
    alone: list[list[dict[str, Any]]],
) -> None:
    shown = alone[0]
    assert [sorted(output["data"]) for output in shown] == [["text/html", "text/plain"]] * 5
    line = r"taskscope · finished · 4 of 4 tasks \(100%\) · 0 running · [\d.]+ m?s elapsed"
    assert [bool(re.fullmatch(line, output["data"]["text/plain"])) for output in shown] == [True] * 5, shown
    for output in shown:
        html = output["data"]["text/html"]
        assert ("<img alt=" in html, HINT in html) == (True, False)


def test_a_widget_as_the_value_of_a_cell_waits_in_words(alone: list[list[dict[str, Any]]]) -> None:
    (output,) = alone[5]
    assert output["data"]["text/plain"] == "taskscope · no Dask compute yet"
    assert HINT in output["data"]["text/html"]


def test_a_recording_and_each_widget_of_it_is_the_static_result(alone: list[list[dict[str, Any]]]) -> None:
    outputs = [*alone[3], *alone[4]]
    titles = [output["data"]["text/plain"].splitlines()[0] for output in outputs]
    assert titles == ["taskscope · finished · threads · 2 threads · 1 compute · 3 tasks"] * 6
    assert [sorted(output["data"]) for output in outputs] == [["text/html", "text/plain"]] * 6


ROUNDS = 10
CLUSTER_ROUNDS = 4
LIVE = """
def quick(n):
    return sum(dask.compute(*[dask.delayed(abs)(-1, dask_key_name=f"one-{i}") for i in range(n)]))
def numbers(live):
    progress, gantt, resources, cache, board = live
    return (
        progress.state, progress.total, progress.finished, progress.running, progress.fraction,
        [(g["prefix"], g["total"], g["finished"], g["running"]) for g in progress.groups],
        gantt.n_tasks, resources.n_samples >= 2, cache.n_keys, cache.peak_n_keys,
        (board.state, board.finished, board.n_tasks, board.n_samples >= 2, board.peak_n_keys),
    )
live = [kind() for kind in KINDS]
seen = []
live[0].observe(lambda change: seen.append((change.old, change.new)), "finished")
"""


def test_when_compute_returns_traits_are_those_of_the_end() -> None:
    counts = [101 + i for i in range(ROUNDS)]
    rounds = [cell for n in counts for cell in (f"assert quick({n}) == {n}", "numbers(live)")]
    told = "(seen[0][0], seen[-1][1], [new for _, new in seen][:-1] == [old for old, _ in seen][1:])"
    # What observes is told by the thread that sends, a moment later, each change once.
    wait = f"while live[0].finished != (seen or [(0, 0)])[-1][1]: threading.Event().wait(0.02)\n{told}"
    *cells, last = outputs_of(LIVE, *rounds, wait)[1:]
    found = [outputs[0]["data"]["text/plain"] for outputs in cells[1::2]]
    assert [" ".join(text.split()) for text in found] == [
        f"('finished', {n}, {n}, 0, 1.0, [('one', {n}, {n}, 0)], {n}, True, 0, {n}, "
        f"('finished', {n}, {n}, True, {n}))"
        for n in counts
    ]
    assert last[0]["data"]["text/plain"] == f"(0, {counts[-1]}, True)"


@pytest.mark.parametrize("processes", [False, True], ids=["threads", "processes"])
def test_when_compute_returns_from_a_cluster_traits_and_pictures_are_those_of_the_end(
    *, processes: bool
) -> None:
    setup = (
        "from distributed import Client\n"
        "from tests.support.waiting import be_patient\n"
        "be_patient()\n"
        f"client = Client(n_workers=2, threads_per_worker=2, processes={processes}, dashboard_address=':0')\n"
        "def one(n):\n"
        "    names = [f'one-{len(In)}-{i}' for i in range(n)]\n"
        "    return sum(dask.compute(*[dask.delayed(abs)(-1, dask_key_name=name) for name in names]))"
    )
    # What workers hold, and the memory of their processes, are samples and not counts.
    ask = "counted = numbers(live)\n(*counted[:7], counted[10][:3])"
    counts = [51 + i for i in range(CLUSTER_ROUNDS)]
    rounds = [cell for n in counts for cell in (f"assert one({n}) == {n}", ask)]
    # The picture of the last cell has nobody who would wait for its end.
    last = "display(ProgressWidget())\n_ = one(51)"
    close = "client.close()\nfrom taskscope import session\nsession.current().recorder.messages"
    *cells, pictures, messages = outputs_of(setup, LIVE, *rounds, last, close)[2:]
    found = [outputs[0]["data"]["text/plain"] for outputs in cells[1::2]]
    assert [" ".join(text.split()) for text in found] == [
        f"('finished', {n}, {n}, 0, 1.0, [('one', {n}, {n}, 0)], {n}, ('finished', {n}, {n}))" for n in counts
    ]
    assert [output["data"]["text/plain"].split(" · ")[1:3] for output in pictures] == [
        ["finished", "51 of 51 tasks (100%)"]
    ]
    assert messages[0]["data"]["text/plain"] == "[]"


def test_an_observer_that_raises_is_shown_to_its_author_once_and_the_widget_goes_on() -> None:
    cells = outputs_of(
        """
w = ProgressWidget()
seen = []
def careless(change):
    raise LookupError(f"mine: {change.new}")
w.observe(careless, ["finished", "total"])
def careless_of_all(change):
    raise ValueError("mine too")
w.observe(careless_of_all)
w.observe(lambda change: seen.append(change.new), "state")
def follow(n):
    compute(n)
    while (seen or [None])[-1] != "finished": threading.Event().wait(0.02)
gate.set()
""",
        "follow(3)",
        "seen.clear()\ncompute(2)\n"
        "while w.finished != 2 or not seen and w.state != 'finished': threading.Event().wait(0.02)\n"
        "from taskscope import session\n(w.finished, w.state, session.current().recorder.messages)",
    )
    shown = [(o["ename"], o["evalue"]) for cell in cells for o in cell if o["output_type"] == "error"]
    assert sorted(shown) == [("LookupError", "mine: 3"), ("ValueError", "mine too")]
    (value,) = [o["data"]["text/plain"] for o in cells[2] if o["output_type"] == "execute_result"]
    assert value == "(2, 'finished', [])"
