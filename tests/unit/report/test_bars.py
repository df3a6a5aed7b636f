from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from taskscope.analysis.display.pictures import PALETTE
from taskscope.model.tables.records import Lane
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

WIDTH_PX, LANE_PX = 658, 14


def picture_of(recording: Recording) -> str:
    """Return the picture in the result of a recording."""
    found = re.search(r'svg\+xml;base64,([^"]+)', recording._repr_mimebundle_()["text/html"])
    assert found is not None
    return b64decode(found[1]).decode()


def areas(rows: list[Row], stop_s: float) -> dict[str, float]:
    """Return the area of the bars of each colour, as a share of a lane."""
    svg = picture_of(recording_of(rows, [run_of(n_tasks=len(rows), stop_s=stop_s)]))
    paths = re.findall(r'<path fill="([^"]*)" d="([^"]*)"/>', svg)
    sums = {
        fill: sum(float(h) * int(w) for h, w in re.findall(r"v-([\d.]+)h(\d+)v\1z", d)) for fill, d in paths
    }
    return {fill: area / (WIDTH_PX * LANE_PX) for fill, area in sums.items()}


@given(st.lists(st.tuples(st.floats(0.0, 5.0), st.floats(0.0, 5.0)), min_size=1, max_size=30))
def test_the_area_of_the_bars_is_the_busy_share(gaps: list[tuple[float, float]]) -> None:
    rows: list[Row] = []
    at_s = busy_s = 0.0
    for idle_s, takes_s in gaps:
        rows.append(Row(key=f"a-{len(rows)}", start_s=at_s + idle_s, stop_s=at_s + idle_s + takes_s))
        at_s += idle_s + takes_s
        busy_s += takes_s
    whole_s = at_s + 1.0
    # Heights are rounded to a hundredth of a pixel, and short tasks are at least a quarter of one high.
    assert (
        abs(sum(areas(rows, whole_s).values()) - busy_s / whole_s) < 0.25 * 60 / (WIDTH_PX * LANE_PX) + 1e-3
    )


def test_a_short_task_is_never_invisible_and_a_failed_one_is_hatched() -> None:
    rows = [
        Row(key="a-1", stop_s=1e-6),
        Row(key="a-2", start_s=1.0, stop_s=2.0),
        Row(key="b-1", start_s=2.0, stop_s=3.0, status="erred"),
    ]
    assert min(areas(rows[:1], 100.0).values()) > 0
    found = areas(rows, 4.0)
    assert set(found) == {PALETTE[0], "url(#bad)"}
    assert abs(found["url(#bad)"] - 0.25) < 0.01


def test_names_of_lanes_that_are_too_long_are_cut_where_they_do_not_differ() -> None:
    names = [f"tcp://10.0.0.12:{port}, thread 1" for port in (41234, 52345)]
    recording = recording_of([Row(key=("x", i), lane=i) for i in (0, 1)], [run_of(n_tasks=2)])
    lanes = tuple(Lane(i, name, 1, name) for i, name in enumerate(names))
    svg = picture_of(replace(recording, lanes=lanes))
    assert re.findall(r'class="faint">(tcp[^<]*)<', svg) == ["tcp://…4, thread 1", "tcp://…5, thread 1"]
