"""Notebooks that others made: nothing in them runs code of theirs or makes a view of ours."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage

PWN = "window.top.pwned = 1"
IMAGE = f"<img src='data:,' onerror='{PWN}'>"
# Made like our static result, but for the script.
FRAME = (
    '<div class="taskscope-result"><div class="taskscope-chart"><iframe sandbox="allow-scripts"'
    f" srcdoc='<body><script>try {{ {PWN} }} catch {{ document.body.append(`kept out`) }}</script>'>"
    "</iframe></div></div>"
)
NAMES = ("Progress", "Gantt", "Resource", "Cache", "Dashboard")
SUFFIXES = ("", "+json", ".v1+json", ".view+json")
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
LOOK = (
    "import comm\n"
    "len(In), [c for c in comm.get_comm_manager().comms.values() if 'taskscope' in c.target_name]"
)


def widget(name: str, **state: object) -> dict[str, object]:
    """Return saved state of a widget of ours."""
    whose = {"module": "taskscope", "module_version": "0.1.0"}
    model = {f"model_{part}": value for part, value in whose.items()} | {"model_name": f"{name}Model"}
    view = {f"view_{part}": value for part, value in whose.items()} | {"view_name": f"{name}View"}
    return model | {"state": {f"_{key}": value for key, value in (model | view).items()} | state}


def saved_widgets() -> dict[str, dict[str, object]]:
    """Return widgets as a notebook may hold them: of the kernel's recorder, and of a recording of its own."""
    lives = {
        f"live-{n}": widget(n, recorder_id=IMAGE, groups=[{"prefix": IMAGE}], state=IMAGE) for n in NAMES
    }
    stills = {f"still-{n}": widget(n, recorded="IPY_MODEL_recording") for n in NAMES}
    message = {"protocol": 1, "kind": "batch", "recorder": IMAGE}
    return lives | stills | {"recording": widget("Recording", messages=[{"message": message, "buffers": []}])}


def output(**data: object) -> dict[str, object]:
    return {
        "output_type": "display_data",
        "metadata": {"taskscope": IMAGE},
        "data": {"text/plain": "saved", **data},
    }


def hostile_notebook(*, trusted: bool) -> dict[str, Any]:
    shown = [f"{kind}-{name}" for kind in ("live", "still") for name in NAMES]
    views = [output(**{WIDGET_VIEW: {"model_id": m, "version_major": 2, "version_minor": 0}}) for m in shown]
    kinds = [output(**{f"application/vnd.taskscope{kind}": IMAGE}) for kind in SUFFIXES]
    # Who trusts a notebook lets its HTML do what it likes; that of a frame like ours is still kept in.
    html = output(**{"text/html": FRAME if trusted else IMAGE + FRAME})
    metadata = {"taskscope": {"run": PWN, "panel": "dock"}} | ({"trusted": True} if trusted else {})
    cell = {"cell_type": "code", "execution_count": 3, "metadata": metadata}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "python3"},
            "taskscope": {"autoload": True, "cells": {"views": IMAGE}},
            "widgets": {WIDGET_STATE: {"version_major": 2, "version_minor": 0, "state": saved_widgets()}},
        },
        "cells": [
            cell | {"id": "views", "source": LOOK, "outputs": views},
            cell | {"id": "others", "source": "1", "outputs": [*kinds, html]},
        ],
    }


@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
@pytest.mark.fresh_page
def test_a_hostile_notebook_runs_nothing_and_makes_no_view_of_what_it_saved(
    lab: LabPage, *, trusted: bool
) -> None:
    lab.open_content(hostile_notebook(trusted=trusted))
    page = lab.page
    assert page.evaluate("window.jupyterapp.shell.currentWidget.model.cells.get(1).trusted") is trusted
    if trusted:
        notes = page.get_by_text("this widget belongs to an earlier kernel: run its cell again")
        # Where the connection is there before the session is, ipywidgets gives views up before it has read
        # what was saved: restoreWidgets of jupyterlab-manager 5 runs twice, and one says all is restored.
        given_up = page.get_by_text("Error displaying widget: model not found")
        expect(notes.or_(given_up)).to_have_count(2 * len(NAMES))
        lab.forgive("console: Error: widget model not found", also_later=True)
        expect(page.frame_locator("iframe").get_by_text("kept out")).to_be_attached()
    else:
        expect(page.get_by_text("saved", exact=True)).to_have_count(2 * len(NAMES) + len(SUFFIXES))
        expect(page.locator(".jp-OutputArea iframe")).to_have_count(0)
    assert page.locator(".tsk-chart, .tsk-body > *, .tsk-cell-badge").count() == 0
    assert lab.feed() is None
    # Nothing ran before this, and nobody opened anything of ours.
    lab.run_cell(0)
    assert [shown["data"]["text/plain"] for shown in lab.outputs(0)] == ["(2, [])"]
    assert page.evaluate("window.pwned ?? null") is None
