from __future__ import annotations

import re
import sys
import webbrowser
from collections.abc import Callable
from html.parser import HTMLParser
from operator import add
from pathlib import Path
from typing import Any

import dask
import dask.diagnostics
import dask.threaded
import numpy as np
import pytest
from bokeh.models import GridPlot
from bokeh.plotting import figure

import taskscope
from taskscope.diagnostics import CacheProfiler, Profiler, ResourceProfiler, visualize
from taskscope.errors import FileError, MissingDependencyError, OptionError
from tests.support.files.document_fixture import FOLDER
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row

GRAPH = {"x": 1, "y": (add, "x", 10), "z": (add, "y", 2)}


class Addresses(HTMLParser):
    """Collects what the tags of a page refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in {"src", "href", "srcset", "data"}]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def prof() -> Profiler:
    with Profiler() as prof:
        dask.get(GRAPH, "z")
    return prof


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses that the browser is asked to open; nothing is."""
    addresses: list[str] = []

    class Browser(webbrowser.BaseBrowser):
        def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:  # noqa: FBT001, FBT002 - theirs
            addresses.append(url)
            return True

    monkeypatch.setattr(webbrowser, "_tryorder", ["noting"])
    monkeypatch.setitem(webbrowser._browsers, "noting", [None, Browser()])  # type: ignore[attr-defined]  # no public way to put it back
    return addresses


def test_a_figure_is_returned_and_saved_with_all_it_needs(prof: Profiler, folder: Path) -> None:
    plot = visualize(prof, show=False)
    assert isinstance(plot, figure)
    page = (folder / "profile.html").read_text("utf-8")
    assert "<title>Profile Results</title>" in page
    addresses = Addresses()
    addresses.feed(page)
    assert addresses.found == []
    assert len(page) > 1_000_000


def test_a_second_run_of_a_script_replaces_its_file_as_in_dask(prof: Profiler, folder: Path) -> None:
    file = folder / "prof.html"
    file.write_text("of the first run")
    prof.visualize(filename=file, show=False)
    assert "Profile Results" in file.read_text("utf-8")
    file.write_text("precious")
    with pytest.raises(FileError, match=r"a file of that name exists; pass overwrite=True to replace it"):
        visualize(prof, file, show=False, overwrite=False)
    assert file.read_text() == "precious"


def test_a_symbolic_link_is_never_followed(prof: Profiler, folder: Path) -> None:
    target = folder / "target"
    target.write_text("precious")
    link = folder / "profile.html"
    link.symlink_to(target)
    with pytest.raises(FileError, match="a symbolic link of that name exists"):
        visualize(prof, show=False, overwrite=False)
    visualize(prof, show=False)
    assert target.read_text() == "precious"
    assert not link.is_symlink()


def test_nothing_is_written_without_save(prof: Profiler, folder: Path) -> None:
    visualize(prof, show=False, save=False)
    assert list(folder.iterdir()) == []


