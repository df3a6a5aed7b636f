from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from bokeh.models import HoverTool
from bokeh.models.annotations import Legend, Title

from taskscope.analysis.display.pictures import measure_coverage
from taskscope.charts import MAX_GLYPHS, Scheme, plot_tasks
from taskscope.errors import OptionError
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e"


def data(plot: Any, glyph: str) -> dict[str, Any]:
    """Return the columns of the one renderer of this kind, as plain lists."""
    (renderer,) = [r for r in plot.renderers if type(r.glyph).__name__ == glyph and r.name != "swatch"]
    source: Any = renderer.data_source
    return {name: np.asarray(column).tolist() for name, column in source.data.items()}


def notes(plot: Any) -> list[str]:
    return [str(part.text) for part in plot.above if isinstance(part, Title) and part is not plot.title]


def legend(plot: Any) -> list[tuple[str, str]]:
    """Return the names and colours of the one legend."""
    found: list[Any] = [part for part in plot.below if isinstance(part, Legend)]
    (items,) = (part.items for part in found)
    return [(item.label.value, item.renderers[0].data_source.data["colour"][item.index]) for item in items]


@pytest.fixture
def recording() -> Recording:
    rows = [
        Row(key=("inc-1", 0), lane=0, start_s=0.0, stop_s=0.25),
        Row(key=("inc-1", 1), group=0, lane=1, start_s=0.0, stop_s=0.5),
        Row(key=HOSTILE, group=1, lane=0, start_s=0.5, stop_s=0.75, status="erred"),
    ]
    return recording_of(rows, [run_of(n_tasks=3)])


def test_each_task_is_a_bar_of_its_own_times_and_colour(recording: Recording) -> None:
    plot: Any = plot_tasks(recording, ZERO_S - 0.5, ZERO_S + 1.5, label_size=20)
    scheme = Scheme.of({"inc": 0, HOSTILE: 1})
    visible = HOSTILE.replace("\u202e", "\\u202e")
    assert data(plot, "HBar") == {
        "left": [0.5, 0.5, 1.0],
        "right": [0.75, 1.0, 1.25],
        "y": [1, 0, 1],
        "duration": [0.25, 0.5, 0.25],
        "colour": [scheme.colour("inc"), scheme.colour("inc"), "#d60000"],
        "hatch": [" ", " ", "/"],
        "key": ["('inc-1', 0)", "('inc-1', 1)", f"{HOSTILE[:14]}…{visible[-10:]}"],
        "task": ["inc", "inc", "/script><img"],
        "status": ["finished", "finished", "erred"],
        "worker": ["thread 0", "thread 1", "thread 0"],
    }
    assert (plot.x_range.start, plot.x_range.end) == (0, 2.0)
    assert plot.yaxis.major_label_overrides == {0: "thread 1", 1: "thread 0"}
    assert notes(plot) == ["3 tasks"]
    assert [name for name, _ in legend(plot)] == ["inc", "/script><img", "failed or interrupted"]


def test_the_hover_text_is_escaped_by_bokeh_and_never_html(recording: Recording) -> None:
    plot: Any = plot_tasks(recording, ZERO_S, ZERO_S + 1)
    hovers: list[Any] = [tool for tool in plot.tools if isinstance(tool, HoverTool)]
    (hover,) = hovers
    assert [name for name, _ in hover.tooltips] == ["Key", "Task", "Worker", "Start", "Duration", "Status"]
    assert "safe" not in str(hover.tooltips)


def test_text_of_the_user_is_never_taken_for_a_formula_which_would_ask_the_network() -> None:
    names = ["$$a$$", r"\[b\]", r"\(c\)d"]
    rows = [Row(key=(name, 0), group=i) for i, name in enumerate(names)]
    plot: Any = plot_tasks(recording_of(rows), ZERO_S, ZERO_S + 1)
    assert [name for name, _ in legend(plot)] == ["$ $a$ $", r"\ [b\ ]", r"\ (c\ )d"]


def test_without_a_task_the_axes_are_there_and_nothing_is_warned_about() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot: Any = plot_tasks(recording_of([]), ZERO_S, ZERO_S + 1)
    assert (plot.renderers, notes(plot)) == ([], [])
    assert plot.yaxis.axis_label == "Worker ID"
    assert plot.xaxis.axis_label == "Time (s)"


