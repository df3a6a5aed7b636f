"""Widgets where there is no notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from taskscope import Dashboard, GanttWidget, ProgressWidget
from taskscope.errors import OptionError
from taskscope.jupyter.feed import current as current_feed
from taskscope.record.pump import Tick
from tests.support.hostile import hostile
from tests.support.payloads import PAYLOADS
from tests.support.recordings import recording_of
from tests.support.task_blocks import Row

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(autouse=True)
def closed_feed() -> Iterator[None]:
    yield
    current_feed().close()


def test_a_terminal_shows_a_widget_s_state_once_and_is_not_written_to_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    widget = ProgressWidget()
    widget._ipython_display_()
    (output,) = widget._outputs
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


def test_beside_its_view_a_widget_says_in_words_and_a_picture_how_far_computes_are() -> None:
    widget = ProgressWidget()
    try:
        bundle = widget._repr_mimebundle_()
        assert sorted(bundle) == [VIEW, "text/html", "text/plain"]
        assert bundle["text/plain"] == "taskscope · no Dask compute yet"
        assert bundle["text/html"].startswith("<div><b>taskscope · no Dask compute yet</b></div><img ")
        assert "install taskscope" not in bundle["text/html"]
    finally:
        widget.close()


class Tags(HTMLParser):
    """Lists the elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def test_beside_its_view_a_widget_of_a_recording_has_the_result_without_a_script() -> None:
    recording = recording_of([Row(key="a-1"), Row(key="b-1", lane=1)])
    widget = Dashboard(recording)
    bundle = widget._repr_mimebundle_()
    widget.close()
    assert bundle["text/plain"] == recording.summary()
    assert {"img", "table", "b"} <= set(Tags(bundle["text/html"]).found)
    assert {"script", "iframe"} & set(Tags(bundle["text/html"]).found) == set()


def test_beside_its_view_no_text_of_the_user_becomes_an_element() -> None:
    def tags(text: str) -> list[str]:
        widget = GanttWidget(hostile(text))
        page = widget._repr_mimebundle_()["text/html"]
        widget.close()
        return Tags(page).found

    expected = tags("harmless")
    assert [payload for payload in PAYLOADS if tags(payload) != expected] == []
