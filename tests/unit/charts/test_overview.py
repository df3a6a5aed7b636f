from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bokeh.models.annotations import Legend, Span, Title
from bokeh.plotting import figure

import taskscope
from taskscope.analysis.display.pictures import PALETTE
from taskscope.charts import html_document
from taskscope.errors import OptionError
from taskscope.recording import Recording
from tests.support.files.document_fixture import FOLDER
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


@pytest.fixture
def recording() -> Recording:
    return taskscope.load(FOLDER / "busy.taskscope")


def figures_of(layout: Any) -> list[figure]:
    return [child[0] for child in layout.children]


def test_a_recording_is_three_figures_on_one_axis_as_wide_as_their_place(recording: Recording) -> None:
    layout = recording.plot()
    figures = figures_of(layout)
    labels = [str(f.yaxis[0].axis_label) for f in figures]
    assert labels == ["Worker ID", "% CPU (solid)", "Cache Size (weight)"]
    assert {f.sizing_mode for f in figures} | {layout.sizing_mode} == {"stretch_width"}
    assert len({f.x_range.id for f in figures}) == 1
    assert len([legend for f in figures for legend in f.select({"type": Legend})]) == 1


def test_the_cache_is_that_of_the_recording(recording: Recording) -> None:
    cache = recording.table("cache")
    held = figures_of(recording.plot())[2]
    renderers: list[Any] = list(held.renderers)
    lines = [r.data_source.data for r in renderers if "label" in r.data_source.data]
    peak = max(float(np.max(data["y"])) for data in lines if data["label"][0] == "ones_like")
    ours = [i for i, prefix in enumerate(cache["prefix"]) if prefix == "ones_like"]
    enter, leave, value = (np.asarray(cache[c], float)[ours] for c in ("enter_s", "exit_s", "metric"))
    assert peak == max(float(value[(enter <= t) & (leave > t)].sum()) for t in enter)


def test_what_was_not_recorded_is_left_out(recording: Recording) -> None:
    bare = recording_of([Row(key="a", stop_s=1.0)])
    empty = replace(bare, runs=(), blocks=(), graphs={}, groups=(), lanes=())
    assert [len(figures_of(r.plot())) for r in (bare, empty)] == [2, 1]
    text = html_document(empty.plot(), "x")
    assert "no Dask computation was recorded" in text


def test_a_gap_between_samples_is_not_bridged() -> None:
    samples = [(0.0, 10.0, 1e6, 1, 0.0), (1.0, 20.0, 2e6, 1, 1.0), (2.0, 30.0, 3e6, 1, 0.0)]
    plot = figures_of(recording_of([Row(key="a", stop_s=1.0)], resources=samples).plot())[1]
    renderers: list[Any] = list(plot.renderers)
    cpu, memory = (np.asarray(r.data_source.data["y"]).tolist() for r in renderers)
    assert str(cpu) == "[10.0, nan, 20.0, 30.0]"
    assert str(memory) == "[1.0, nan, 2.0, 3.0]"


def test_a_dark_figure_has_a_dark_ground_and_text_that_can_be_read_there(recording: Recording) -> None:
    for plot in figures_of(recording.plot(theme="dark", height=200)):
        assert (plot.background_fill_color, plot.border_fill_color) == ("#161b22", "#161b22")
        assert {axis.major_label_text_color for axis in plot.axis} == {"#e6edf3"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "#161b22" in html_document(recording.plot(theme="dark"), "x")


def test_what_cannot_be_drawn_is_named(recording: Recording) -> None:
    with pytest.raises(OptionError, match="theme must be 'light' or 'dark', got 'blue'"):
        recording.plot(theme="blue")
    with pytest.raises(OptionError, match="unknown palette"):
        recording.plot(palette="No such palette")
    with pytest.raises(AttributeError, match="colour"):
        recording.plot(colour="red")


def test_task_types_have_the_colours_of_their_session_but_take_a_palette_in_turn() -> None:
    rows = [Row(key=("inc", 0), stop_s=1.0), Row(key=("dec", 0), start_s=1.0, stop_s=2.0)]
    plain = recording_of(rows, [run_of(n_tasks=2, stop_s=2.0)])
    numbers = {"inc": 4, "dec": 22}
    recording = replace(plain, groups=tuple(replace(g, colour=numbers[g.prefix]) for g in plain.groups))
    cases: list[tuple[dict[str, Any], list[str]]]
    cases = [({}, [PALETTE[4], PALETTE[2]]), ({"palette": ["red", "blue"]}, ["red", "blue"])]
    for options, colours in cases:
        renderers: list[Any] = figures_of(recording.plot(**options))[0].renderers
        bars = [each for each in renderers if type(each.glyph).__name__ == "HBar"]
        assert [list(bar.data_source.data["colour"]) for bar in bars] == [colours]


def test_the_peak_of_memory_is_marked_in_the_chart_of_the_cache_with_what_it_was() -> None:
    rows = [
        Row(key=f"blow-{i}", start_s=1.0 * i + 0.1, stop_s=1.0 * i + 0.6, size_bytes=1e6) for i in range(9)
    ]
    samples = [
        (0.25 * i, math.nan, 1e8 + (2e8 if any(r.start_s <= 0.25 * i < r.stop_s for r in rows) else 0), 1, 0)
        for i in range(40)
    ]
    recording = recording_of(rows, [run_of(n_tasks=9, stop_s=9.9)], resources=samples)
    cache: Any = figures_of(recording.plot())[2]
    peak = recording.memory_peak()
    assert [mark.location for mark in cache.select({"type": Span})] == [peak.time_s]
    said = [title.text for title in cache.select({"type": Title})]
    assert f"most memory, {round(peak.peak_bytes / 1e6)} MB, at the dashed line: {peak.words()}" in said
