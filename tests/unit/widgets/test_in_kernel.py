"""What reaches a front end, said by a real kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.kernel import Kernel, running_kernel

WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = """
import dask, threading, time
from ipywidgets.widgets.widget import _instances
from taskscope.widgets.feed import current as feed
gate = threading.Event()
def wait(i):
    gate.wait(30)
    return i
def fail():
    raise ValueError("no")
tasks = [dask.delayed(wait)(i) for i in range(4)]
def open_after(seconds):
    gate.clear()
    threading.Timer(seconds, gate.set).start()
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with running_kernel() as kernel:
        kernel.run("%load_ext taskscope")
        kernel.run(SETUP)
        yield kernel


def outputs(said: Any) -> list[dict[str, Any]]:
    return said.of("display_data", "update_display_data")  # type: ignore[no-any-return]  # JSON


def asked_for_panels(said: Any) -> list[str]:
    shows = [m for m in said.of("comm_open") if m["target_name"] == "taskscope.show"]
    assert all(m["data"]["protocol"] == 1 for m in shows)
    return [m["data"]["panel"] for m in shows]


def test_loading_announces_the_feed_once(kernel: Kernel) -> None:
    said = kernel.run("%reload_ext taskscope")
    assert [m["target_name"] for m in said.of("comm_open")] == ["taskscope.announce"]


def test_without_a_front_end_a_picture_moves_while_the_cell_runs(kernel: Kernel) -> None:
    said = kernel.run("%%profile\nopen_after(2.5)\nsum(dask.compute(*tasks))")
    shown = outputs(said)
    texts = [output["data"]["text/plain"] for output in shown]
    assert len({output["transient"]["display_id"] for output in shown}) == 1
    assert texts[0] == "taskscope · waiting for a Dask compute"
    assert 2 <= len([text for text in texts if text.startswith("taskscope · running · 0 of 4 tasks")]) <= 4
    assert texts[-1].splitlines()[0] == "taskscope · finished · threads · 2 workers · 1 compute · 4 tasks"
    assert [set(output["data"]) for output in shown] == [{"text/plain", "text/html"}] * len(shown)
    assert said.text() == "6"


def test_with_a_front_end_the_dashboard_is_shown_and_leaves_nothing(kernel: Kernel) -> None:
    kernel.run("feed().has_front_end = lambda: True")
    said = kernel.run("%%profile\nopen_after(1.0)\nsum(dask.compute(*tasks))")
    kernel.run("del feed().has_front_end")
    shown = outputs(said)
    assert [WIDGET in output["data"] for output in shown] == [True, False]
    opened = [m["comm_id"] for m in said.of("comm_open")]
    models = [m["data"]["state"]["_model_name"] for m in said.of("comm_open")[1:]]
    assert models == ["LayoutModel", "DashboardModel"]
    assert asked_for_panels(said) == ["auto"]
    assert sorted(m["comm_id"] for m in said.of("comm_close")) == sorted(opened)
    assert kernel.run("len(_instances)").text() == "0"


@pytest.mark.parametrize(
    ("panel", "asked", "shown"),
    [("inline", [], [True, False]), ("dock", ["dock"], [False]), ("none", [], [False])],
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


def test_without_a_page_to_dock_in_a_cell_is_live_inline(kernel: Kernel) -> None:
    said = kernel.run("import taskscope\nwith taskscope.profile(panel='dock'): dask.compute(*tasks)")
    texts = [output["data"]["text/plain"] for output in outputs(said)]
    assert texts[0] == "taskscope · waiting for a Dask compute"
    assert [text.split(" · ")[1] for text in texts[1:-1]] == ["running"] * (len(texts) - 2)
    assert texts[-1].startswith("taskscope · finished · threads")
    assert asked_for_panels(said) == []


def test_a_front_end_that_comes_mid_cell_gets_the_dashboard(kernel: Kernel) -> None:
    late = "threading.Timer(1.0, lambda: setattr(feed(), 'has_front_end', lambda: True)).start()"
    said = kernel.run(f"%%profile\nopen_after(3.0)\n{late}\n_ = dask.compute(*tasks)")
    kernel.run("del feed().has_front_end")
    kinds = [WIDGET in output["data"] for output in outputs(said)]
    assert (kinds[0], kinds[-2:], kinds.count(True)) == (False, [True, False], 1)
    assert kernel.run("len(_instances)").text() == "0"


def test_stop_says_interrupted(kernel: Kernel) -> None:
    def stop_when_running(message: dict[str, Any]) -> None:
        text = message["content"].get("data", {}).get("text/plain", "")
        if message["msg_type"] == "update_display_data" and "2 running" in text:
            kernel.interrupt()

    said = kernel.run("%%profile\nopen_after(5.0)\ndask.compute(*tasks)", stop_when_running)
    kernel.run("gate.set()")
    assert said.reply["ename"] == "KeyboardInterrupt"
    assert outputs(said)[-1]["data"]["text/plain"].startswith("taskscope · interrupted · threads")


def test_an_error_in_a_task_stays_visible_and_is_raised(kernel: Kernel) -> None:
    said = kernel.run("%%profile\ndask.delayed(fail)().compute()")
    assert (said.reply["status"], said.reply["ename"]) == ("error", "ValueError")
    assert "  error: ValueError: no" in outputs(said)[-1]["data"]["text/plain"].splitlines()


def test_a_cell_may_await_under_a_running_loop(kernel: Kernel) -> None:
    said = kernel.run("%%profile\nimport asyncio\nawait asyncio.sleep(0, 42)")
    assert (said.reply["status"], said.text()) == ("ok", "42")
    assert outputs(said)[-1]["data"]["text/plain"].startswith("taskscope · no Dask computation ran here")


def test_bad_options_fail_the_cell_before_it_runs(kernel: Kernel) -> None:
    said = kernel.run("%%profile --dt -1\nran = True")
    assert (said.reply["status"], said.reply["ename"]) == ("error", "UsageError")
    assert outputs(said) == []
    assert kernel.run("'ran' in globals()").text() == "False"


def test_a_progress_widget_alone_follows_the_kernel_until_it_is_closed(kernel: Kernel) -> None:
    kernel.run("from taskscope import ProgressWidget\nw = ProgressWidget()")
    kernel.run("_ = dask.compute(*tasks)")
    code = (
        "deadline = time.monotonic() + 10\n"
        "while w.state != 'finished' and time.monotonic() < deadline: time.sleep(0.05)\n"
        "(w.total, w.finished, w.running, w.erred, w.fraction, w.eta_s, w.state, w.groups)"
    )
    group = {"prefix": "wait", "total": 4, "finished": 4, "running": 0, "erred": 0}
    assert ast.literal_eval(kernel.run(code).text()) == (4, 4, 0, 0, 1.0, None, "finished", [group])
    kernel.run("w.close()")
    assert kernel.run("len(_instances)").text() == "0"


def test_a_widget_of_a_recording_stands_still(kernel: Kernel) -> None:
    kernel.run("%%profile -q -o run\n_ = dask.compute(*tasks)")
    code = (
        "from taskscope import Dashboard\nd = Dashboard(run)\n"
        "v = d.total, d.finished, d.state, d.n_tasks, d.dropped, d.recorder_id\nd.close()\nv"
    )
    assert ast.literal_eval(kernel.run(code).text()) == (4, 4, "finished", 4, 0, "")


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
    code = "from taskscope.session import current\n"
    code += (
        "len(_instances), current().held, [t.name for t in threading.enumerate() if 'taskscope' in t.name]"
    )
    assert kernel.run(code).text() == "(0, False, [])"
    kernel.run("%load_ext taskscope")