def test_what_is_dropped_is_said(recording: Recording) -> None:
    rows = [Row(key=("inc-1", 0))]
    plot: Any = plot_tasks(recording_of(rows, dropped=1_234_567), ZERO_S, ZERO_S + 1)
    assert notes(plot) == ["1 task; 1,234,567 older ones are no longer kept"]


def many(n: int) -> Recording:
    """Return tasks that keep lane 0 busy for three quarters of each millisecond, and lane 1 for a quarter."""
    rows = []
    for i in range(n // 2):
        rows.append(Row(key=("inc-1", i), lane=0, start_s=i * 1e-3, stop_s=i * 1e-3 + 0.75e-3))
        rows.append(Row(key=("dec-1", i), group=1, lane=1, start_s=i * 1e-3, stop_s=i * 1e-3 + 0.25e-3))
    return recording_of(rows, [run_of(n_tasks=n, stop_s=n / 2 * 1e-3)])


def test_up_to_ten_thousand_tasks_are_bars_and_one_more_is_a_picture() -> None:
    assert len(data(plot_tasks(many(MAX_GLYPHS), ZERO_S, ZERO_S + 5), "HBar")["left"]) == MAX_GLYPHS
    plot: Any = plot_tasks(many(MAX_GLYPHS + 2), ZERO_S, ZERO_S + 5)
    assert len(data(plot, "ImageRGBA")["image"]) == 1
    assert notes(plot) == [
        "10,002 tasks, drawn as the exact share of 3,000 columns; zoom does not add detail"
    ]


def test_the_opacity_of_the_picture_is_the_busy_share() -> None:
    recording = many(20_000)
    plot: Any = plot_tasks(recording, ZERO_S, ZERO_S + 10)
    (pixels,) = [np.array(image, np.uint32) for image in data(plot, "ImageRGBA")["image"]]
    rgba = pixels.view(np.uint8).reshape(2, 3000, 4)
    exact = measure_coverage(recording, 3000).busy[::-1]
    assert np.abs(rgba[..., 3] / 255 - exact).max() < 1 / 255
    assert rgba[..., 3].mean(axis=1) / 255 == pytest.approx([0.25, 0.75], abs=0.01)
    scheme = Scheme.of({"inc": 0, "dec": 1})
    assert [f"#{bytes(lane[5, :3]).hex()}" for lane in rgba] == [scheme.colour("dec"), scheme.colour("inc")]
    (busy,) = data(plot, "ImageRGBA")["busy"]
    assert set(np.unique(busy[1])) <= set(range(70, 81))


def test_options_of_the_user_win_and_unknown_ones_are_named(recording: Recording) -> None:
    plot: Any = plot_tasks(
        recording, ZERO_S, ZERO_S + 1, plot_width=500, height=310, tools="hover", title="Mine", y_range=(0, 9)
    )
    assert (plot.width, plot.height, plot.title.text, len(plot.tools)) == (500, 310, "Mine", 1)
    with pytest.raises(AttributeError, match="foo_bar"):
        plot_tasks(recording, ZERO_S, ZERO_S + 1, foo_bar=1)


@pytest.mark.parametrize(
    ("palette", "colours"),
    [("Blues", ["#3182bd", "#9ecae1"]), (["red", "blue"], ["red", "blue"]), (["red"], ["red", "red"])],
)
def test_a_palette_is_a_name_of_bokeh_s_or_colours(
    recording: Recording, palette: Any, colours: list[str]
) -> None:
    plot: Any = plot_tasks(recording, ZERO_S, ZERO_S + 1, palette=palette)
    assert [colour for _, colour in legend(plot)][:2] == colours


@pytest.mark.parametrize(
    ("palette", "message"),
    [
        ("Virids", "unknown palette 'Virids'; did you mean 'Viridis'?"),
        ([], "palette must be the name of a Bokeh palette or a list of colours, got []"),
        (3, "palette must be the name of a Bokeh palette or a list of colours, got 3"),
    ],
)
def test_a_palette_that_cannot_be_is_told(recording: Recording, palette: Any, message: str) -> None:
    with pytest.raises(OptionError) as raised:
        plot_tasks(recording, ZERO_S, ZERO_S + 1, palette=palette)
    assert str(raised.value).startswith(message)
