"""Two recordings on one page, on one scale."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import taskscope
from taskscope.cli import main
from taskscope.errors import ExistingFileError
from taskscope.recording import Comparison, Recording
from tests.support.files.hostile import hostile
from tests.support.files.payloads import PAYLOADS
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


def of(*rows: Row, stop_s: float) -> Recording:
    return recording_of(rows, [run_of(n_tasks=len(rows), stop_s=stop_s)])


@pytest.fixture
def before() -> Recording:
    return of(Row(key=("load-1", 0), stop_s=2.0), Row(key=("sum-1", 0), start_s=2.0, stop_s=4.0), stop_s=4.0)


@pytest.fixture
def after() -> Recording:
    return of(Row(key=("sum-1", 0), stop_s=1.0), Row(key=("mean-1", 0), start_s=1.0, stop_s=2.0), stop_s=2.0)


def comparison_page(comparison: Comparison) -> str:
    """Return the page that a comparison is saved as."""
    with TemporaryDirectory() as folder:
        comparison.to_html(path := Path(folder) / "a.html")
        return path.read_text("utf-8")


def pictures(page: str) -> list[str]:
    return [base64.b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)", page)]


def test_both_charts_have_the_longer_ones_scale_and_the_same_colours(
    before: Recording, after: Recording
) -> None:
    svgs = pictures(comparison_page(taskscope.compare(before, after)))
    ticks = [re.findall(r">([\d.]+ m?s)</text>", svg) for svg in svgs]
    assert ticks[0] == ticks[1]
    assert ticks[0][-1] == "4 s"
    fills = [dict(re.findall(r'fill="(#\w+)"/><text[^>]*>([^<]+)<', svg)) for svg in svgs]
    assert [{v: k for k, v in each.items()}["sum"] for each in fills] == ["#4cd676", "#4cd676"]


def test_the_page_says_what_changed_and_that_intervals_know_little(
    before: Recording, after: Recording
) -> None:
    page = comparison_page(taskscope.compare(before, after))
    assert '<th scope="row">load</th><td>1 → 0</td><td>2 s</td><td>0 s</td><td>gone</td>' in page
    assert "They know nothing of what differs from run to run." in page


class Tags(HTMLParser):
    """Lists the elements of a page, with their attributes' names."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def test_hostile_text_adds_no_element() -> None:
    def tags(text: str) -> list[list[tuple[str, tuple[str, ...]]]]:
        comparison = taskscope.compare(hostile(text), hostile(text))
        page, cell = comparison_page(comparison), comparison._repr_mimebundle_()["text/html"]
        return [Tags(part).found for part in (page, *pictures(page), cell)]

    expected = tags("harmless")
    assert [payload for payload in PAYLOADS if tags(payload) != expected] == []


def test_the_command_prints_it_and_writes_a_page(
    before: Recording, after: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / name) for name in ("a.taskscope", "b.taskscope")]
    before.save(paths[0])
    after.save(paths[1])
    page = tmp_path / "c.html"
    assert main(["compare", *paths, "-o", str(page)]) == 0
    assert capsys.readouterr().out == f"{taskscope.compare(before, after)}\n"
    assert len(pictures(page.read_text("utf-8"))) == 2
    assert main(["compare", *paths, "-o", str(page)]) == 1
    assert "add --overwrite to replace it" in capsys.readouterr().err


def test_a_page_is_not_replaced_unasked(before: Recording, after: Recording, tmp_path: Path) -> None:
    page = tmp_path / "c.html"
    page.write_text("mine")
    with pytest.raises(ExistingFileError):
        taskscope.compare(before, after).to_html(page)
    assert page.read_text() == "mine"


def test_as_a_value_a_comparison_is_its_text_and_in_a_notebook_tables_and_charts(
    before: Recording, after: Recording
) -> None:
    found = taskscope.compare(before, after)
    assert repr(found) == str(found)
    assert repr(found).startswith("taskscope · comparison\n\n ")
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == str(found)
    page = comparison_page(found)
    assert bundle["text/html"].removeprefix("<div>").removesuffix("</div>") in page
    assert len(pictures(bundle["text/html"])) == 2
