from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import pytest

import taskscope.report.embed
import taskscope.report.page
import taskscope.report.result
from taskscope.recording import Recording
from taskscope.report.embed import PageScript
from taskscope.report.result import lanes_px
from tests.support.files.report_fixture import PATH, content_of, dense_data
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row
from tests.support.shared_cases import shared_cases

SCRIPT = PageScript(
    html="<script type='text/plain' class='taskscope-script'>eA==</script><script>run & jump</script>",
    sources="'sha256-one' 'sha256-two'",
)
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(1)>",
    "'\"&amp;<![CDATA[",
    "\u202egnp.exe",
    "\ud800lone",
    "x" * 1_000_000,
    "nul\x00\x1b[31m",
]


def page_html(recording: Recording) -> str:
    """Return the page that a recording is saved as."""
    with TemporaryDirectory() as folder:
        recording.to_html(path := Path(folder) / "a.html")
        return path.read_text("utf-8")


def picture_of(recording: Recording) -> str:
    """Return the picture in the result of a recording."""
    (image,) = Elements(recording._repr_mimebundle_()["text/html"]).named("img")
    return b64decode(str(image["src"]).partition("base64,")[2]).decode()


class Elements(HTMLParser):
    """The elements and attributes that a browser would make of a document."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(autouse=True)
def built_front_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (taskscope.report.embed, taskscope.report.page, taskscope.report.result):
        monkeypatch.setattr(module, "report_script", lambda _, **__: SCRIPT)


def test_plain_text_is_the_summary_and_html_has_picture_frame_and_table() -> None:
    recording = recording_of([Row(key="a-1"), Row(key="b-1", lane=1)])
    bundle = recording._repr_mimebundle_()
    elements = Elements(bundle["text/html"])
    assert bundle["text/plain"] == recording.summary()
    assert [frame["sandbox"] for frame in elements.named("iframe")] == ["allow-scripts"]
    assert [image["alt"] for image in elements.named("img")] == [
        "Gantt chart: taskscope · finished · threads · 2 threads · 1 compute · 2 tasks"
    ]
    assert len(elements.named("tr")) == 3


def test_the_frame_allows_only_our_script_and_no_network() -> None:
    frame = Elements(recording_of([Row(key="a-1")])._repr_mimebundle_()["text/html"]).named("iframe")[0][
        "srcdoc"
    ]
    assert frame is not None
    inner = Elements(frame)
    policy = next(m["content"] for m in inner.named("meta") if "http-equiv" in m)
    assert policy == (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-one' 'sha256-two'"
    )
    assert [s.get("class") for s in inner.named("script")] == [
        "taskscope-data",
        "taskscope-script",
        None,
    ]
    assert "run & jump" in inner.text


def test_a_page_says_what_was_found_above_its_charts_and_draws_nothing_where_nothing_ran() -> None:
    failed, nothing = (page_html(recording_of(rows)) for rows in ([Row(key="a-1", status="erred")], []))
    shown = [(tag, of.get("class")) for tag, of in Elements(failed).found if tag in ("ul", "details", "div")]
    assert shown == [
        ("div", None),
        ("ul", None),
        ("div", "taskscope-place"),
        ("details", "taskscope-picture"),
        ("details", None),
    ]
    assert Elements(nothing).named("img") == []


def test_a_page_and_a_result_have_what_to_do_below_what_was_found_and_the_code() -> None:
    rows = [Row(key=("<read>-1", i), lane=i % 2, start_s=i // 2, stop_s=i // 2 + 1.0) for i in range(8)]
    recording = recording_of(
        [replace(row, cpu_s=0.25) for row in rows],
        [replace(run_of(n_tasks=8, stop_s=4.0), called_from="In [3], line 2")],
    )
    explained = recording.explain()
    item = "<br>".join(map(escape, (explained.answer, explained[0].advice, "computed at In [3], line 2")))
    for html in (page_html(recording), recording._repr_mimebundle_()["text/html"]):
        assert f"<ul><li>{item}</li>" in html


@pytest.mark.parametrize("key", HOSTILE, ids=lambda key: ascii(key[:12]))
def test_a_hostile_key_adds_no_element_anywhere(key: str) -> None:
    harmless, hostile = (recording_of([Row(key=k)], metadata={"label": k}) for k in ("harmless", key))
    for render in (lambda recording: recording._repr_mimebundle_()["text/html"], page_html):
        expected, found = Elements(render(harmless)), Elements(render(hostile))
        assert [tag for tag, _ in found.found] == [tag for tag, _ in expected.found]
        render(hostile).encode("utf-8")
        assert "\u202e" not in found.text


@pytest.mark.parametrize("key", HOSTILE, ids=lambda key: ascii(key[:12]))
def test_the_picture_of_a_hostile_key_is_well_formed(key: str) -> None:
    ET.fromstring(picture_of(recording_of([Row(key=key)])))


def test_the_page_that_the_browser_tests_read_is_the_one_that_is_written() -> None:
    written = PATH.read_text(encoding="utf-8")
    assert content_of(dense_data()) == content_of(written)


def test_beyond_the_limit_the_picture_stands_alone_and_says_how_to_get_the_chart() -> None:
    rows = [Row(key=("a-1", i), start_s=i, stop_s=i + 1.0) for i in range(20_001)]
    html = recording_of(rows)._repr_mimebundle_()["text/html"]
    elements = Elements(html)
    assert elements.named("iframe") == []
    assert "The picture shows all 20,001 tasks. For the interactive chart" in elements.text
    assert 'run.save("run.html")' in elements.text
    assert len(html) < 40_000


def test_without_a_built_front_end_the_picture_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taskscope.report.result, "report_script", lambda _, **__: None)
    elements = Elements(recording_of([Row(key="a-1")])._repr_mimebundle_()["text/html"])
    assert (len(elements.named("img")), elements.named("iframe")) == (1, [])


def test_without_dask_there_is_neither_picture_nor_frame() -> None:
    elements = Elements(recording_of([])._repr_mimebundle_()["text/html"])
    assert [tag for tag, _ in elements.found] == ["style", "div", "div", "b"]
    assert elements.text.endswith("taskscope · no Dask computation ran here")


def test_several_computes_are_listed_with_their_ends_tasks_and_times_and_a_single_one_is_not() -> None:
    rows = [Row(key="a-1"), Row(key="b-1", run=1)]
    runs = [
        replace(run_of(0, stop_s=2.5, n_tasks=1), label="<b>", execution_count=3),
        run_of(1, start_s=3.0, stop_s=4.0, n_tasks=1, status="interrupted"),
    ]
    for html in (
        recording_of(rows, runs)._repr_mimebundle_()["text/html"],
        page_html(recording_of(rows, runs)),
    ):
        assert html.count("<summary>Computes (2)</summary>") == 1
        assert "<td>&lt;b&gt; · In [3]</td><td>finished</td><td>1</td><td>2.5 s</td>" in html
        assert "<td>compute 2</td><td>interrupted</td><td>1</td><td>1 s</td>" in html
    assert "Computes (" not in recording_of(rows[:1])._repr_mimebundle_()["text/html"]


def test_a_frame_has_the_room_that_the_lanes_in_it_need() -> None:
    heights = shared_cases("lanes")["heights"]
    assert [[n, lanes_px(n), lanes_px(n, is_brief=True)] for n, _, _ in heights] == heights


def test_more_lanes_than_fit_are_counted() -> None:
    rows = [Row(key=f"a-{i}", lane=i) for i in range(40 + 3)]
    assert "3 more threads are not drawn" in picture_of(recording_of(rows))
