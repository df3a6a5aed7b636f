"""What a page loads of ours before anybody uses Dask."""

from __future__ import annotations

import gzip

import pytest
from playwright.sync_api import Response, expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

BUDGET = 24_500


@pytest.mark.fresh_page
def test_jupyterlab_loads_little_of_ours_at_its_start_and_charts_with_the_first_view(lab: LabPage) -> None:
    scripts: list[Response] = []
    lab.page.on("response", lambda r: scripts.append(r) if "/lab/extensions/taskscope/" in r.url else None)
    lab.open("1 + 1", LOAD, "display(ProgressWidget())")
    lab.run_cell(0)
    at_start = [script.body() for script in scripts if script.url.partition("?")[0].endswith(".js")]
    assert 0 < sum(len(gzip.compress(script, 9)) for script in at_start) <= BUDGET
    lab.run_cell(1)
    lab.run_cell(2)
    expect(lab.page.get_by_role("progressbar", name="Finished tasks")).to_be_visible()
    assert len(scripts) > len(at_start)
