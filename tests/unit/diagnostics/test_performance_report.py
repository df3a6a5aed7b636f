from __future__ import annotations

import asyncio
import html
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import dask
import pytest
from dask import delayed

from taskscope.diagnostics import performance_report
from taskscope.errors import FileError, OptionError, TaskscopeError
from taskscope.report import performance_html
from tests.support.files.payloads import PAYLOADS
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests may have imported it."""
    monkeypatch.delitem(sys.modules, "distributed", raising=False)


def compute() -> object:
    return delayed(sum)([1, 2]).compute(scheduler="synchronous")


def sections(page: str) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", page)


def calling_code(page: str) -> str:
    found = re.search(r"<pre>(.*)</pre>", page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


def test_a_block_leaves_one_page_with_everything(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    with performance_report(filename=path) as report:
        compute()
    page = path.read_text(encoding="utf-8")
    assert sections(page) == ["Profile", "Versions and machine", "Calling code"]
    assert f"<td>dask</td><td>{dask.__version__}</td>" in page
    assert "1 compute · 1 task" in page
    assert [run.n_tasks for run in report.recording.runs] == [1]
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_the_code_is_that_of_who_uses_it(tmp_path: Path) -> None:
    def inner(level: int) -> str:
        with performance_report(tmp_path / "a.html", stacklevel=level):  # this is the line
            pass
        return calling_code((tmp_path / "a.html").read_text(encoding="utf-8"))

    assert inner(1).lstrip().startswith("def inner(level")
    assert "# this is the line" in inner(1)
    assert inner(2).startswith("def test_the_code_is_that_of_who_uses_it")
    assert inner(0) == inner(1)
    page = tmp_path / "a.html"
    with performance_report(page, stacklevel=1_000_000):
        pass
    outermost = page.read_text(encoding="utf-8").partition("<h2>Calling code</h2>")[2]
    assert outermost != ""
    assert "of_who_uses_it" not in outermost


def test_the_page_is_written_also_if_the_block_raises_and_its_exception_comes_through(tmp_path: Path) -> None:
    def fail() -> None:
        raise ValueError("mine")

    def block() -> None:
        with performance_report(tmp_path / "a.html"):
            delayed(fail)().compute(scheduler="synchronous")

    with pytest.raises(ValueError, match=r"^mine$"):
        block()
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "error: ValueError: mine" in page


def test_an_asynchronous_block_is_reported(tmp_path: Path) -> None:
    async def block() -> None:
        async with performance_report(tmp_path / "a.html"):  # asynchronous
            compute()

    asyncio.run(block())
    assert "# asynchronous" in calling_code((tmp_path / "a.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"filename": "no/such/folder/a.html"}, FileError, "the directory 'no/such/folder' does not exist"),
        ({"filename": "."}, FileError, "it is a directory; name a file"),
        ({"filename": ""}, OptionError, "filename must be the path of the page, got ''"),
        ({"filename": 7}, OptionError, "filename must be the path of the page, got 7"),
        (
            {"filename": "nowhere://x/a.html"},
            OptionError,
            "cannot write to 'nowhere://x/a.html': Protocol not",
        ),
        ({"stacklevel": "1"}, OptionError, "stacklevel must be a whole number of frames, got '1'"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_block_runs(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        performance_report(**options)


def test_a_page_goes_where_fsspec_can_write(tmp_path: Path) -> None:
    with performance_report(f"file://{tmp_path}/a.html"):
        compute()
    assert "1 compute" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_at_the_end_is_a_warning_and_no_exception(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    report = performance_report(folder / "a.html")

    def block() -> object:
        with report:
            folder.rmdir()
            return compute()

    with pytest.warns(UserWarning, match=r"the report '.*a.html' was not written: FileError: "):
        assert block() == 3
    assert len(report.recording.runs) == 1


def test_a_report_is_used_once_and_has_no_recording_before(tmp_path: Path) -> None:
    report = performance_report(tmp_path / "a.html")
    with pytest.raises(TaskscopeError, match="nothing is recorded yet"):
        _ = report.recording
    with report:
        pass
    with pytest.raises(TaskscopeError, match="this performance_report was used before"):
        report.__enter__()


class Elements(HTMLParser):
    """Notes every element with the names of its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attrs]))


def page_with(text: str) -> str:
    recording = recording_of([Row(key=(text, 0))], metadata={"host": text, "note": text})
    stacks = stacks_of([Sample((text, "g"), 9, 0.5, prefix=text), Sample((text,), 1, 0.1)])
    return performance_html(replace(recording, stacks=stacks), f"code = {text}")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_makes_no_element_and_no_attribute(payload: str) -> None:
    assert Elements(page_with(payload)).found == Elements(page_with("harmless")).found


def test_the_profile_has_a_table_and_says_that_it_is_an_estimate() -> None:
    recording = replace(
        recording_of([Row(key="x-1")]), stacks=stacks_of([Sample(("f", "g"), 3, 0.3), Sample((), 1, 0.1)])
    )
    page = performance_html(recording, None)
    assert "4 samples, about every 10 ms; they stand for about 400 ms in tasks." in page
    assert "<tr><td>g</td><td>300 ms</td><td>75%</td><td>300 ms</td><td>3</td>" in page
    assert "<td>g.py:1</td></tr>" in page
    assert "<tr><td>x</td><td>100 ms</td><td>25%</td>" in page
    assert "C code that Dask called" in page
