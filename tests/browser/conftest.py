"""The browser tests' harness: one real Jupyter server and one real Chromium for the whole session.

A test takes the fixture ``lab`` and drives it::

    def test_something(lab: LabPage) -> None:
        lab.open("%load_ext taskscope", "x.compute()")       # a notebook with two cells, kernel ready
        lab.run_cell(0)                                      # runs and waits for the end
        lab.start_cell(1)                                    # runs, does not wait
        expect(lab.page.get_by_role("progressbar")).to_be_visible()
        assert not lab.is_done(1)                            # seen while the cell was still running
        lab.wait_cell(1)
        lab.page.screenshot(path=shots / "x.png")            # fixture ``shots``, under build/screenshots

All tests of a process use the same page, which is reset between them. A test that measures loading, reloads
the page or loses it is marked ``fresh_page`` and has a page of its own. ``open_lab`` opens further pages
(another browser tab, the same server), ``notebook`` is a page of Notebook 7.
Wait for conditions with ``expect(...)``, ``page.wait_for_function`` or ``lab.wait_feed``; never sleep.

Every page error and every ``console.error`` fails the test. Where one is not ours, the test says why and has
it forgiven (``lab.forgive``).

Taskscope and its extension are those installed for this Python: ``make browser`` sees to that.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.harness.contexts import Contexts
from tests.browser.harness.kept_page import OPTIONS, KeptPage
from tests.browser.harness.lab_page import DONE_MS, LabPage
from tests.browser.harness.server import FORKED, PYTHON3, Server, running_server

# Left alone, it gives up after five seconds, in which a kernel on a busy machine has not even started.
expect.set_options(timeout=DONE_MS)

OpenLab = Callable[..., LabPage]
"""Opens one more page; keywords are those of Playwright's browser contexts."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("jupyter"), offers_forked=True) as started:
        yield started


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("the browser tests need Chromium on the PATH; `make browser` installs it")
    with sync_playwright() as playwright:
        # A page that a test makes up comes from no host, and may open no websocket to this one otherwise.
        flags = ["--no-sandbox", "--disable-features=LocalNetworkAccessChecks"]
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def contexts(chromium: Browser) -> Contexts:
    return Contexts(chromium)


@pytest.fixture
def open_lab(server: Server, contexts: Contexts, request: pytest.FixtureRequest) -> Iterator[OpenLab]:
    with opening_pages(server, contexts, request.node.name, kernel=FORKED) as open_one:
        yield open_one


@pytest.fixture(scope="session")
def kept_page(server: Server, contexts: Contexts) -> KeptPage:
    return KeptPage(server, contexts)


@pytest.fixture
def lab(kept_page: KeptPage, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """Return the page that tests use one after another, or one that has loaded nothing (``fresh_page``)."""
    if request.node.get_closest_marker("fresh_page"):
        open_lab: OpenLab = request.getfixturevalue("open_lab")
        yield open_lab()
        return
    lab = kept_page.take(_workspace(request.node.name))
    yield lab
    kept_page.give_back(lab, failed=request.node.stash.get(FAILED, False))
    _fail_on(lab.errors)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def notebook_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("notebook"), "notebook") as started:
        yield started


@pytest.fixture
def notebook(
    notebook_server: Server, contexts: Contexts, request: pytest.FixtureRequest
) -> Iterator[LabPage]:
    """Return a page of Notebook 7."""
    with opening_pages(notebook_server, contexts, request.node.name) as open_one:
        page = open_one()
        yield page
        # Notebook 7.6 raises this while it loads its settings, also with our extension disabled.
        page.forgive("page error: Cannot read properties of undefined (reading 'schema') in notebook_core")


@contextmanager
def opening_pages(
    server: Server, contexts: Contexts, test: str, *, keep: bool = False, kernel: str = PYTHON3
) -> Iterator[OpenLab]:
    """Open pages for a test, each in a context; shut down all kernels after it, or `keep` them."""
    opened: list[tuple[LabPage, BrowserContext, dict[str, Any]]] = []
    workspace = _workspace(test)

    def open_one(**options: Any) -> LabPage:
        wanted = OPTIONS | options
        page = contexts.new_page(server, **wanted)
        lab = LabPage(page, server, f"{workspace}-{len(opened)}" if opened else workspace, kernel=kernel)
        opened.append((lab, page.context, wanted))
        return lab

    yield open_one
    for _, context, options in opened:
        contexts.give_back(context, server, **options)
    server.forget_theme()
    if not keep:
        server.shut_down_kernels()
    _fail_on([error for lab, _, _ in opened for error in lab.errors])


def _workspace(test: str) -> str:
    return re.sub(r"\W+", "-", test)


def _fail_on(errors: list[str]) -> None:
    if errors:
        pytest.fail("the page reported\n  " + "\n  ".join(errors), pytrace=False)


@pytest.fixture(scope="session")
def shots() -> Path:
    folder = Path(__file__).parents[2] / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
