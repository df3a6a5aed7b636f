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
import pytest
from bokeh.models import GridPlot
from bokeh.models.annotations import Legend
from bokeh.plotting import figure

from taskscope.diagnostics import CacheProfiler, Profiler, ResourceProfiler, visualize
from taskscope.errors import FileError, MissingDependencyError, OptionError

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


def test_what_cannot_be_written_is_found_out_first(prof: Profiler) -> None:
    with pytest.raises(FileError, match="does not exist; make it first"):
        visualize(prof, "/no/such/folder/profile.html", show=False, foo_bar="not reached")


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


def test_several_stand_above_each_other_on_one_axis_with_one_legend() -> None:
    with Profiler() as prof, ResourceProfiler(dt=0.01) as rprof, CacheProfiler() as cprof:
        dask.threaded.get(GRAPH, "z")
    grid: Any = visualize([prof, rprof, cprof], show=False, save=False, title="Mine")
    assert isinstance(grid, GridPlot)
    figures: list[Any] = [row[0] for row in grid.children]
    assert all(isinstance(f, figure) for f in figures)
    tasks, resources, cache = figures
    assert tasks.x_range is resources.x_range is cache.x_range
    assert (tasks.title.text, resources.title, cache.title) == ("Mine", None, None)
    labels = [f.xaxis[0].axis_label for f in figures]
    assert labels == [None, None, "Time (s)"]
    assert [sum(isinstance(part, Legend) for part in f.below) for f in figures] == [1, 0, 0]
    step = next(r for r in cache.renderers if r.data_source.data["label"][0] == "y")
    bars = next(r for r in tasks.renderers if "colour" in r.data_source.data).data_source.data
    assert step.glyph.line_color == bars["colour"][bars["key"].index("y")]


def test_the_time_of_all_is_counted_from_the_earliest_start() -> None:
    with Profiler() as prof:
        dask.get(GRAPH, "z")
        with CacheProfiler() as cprof:
            dask.get(GRAPH, "z")
    grid: Any = visualize([prof, cprof], show=False, save=False)
    tasks, cache = (row[0] for row in grid.children)
    starts = sorted(next(r for r in tasks.renderers if "left" in r.data_source.data).data_source.data["left"])
    entered = min(r.data_source.data["x"][0] for r in cache.renderers if "label" in r.data_source.data)
    assert starts[2] < entered < starts[3]


def test_a_profiler_of_dask_s_can_be_among_them(prof: Profiler) -> None:
    with dask.diagnostics.Profiler() as theirs:
        dask.get(GRAPH, "z")
    grid: Any = visualize([prof, theirs], show=False, save=False)
    assert isinstance(grid, GridPlot)
    assert len(grid.children) == 2


def test_what_is_registered_or_has_seen_nothing_can_be_drawn() -> None:
    prof = Profiler()
    visualize([prof, CacheProfiler(), ResourceProfiler()], show=False, save=False)
    prof.register()
    dask.get(GRAPH, "z")
    plot: Any = prof.plot()
    prof.unregister()
    assert [len(r.data_source.data["left"]) for r in plot.renderers if "left" in r.data_source.data] == [2]


def test_an_unknown_keyword_of_bokeh_s_is_named(prof: Profiler) -> None:
    with pytest.raises(AttributeError, match="foo_bar"):
        visualize(prof, show=False, save=False, foo_bar=1)


def test_file_path_still_works_and_warns(prof: Profiler, folder: Path) -> None:
    with pytest.warns(FutureWarning, match="file_path keyword argument is deprecated"):
        visualize(prof, show=False, file_path=folder / "old.html")
    assert (folder / "old.html").exists()


def test_a_mode_that_bokeh_does_not_know_is_told(prof: Profiler) -> None:
    with pytest.raises(OptionError, match="mode must be one of Bokeh's, such as 'inline' or 'cdn'"):
        visualize(prof, show=False, mode="cnd")


def test_with_mode_cdn_the_file_is_small(prof: Profiler, folder: Path) -> None:
    visualize(prof, show=False, mode="cdn")
    assert (folder / "profile.html").stat().st_size < 50_000


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
    for name in [name for name in sys.modules if name.startswith("taskscope.charts")]:
        monkeypatch.delitem(sys.modules, name)
    drawn: list[Callable[[], object]] = [
        prof.visualize,
        prof.recording.plot,
        lambda: visualize([prof, CacheProfiler()]),
    ]
    for draw in drawn:
        with pytest.raises(
            MissingDependencyError, match=r"^a figure needs bokeh; install it: pip install 'bokeh>=3.4'$"
        ):
            draw()
    assert list(folder.iterdir()) == []
