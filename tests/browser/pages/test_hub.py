"""A server as JupyterHub runs one: under a prefix, with a strict policy for content, and no network."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Route, expect

from tests.browser.conftest import opening_pages
from tests.browser.harness.contexts import Contexts
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import Server, running_server
from tests.browser.workloads import LOAD

# The strictest under which JupyterLab 4.6 works. Without 'unsafe-eval' it cannot check its settings, so that
# hardly a plugin starts; without 'unsafe-inline' for styles it reports hundreds of violations and looks bare.
STRICT = (
    "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; font-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
BLOCKED = "Executing inline script violates"
SECOND_COLOUR = (0x4C, 0xD6, 0x76)
"""What the session's second task type has in all its views."""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hub")
    with running_server(folder, base_url="/user/x/", policy=STRICT) as server:
        yield server


@pytest.fixture
def lab(hub: Server, contexts: Contexts, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    with opening_pages(hub, contexts, request.node.name) as open_one:
        yield open_one()


def cut_off(lab: LabPage, server: Server) -> list[str]:
    """Let the page reach its server only; return where else it tried to go."""
    tried: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url.startswith(server.url):
            route.continue_()
        else:
            tried.append(route.request.url)
            route.abort()

    lab.page.context.route(lambda url: not url.startswith(("data:", "blob:")), answer)
    lab.page.on("websocket", lambda ws: tried.append(ws.url) if server.host not in ws.url else None)
    return tried


def test_live_views_badges_and_the_picture_work_behind_a_prefix_a_policy_and_without_a_network(
    lab: LabPage, hub: Server, shots: Path
) -> None:
    tried = cut_off(lab, hub)
    lab.open(
        LOAD,
        "d = Dashboard(); display(d)",
        "_ = computed(wait, 4)",
        "%%profile\ngate.set()\n_ = computed(slow, 40)",
    )
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Running")
    expect(lab.page.locator(".tsk-cell-badge")).to_have_text("Dask: 0%")
    expect(lab.page.locator(".tsk-gantt canvas")).to_be_visible()
    assert not lab.is_done(2)
    lab.page.get_by_role("button", name="Stop", exact=True).click()
    lab.wait_cell(2)
    with lab.page.expect_console_message(lambda said: said.text.startswith(BLOCKED)):
        lab.run_cell(3)
    result = lab.page.locator(".taskscope-chart")
    # The policy also holds for the frame, so its script does not run; the picture is seen through it.
    image = result.get_by_role("img", name="Gantt chart")
    expect(image).to_be_visible()
    expect(lab.page.frame_locator("iframe").locator(".tsk-chart")).to_have_count(0)
    picture = image.screenshot(path=shots / "strict-policy.png")
    lab.page.screenshot(path=shots / "strict-policy-result.png")
    colours = Image.open(BytesIO(picture)).convert("RGB").getcolors(1_000_000)
    assert SECOND_COLOUR in {colour for _, colour in colours or []}
    assert tried == []
    # One is JupyterLab's own, which takes the token out of the address.
    blocked = [error for error in lab.errors if error.startswith(f"console: {BLOCKED}")]
    assert len(blocked) == 2, lab.errors
    lab.forgive(f"console: {BLOCKED}")
