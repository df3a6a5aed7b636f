"""What reaches a front end, said by a real kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernel import Kernel, running_kernel
from tests.support.signal_pipe import LISTENER, SignalPipe

WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = f"""
import dask, threading
from ipywidgets.widgets.widget import _instances
from taskscope.jupyter.feed import current as feed
{LISTENER}
gate = threading.Event()
gate.set()
def close_gate(pipe):
    gate.clear()
    on_signal(pipe, gate.set)
def wait(i):
    gate.wait()
    return i
def fail():
    raise ValueError("no")
dask.config.set(num_workers=2)
tasks = [dask.delayed(wait)(i) for i in range(4)]
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with running_kernel() as kernel:
        kernel.run("%load_ext taskscope")
        kernel.run(SETUP)
        yield kernel


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[SignalPipe]:
    """Opens the gate before the tasks, at the latest when the test is over."""
    with SignalPipe(tmp_path / "gate") as pipe:
        yield pipe


def outputs(said: Any) -> list[dict[str, Any]]:
    return said.of("display_data", "update_display_data")  # type: ignore[no-any-return]  # JSON


def text_of(message: dict[str, Any]) -> str:
    return str(message["content"].get("data", {}).get("text/plain", ""))


def states(said: Any) -> list[str]:
    """What the pictures said, one after another; how often each was sent depends on the machine."""
    return [
        state
        for state, _ in groupby(output["data"]["text/plain"].split(" · ")[1] for output in outputs(said))
    ]


def once(
    happens: Callable[[dict[str, Any]], bool], act: Callable[[], None]
) -> Callable[[dict[str, Any]], None]:
    """Act on the first message of which this is true."""
    acted = False

    def look(message: dict[str, Any]) -> None:
        nonlocal acted
        if not acted and happens(message):
            acted = True
            act()

    return look


def says_running(message: dict[str, Any]) -> bool:
    return text_of(message).startswith("taskscope · running · 0 of 4 tasks")


def asked_for_panels(said: Any) -> list[str]:
    shows = [m for m in said.of("comm_msg") if m["comm_id"] == "taskscope.show"]
    assert all(m["data"]["protocol"] == 1 for m in shows)
    return [m["data"]["panel"] for m in shows]


def test_without_a_front_end_a_picture_moves_while_the_cell_runs(kernel: Kernel, gate: SignalPipe) -> None:
    seen: list[str] = []

    def is_second_picture(message: dict[str, Any]) -> bool:
        seen.extend([text_of(message)] if says_running(message) else [])
        return len(seen) == 2

    said = kernel.run(
        f"%%profile\nclose_gate({gate.path!r})\nsum(dask.compute(*tasks))",
        once(is_second_picture, gate.signal),
    )
    shown = outputs(said)
    assert len({output["transient"]["display_id"] for output in shown}) == 1
    assert shown[0]["data"]["text/plain"] == "taskscope · no Dask compute yet"
    assert states(said) == ["no Dask compute yet", "running", "finished"]
    assert len(set(seen)) == 2
    last = shown[-1]["data"]["text/plain"]
    assert last.splitlines()[0] == "taskscope · finished · threads · 2 threads · 1 compute · 4 tasks"
    assert [set(output["data"]) for output in shown] == [{"text/plain", "text/html"}] * len(shown)
    assert said.text() == "6"


def test_with_a_front_end_the_dashboard_is_shown_and_leaves_nothing(kernel: Kernel, gate: SignalPipe) -> None:
    def moves(message: dict[str, Any]) -> bool:
        told: dict[str, Any] = message["content"].get("data", {}).get("state", {})
        return message["msg_type"] == "comm_msg" and "running" in told.values()

    kernel.run("feed().has_front_end = lambda: True")
    said = kernel.run(
        f"%%profile\nclose_gate({gate.path!r})\nsum(dask.compute(*tasks))", once(moves, gate.signal)
    )
    kernel.run("del feed().has_front_end")
    shown = outputs(said)
    assert [WIDGET in output["data"] for output in shown] == [True, False]
    opened = [m["comm_id"] for m in said.of("comm_open")]
    models = [m["data"]["state"]["_model_name"] for m in said.of("comm_open")]
    assert models == ["LayoutModel", "DashboardModel"]
    assert asked_for_panels(said) == ["auto"]
    assert sorted(m["comm_id"] for m in said.of("comm_close")) == sorted(opened)
    assert kernel.run("len(_instances)").text() == "0"


@pytest.mark.parametrize(
    ("panel", "asked", "shown"),
    [("inline", [], [True, False]), ("dock", ["dock"], [False])],
)
def test_a_cell_is_live_where_it_asks_to_be_and_its_result_stays_under_it(
    kernel: Kernel, panel: str, asked: list[str], shown: list[bool]
) -> None:
    kernel.run("feed().has_front_end = lambda: True")
    said = kernel.run(f"%%profile --panel {panel}\n_ = dask.compute(*tasks)")
    kernel.run("del feed().has_front_end")
    assert asked_for_panels(said) == asked
    assert [WIDGET in output["data"] for output in outputs(said)] == shown
    assert outputs(said)[-1]["data"]["text/plain"].startswith("taskscope · finished")
    assert kernel.run("len(_instances)").text() == "0"