def test_the_browser_opens_the_saved_file_or_one_of_its_own(
    prof: Profiler, folder: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    visualize(prof)
    visualize(prof, save=False)
    first, second = opened
    assert first == (folder / "profile.html").as_uri()
    assert re.fullmatch(re.escape(folder.as_uri()) + r"/profile-\w+\.html", second)
    assert "Profile Results" in Path(second.removeprefix("file://")).read_text("utf-8")


def figures_of(layout: Any) -> list[Any]:
    assert isinstance(layout, GridPlot)
    return [row[0] for row in layout.children]


def lines_of(cache: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Return times and sums of each line of a chart of results in memory, by name."""
    sources = [renderer.data_source.data for renderer in cache.renderers]
    return {data["label"][0]: (list(data["x"]), list(data["y"])) for data in sources}


def test_several_stand_above_each_other_on_one_axis() -> None:
    with Profiler() as prof, ResourceProfiler(dt=0.01) as rprof, CacheProfiler() as cprof:
        dask.threaded.get(GRAPH, "z")
    tasks, resources, cache = figures_of(
        visualize([prof, rprof, cprof], show=False, save=False, title="Mine")
    )
    assert tasks.x_range is resources.x_range is cache.x_range
    assert (tasks.title.text, resources.title, cache.title) == ("Mine", None, None)
    assert [f.xaxis[0].axis_label for f in (tasks, resources, cache)] == [None, None, "Time (s)"]
    bars = tasks.renderers[0].data_source.data
    assert (bars["key"], bars["function"]) == (["y", "z"], ["y", "z"])
    assert {name: max(sums) for name, (_, sums) in lines_of(cache).items()} == {"y": 1.0, "z": 1.0}


def test_tasks_and_results_are_named_by_their_prefix_and_a_result_without_a_number_is_left_out() -> None:
    def size(result: int) -> int | None:
        return None if result == 3 else result

    graph = {("inc-1", i): (add, i, 1) for i in range(4)}
    with Profiler() as prof, CacheProfiler(size) as cprof:
        dask.get(graph, list(graph))
    tasks, cache = figures_of(visualize([prof, cprof], show=False, save=False))
    bars = tasks.renderers[0].data_source.data
    assert (set(bars["function"]), len(set(bars["color"])), sorted(bars["key"])) == (
        {"inc"}, 1, [f"('inc-1', {i})" for i in range(4)],
    )  # fmt: skip
    assert {name: max(sums) for name, (_, sums) in lines_of(cache).items()} == {"inc": 7.0}


def test_a_profiler_of_dask_s_can_be_among_them(prof: Profiler) -> None:
    with dask.diagnostics.Profiler() as theirs:
        dask.get(GRAPH, "z")
    grid: Any = visualize([prof, theirs], show=False, save=False)
    assert isinstance(grid, GridPlot)
    assert len(grid.children) == 2


def test_a_recording_is_drawn_with_what_it_has() -> None:
    bare = recording_of([Row(key="x-1", stop_s=1.0), Row(key="y-1", stop_s=2.0, status="erred", error="no")])
    tasks, cache = figures_of(bare.plot(title="Mine"))
    bars = tasks.renderers[0].data_source.data
    assert (bars["key"], bars["function"], bars["width"]) == (["x-1", "y-1 (erred)"], ["x", "y"], [1.0, 2.0])
    assert (tasks.title.text, cache.yaxis[0].axis_label) == ("Mine", "Cache Size (bytes)")
    recording = taskscope.load(FOLDER / "busy.taskscope")
    labels = [f.yaxis[0].axis_label for f in figures_of(recording.plot())]
    assert labels == ["Worker ID", "% CPU", "Cache Size (weight)"]
    held = recording.table("cache")
    ours = [i for i, prefix in enumerate(held["prefix"]) if prefix == "ones_like"]
    enter, leave, value = (np.asarray(held[name], float)[ours] for name in ("enter_s", "exit_s", "metric"))
    peak = max(float(value[(enter <= t) & (leave > t)].sum()) for t in enter)
    assert max(lines_of(figures_of(recording.plot())[2])["ones_like"][1]) == pytest.approx(peak)


def test_a_figure_of_too_many_tasks_or_of_no_palette_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = recording_of([Row(key=("x-1", i), stop_s=1.0) for i in range(3)])
    with pytest.raises(OptionError, match="unknown palette 'viridis'; did you mean 'Viridis'"):
        recording.plot(palette="viridis")
    monkeypatch.setattr("taskscope.report.figures.MOST_TASKS", 2)
    with pytest.raises(OptionError) as raised:
        recording.plot()
    assert str(raised.value) == (
        "a figure has at most 2 tasks, and this recording has 3: to_html(path) draws any number"
    )


def test_an_unknown_keyword_of_bokeh_s_is_named(prof: Profiler) -> None:
    with pytest.raises(AttributeError, match="foo_bar"):
        visualize(prof, show=False, save=False, foo_bar=1)


def test_file_path_still_works_and_warns(prof: Profiler, folder: Path) -> None:
    with pytest.warns(FutureWarning, match="file_path keyword argument is deprecated"):
        visualize(prof, show=False, file_path=folder / "old.html")
    assert (folder / "old.html").exists()


def test_an_empty_list_is_told(prof: Profiler) -> None:
    with pytest.raises(OptionError, match="got an empty list"):
        visualize([], show=False)


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    import subprocess

    program = (
        "import sys, taskscope.diagnostics\n"
        "from taskscope.diagnostics import (Callback, ProgressBar, Profiler, ResourceProfiler,\n"
        "                                   CacheProfiler, performance_report, visualize)\n"
        "heavy = ('IPython', 'bokeh', 'distributed', 'ipywidgets', 'pandas', 'pyarrow')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_bokeh_figures_say_what_to_install(
    prof: Profiler, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "bokeh"]:
        monkeypatch.setitem(sys.modules, name, None)
    drawn: list[Callable[[], object]] = [
        prof.visualize,
        prof.recording.plot,
        lambda: visualize([prof, CacheProfiler()]),
    ]
    for draw in drawn:
        with pytest.raises(
            MissingDependencyError,
            match=r"^a figure needs bokeh; install it: pip install 'taskscope\[plots\]'$",
        ):
            draw()
    assert list(folder.iterdir()) == []
