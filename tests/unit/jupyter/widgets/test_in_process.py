"""Widgets where there is no notebook."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from html.parser import HTMLParser

import dask
import pytest

from taskscope import CacheWidget, Dashboard, GanttWidget, ProgressWidget, ResourceWidget
from taskscope.errors import OptionError
from taskscope.jupyter.feed import current as current_feed
from taskscope.jupyter.widgets.base import RecorderWidget
from taskscope.jupyter.widgets.output import Bundle
from taskscope.record.pump import Tick
from taskscope.session import current
from tests.support.files.hostile import hostile
from tests.support.files.payloads import PAYLOADS

VIEW = "application/vnd.jupyter.widget-view+json"
OURS = "application/vnd.taskscope.view+json"
KINDS = [ProgressWidget, GanttWidget, ResourceWidget, CacheWidget, Dashboard]


@pytest.fixture(autouse=True)
def closed_feed() -> Iterator[None]:
    yield
    current_feed().close()


def test_a_terminal_shows_a_widget_s_state_once_and_is_not_written_to_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    widget = ProgressWidget()
    widget._ipython_display_()
    output = widget._output
    assert output is not None
    assert not output.wants(Tick(1.0, active=True, final=False))
    assert not output.wants(Tick(2.0, active=False, final=True))
    widget.close()
    assert "no Dask compute yet" in capsys.readouterr().out


@pytest.mark.parametrize("kind", [GanttWidget, Dashboard])
def test_what_is_no_recording_is_refused_with_what_is(kind: type[GanttWidget]) -> None:
    message = (
        f"{kind.__name__} shows a taskscope.Recording, which `%%profile -o run` and "
        "taskscope.load(file) give, or, without one, what the kernel computes; got [1, 2]"
    )
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        kind([1, 2])  # type: ignore[arg-type]  # that is the point
    message = "window must be a RunRange of computes, or None for what runs; got 3"
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        kind(window=3)  # type: ignore[arg-type]  # that is the point


def test_a_keyword_that_is_no_trait_is_refused_with_the_nearest() -> None:
    message = "GanttWidget() got an unexpected keyword argument 'folow': unknown trait 'folow'; did you mean"
    with pytest.raises(TypeError, match=f"^{re.escape(message)} 'follow'"):
        GanttWidget(folow=True)


def test_beside_its_view_a_widget_says_in_words_and_a_picture_how_far_computes_are() -> None:
    widget = ProgressWidget()
    try:
        bundle = widget._repr_mimebundle_()
        assert sorted(bundle) == [VIEW, OURS, "text/html", "text/plain"]
        assert bundle["text/plain"] == "taskscope · no Dask compute yet"
        assert bundle["text/html"].startswith("<div><b>taskscope · no Dask compute yet</b></div><img ")
        assert "install taskscope" not in bundle["text/html"]
    finally:
        widget.close()


class Outputs:
    """What a front end is told of outputs: how, whose, and the text in it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.told: list[tuple[str, str, str, bool]] = []
        self._news = threading.Semaphore(0)
        for how in ("display", "update_display"):
            patch.setattr(f"taskscope.jupyter.widgets.output.{how}", partial(self._tell, how))

    def _tell(self, how: str, bundle: Bundle, *, raw: bool, display_id: str) -> None:
        assert raw
        self.told.append((how, display_id, bundle["text/plain"], VIEW in bundle))
        self._news.release()

    def wait(self, n: int) -> None:
        """Wait for so many to be told."""
        for _ in range(n):
            assert self._news.acquire(timeout=60)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Outputs:
    """A notebook in JupyterLab, for widgets that are displayed in it."""
    monkeypatch.setattr("taskscope.jupyter.widgets.base.in_kernel", lambda: True)
    monkeypatch.setattr(current_feed(), "has_front_end", lambda: True)
    return Outputs(monkeypatch)


def compute_some(n: int = 3) -> None:
    dask.compute([dask.delayed(abs)(-i, dask_key_name=f"one-{i}") for i in range(n)], scheduler="synchronous")


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_notebook_keeps_of_a_live_widget_is_the_end_of_each_compute_told_once_for_all_places(
    notebook: Outputs, kind: type[RecorderWidget]
) -> None:
    with closing(kind()) as widget:
        widget._ipython_display_()
        widget._ipython_display_()
        notebook.wait(2)
        compute_some(3)
        notebook.wait(1)
        compute_some(5)
        notebook.wait(1)
    hows, ids, texts, views = zip(*notebook.told, strict=True)
    assert hows == ("display", "display", "update_display", "update_display")
    assert (len(set(ids)), views) == (1, (True,) * 4)
    assert texts[:2] == ("taskscope · no Dask compute yet",) * 2
    ends = [re.sub(r"[\d.]+ [mµ]?s", "0 s", text) for text in texts[2:]]
    assert ends == [
        f"taskscope · finished · {n} of {n} tasks (100%) · 0 running · 0 s elapsed" for n in (3, 5)
    ]
    compute_some()
    assert len(notebook.told) == 4, "a closed widget is told of no more"


@pytest.mark.parametrize("kind", [GanttWidget, Dashboard])
def test_threads_are_those_that_ran_what_is_shown_and_not_all_of_the_session(
    kind: type[GanttWidget | Dashboard],
) -> None:
    together = threading.Barrier(3)
    tasks = [dask.delayed(lambda _: together.wait(60))(i) for i in range(3)]
    with closing(kind()) as before:
        dask.compute(tasks, scheduler="threads", num_workers=3)
        with closing(kind()) as widget:
            seen = [widget.n_lanes, before.n_lanes]
            compute_some()
            seen += [widget.n_lanes, before.n_lanes]
    assert seen == [3, 3, 1, 1]


def test_a_dashboard_that_is_made_after_computes_shows_the_last_one() -> None:
    current().hold("the extension")
    try:
        compute_some(5)
        compute_some(3)
        with closing(Dashboard()) as made:
            after = (made.state, made.total, made.finished, made.n_tasks, made.n_lanes, made.n_samples > 0)
            picture = made._repr_mimebundle_()["text/plain"]
            compute_some(4)
            later = (made.state, made.total, made.finished, made.n_tasks, made.n_lanes)
    finally:
        current().release("the extension")
    assert after == ("finished", 3, 3, 3, 1, True)
    assert picture.startswith("taskscope · finished · 3 of 3 tasks (100%)")
    assert later == ("finished", 4, 4, 4, 1)


@pytest.mark.parametrize(
    ("server", "has_view"), [("voila/0.5.13", True), ("another/1", False), (None, False)]
)
def test_voila_gets_the_widget_at_once_for_it_has_no_page_yet_and_hears_of_no_update(
    monkeypatch: pytest.MonkeyPatch, notebook: Outputs, server: str | None, *, has_view: bool
) -> None:
    monkeypatch.delattr(current_feed(), "has_front_end")
    if server is not None:
        monkeypatch.setenv("SERVER_SOFTWARE", server)
    with closing(ProgressWidget()) as widget:
        widget._ipython_display_()
    assert [(how, view) for how, _, _, view in notebook.told] == [("display", has_view)]


class Tags(HTMLParser):
    """Lists the elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def test_beside_its_view_no_text_of_the_user_becomes_an_element() -> None:
    def tags(text: str) -> list[str]:
        widget = GanttWidget(hostile(text))
        page = widget._repr_mimebundle_()["text/html"]
        widget.close()
        return Tags(page).found

    expected = tags("harmless")
    assert [payload for payload in PAYLOADS if tags(payload) != expected] == []