def test_without_a_page_to_dock_in_a_cell_is_live_inline(kernel: Kernel, gate: SignalPipe) -> None:
    block = "with taskscope.profile(panel='dock'): dask.compute(*tasks)"
    said = kernel.run(
        f"import taskscope\nclose_gate({gate.path!r})\n{block}", once(says_running, gate.signal)
    )
    assert outputs(said)[0]["data"]["text/plain"] == "taskscope · no Dask compute yet"
    assert states(said) == ["no Dask compute yet", "running", "finished"]
    assert outputs(said)[-1]["data"]["text/plain"].startswith("taskscope · finished · threads")
    assert asked_for_panels(said) == []


def test_a_front_end_that_comes_mid_cell_gets_the_dashboard(
    kernel: Kernel, gate: SignalPipe, tmp_path: Path
) -> None:
    with SignalPipe(tmp_path / "page") as page:
        arrives = once(says_running, page.signal)
        is_seen = once(lambda message: WIDGET in message["content"].get("data", {}), gate.signal)

        def look(message: dict[str, Any]) -> None:
            arrives(message)
            is_seen(message)

        late = f"on_signal({page.path!r}, lambda: setattr(feed(), 'has_front_end', lambda: True))"
        said = kernel.run(f"%%profile\nclose_gate({gate.path!r})\n{late}\n_ = dask.compute(*tasks)", look)
    kernel.run("del feed().has_front_end")
    kinds = [WIDGET in output["data"] for output in outputs(said)]
    assert [is_widget for is_widget, _ in groupby(kinds)] == [False, True, False]
    assert (kinds[-2:], kinds.count(True)) == ([True, False], 1)
    assert kernel.run("len(_instances)").text() == "0"


def test_stop_says_interrupted(kernel: Kernel, gate: SignalPipe) -> None:
    stop = once(lambda message: says_running(message) and "2 running" in text_of(message), kernel.interrupt)
    said = kernel.run(f"%%profile\nclose_gate({gate.path!r})\ndask.compute(*tasks)", stop)
    assert said.reply["ename"] == "KeyboardInterrupt"
    assert outputs(said)[-1]["data"]["text/plain"].startswith("taskscope · interrupted · threads")


def test_an_error_in_a_task_stays_visible_and_is_raised(kernel: Kernel) -> None:
    said = kernel.run("%%profile\ndask.delayed(fail)().compute()")
    assert (said.reply["status"], said.reply["ename"]) == ("error", "ValueError")
    assert "  error: ValueError: no" in outputs(said)[-1]["data"]["text/plain"].splitlines()


def test_a_progress_widget_alone_follows_the_kernel_until_it_is_closed(kernel: Kernel) -> None:
    kernel.run(
        "from taskscope import ProgressWidget\nw = ProgressWidget()\nis_over = threading.Event()\n"
        "w.observe(lambda change: is_over.set() if change.new == 'finished' else None, 'state')"
    )
    kernel.run("_ = dask.compute(*tasks)")
    code = "is_over.wait()\n(w.total, w.finished, w.running, w.erred, w.fraction, w.eta_s, w.state, w.groups)"
    group = {"prefix": "wait", "total": 4, "finished": 4, "running": 0, "erred": 0}
    assert ast.literal_eval(kernel.run(code).text()) == (4, 4, 0, 0, 1.0, None, "finished", [group])
    kernel.run("w.close()")
    assert kernel.run("len(_instances)").text() == "0"


def test_a_recording_is_sent_once_however_many_widgets_show_it(kernel: Kernel) -> None:
    kernel.run("%%profile -q -o run\n_ = dask.compute(*tasks)")
    kernel.run("feed().has_front_end = lambda: True")
    said = kernel.run(
        "from taskscope import Dashboard, GanttWidget, ProgressWidget\n"
        "shown = [kind(run) for _ in range(4) for kind in (ProgressWidget, GanttWidget, Dashboard)]\n"
        "for widget in shown: display(widget)"
    )
    kernel.run("del feed().has_front_end")
    opened = [m for m in said.messages if m["msg_type"] == "comm_open"]
    models = [m["content"]["data"]["state"]["_model_name"] for m in opened]
    carrying = [model for model, m in zip(models, opened, strict=True) if any(map(len, m["buffers"]))]
    assert (models.count("RecordingModel"), models.count("GanttModel"), carrying) == (
        1,
        4,
        ["RecordingModel"],
    )
    assert [WIDGET in output["data"] for output in outputs(said)] == [True] * 12
    kernel.run("for widget in shown[1:]: widget.close()")
    last = kernel.run("shown[0].close()")
    recording = opened[models.index("RecordingModel")]["content"]["comm_id"]
    assert recording in {m["comm_id"] for m in last.of("comm_close")}
    assert kernel.run("len(_instances)").text() == "0"


def test_unloading_closes_widgets_and_ends_threads(kernel: Kernel) -> None:
    kernel.run("from taskscope import GanttWidget\ng = GanttWidget()\n_ = dask.compute(*tasks)")
    kernel.run("%unload_ext taskscope")
    # They were told to end; how long a thread takes to get its turn is the machine's affair.
    code = (
        "from taskscope.session import current\n"
        "ours = [t for t in threading.enumerate() if 'taskscope' in t.name]\n"
        "for t in ours: t.join(30)\n"
        "len(_instances), current().held, [t.name for t in ours if t.is_alive()]"
    )
    assert kernel.run(code).text() == "(0, False, [])"
    kernel.run("%load_ext taskscope")
