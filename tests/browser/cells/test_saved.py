"""What a notebook keeps of live widgets when it is saved."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenLab
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.server import Server
from tests.browser.workloads import LOAD
from tests.support.waiting import until

PAPER = "getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor"
# Nothing is cut off, and no more room is taken than one row.
FITS = """(() => {
  const { scrollHeight, clientHeight } = document.documentElement;
  const viewPx = document.querySelector(".taskscope-view").scrollHeight;
  return scrollHeight <= clientHeight && clientHeight - viewPx < 20;
})()"""
VIEW = "application/vnd.jupyter.widget-view+json"
KINDS = 5
END = re.compile(r"taskscope · finished · 2 of 2 tasks \(100%\) · 0 running · [\d.]+ m?s elapsed")
SHOW = "for kind in (ProgressWidget, GanttWidget, ResourceWidget, CacheWidget, Dashboard): display(kind())"
MARKED = "() => document.querySelectorAll('.tsk-widget[data-marked]').length"
HAVE_ENDED = f"""(n) => window.jupyterapp.shell.currentWidget.content.widgets[1].model.outputs.toJSON()
    .filter(({{ data }}) => data['text/plain'].includes(' {{n}} of ')).length === {KINDS}"""


def kept(server: Server, lab: LabPage, index: int) -> list[dict[str, Any]]:
    """Return the outputs of a cell in the notebook's file."""
    lab.save()
    notebook = server.request("GET", f"contents/{lab.workspace}.ipynb?content=1")["content"]
    outputs: list[dict[str, Any]] = notebook["cells"][index]["outputs"]
    return outputs


def wait_kept(lab: LabPage, n: int) -> None:
    """Wait until the notebook has heard of `n` finished tasks in all of its widgets' outputs."""
    lab.page.wait_for_function(HAVE_ENDED.replace("{n}", str(n)))


@pytest.mark.fresh_page
def test_a_saved_notebook_keeps_text_and_picture_of_the_end_and_the_views_stay_as_they_are(
    lab: LabPage, server: Server
) -> None:
    lab.open(LOAD, SHOW, "_ = computed(slow, 4)", "_ = computed(slow, 2)")
    page = lab.page
    lab.run_cell(0)
    # The first widget makes the page say that it can show them.
    lab.ask_for_feed()
    lab.wait_feed("feed.state === 'live'")
    lab.run_cell(1)
    expect(page.locator(".jp-Cell .tsk-widget")).to_have_count(KINDS)
    page.evaluate("document.querySelectorAll('.tsk-widget').forEach(one => { one.dataset.marked = '' })")
    lab.run_cell(2)
    wait_kept(lab, 4)
    lab.run_cell(3)
    # It is of the compute that ended last.
    wait_kept(lab, 2)
    # Nothing was drawn anew, though each output was updated twice.
    assert page.evaluate(MARKED) == page.locator(".tsk-widget").count() == KINDS
    outputs = kept(server, lab, 1)
    assert [bool(END.fullmatch(output["data"]["text/plain"])) for output in outputs] == [True] * KINDS, (
        outputs
    )
    for output in outputs:
        html = output["data"]["text/html"]
        assert html.startswith(f"<div><b>{output['data']['text/plain']}</b></div><img alt=")
        assert VIEW in output["data"]
    assert [lab.outputs(2), lab.outputs(3)] == [[], []]

    # Opened again by somebody whose kernel is another one, it shows the pictures.
    lab.restart_kernel()
    lab.reload()
    expect(page.locator(".jp-OutputArea").get_by_text("taskscope · finished · 2 of 2 tasks")).to_have_count(
        KINDS
    )
    expect(page.locator(".tsk-widget")).to_have_count(0)


def test_a_result_is_the_live_view_frozen_in_the_theme_of_the_page_and_as_high_as_it_needs(
    open_lab: OpenLab, shots: Path
) -> None:
    # The operating system is light, JupyterLab is not.
    lab = open_lab(color_scheme="light", viewport={"width": 1000, "height": 1100})
    lab.open(LOAD, "%%profile\n_ = [computed(slow, 30), in_groups(9, 4)]")
    use_theme(lab.page, "dark")
    lab.run_cell(0)
    lab.run_cell(1)
    inside = lab.page.frame_locator(".taskscope-chart > iframe")
    expect(inside.locator(".tsk-gantt canvas")).to_be_visible()
    [frame] = lab.page.frames[1:]
    for theme, width in (("dark", 1000), ("light", 1000), ("light", 760)):
        use_theme(lab.page, theme)
        lab.page.set_viewport_size({"width": width, "height": 1100})
        paper: str = lab.page.evaluate(PAPER)
        expect(inside.locator("html")).to_have_css("background-color", paper)
        # `wait_for_function` would evaluate text in the page, which the frame forbids.
        until(lambda: bool(frame.evaluate(FITS)))
        lab.page.locator(".taskscope-result").screenshot(path=shots / f"result-{theme}-{width}.png")
    lab.page.locator("summary", has_text="More charts").click()
    expect(inside.locator(".tsk-resources canvas")).to_be_visible()
