from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.analysis.display.pictures import ENDED_BADLY, column_overlap, measure_coverage
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row
from tests.support.shared_cases import shared_cases

edges = st.lists(st.floats(0, 12, allow_nan=False), min_size=2, max_size=20, unique=True).map(sorted)


@given(edges)
def test_overlap_of_disjoint_intervals_is_the_overlap_of_each_with_each_column(marks: list[float]) -> None:
    pairs = list(zip(marks[::2], marks[1::2], strict=False))
    first, last = (np.array([p[i] for p in pairs]) for i in (0, 1))
    found = column_overlap(np.zeros(len(pairs), np.int64), first, last, (1, 12))
    expected = [sum(max(0.0, min(b, c + 1) - max(a, c)) for a, b in pairs) for c in range(12)]
    assert found[0].tolist() == pytest.approx(expected, abs=1e-9)


def test_a_column_is_as_busy_as_its_lane_was_and_has_the_colour_of_most_of_it() -> None:
    rows = [
        Row(key="a-1", start_s=0.0, stop_s=1.0),
        Row(key="b-1", start_s=1.25, stop_s=1.5),
        Row(key="a-2", start_s=1.5, stop_s=1.625),
        Row(key="c-1", lane=1, start_s=3.0, stop_s=4.0, status="erred"),
    ]
    coverage = measure_coverage(recording_of(rows, [run_of(n_tasks=4, stop_s=4.0)]), 4)
    assert (coverage.start_s, coverage.stop_s, coverage.lanes.tolist()) == (0.0, 4.0, [0, 1])
    assert coverage.busy.tolist() == [[1.0, 0.375, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    assert coverage.colour.tolist() == [[0, 1, 0, 0], [0, 0, 0, ENDED_BADLY]]


@pytest.mark.parametrize("case", shared_cases("coverage")["cases"], ids=lambda case: case["name"])
def test_pictures_show_a_lane_as_live_charts_do(case: dict[str, Any]) -> None:
    n_columns = case["columns"]
    rows = [
        Row(key=f"p{prefix}-{i}", start_s=start, stop_s=stop)
        for i, (start, stop, prefix) in enumerate(case["tasks"])
    ]
    coverage = measure_coverage(
        recording_of(rows, [run_of(n_tasks=len(rows), stop_s=n_columns)]),
        n_columns,
        span_s=n_columns,
        colours={f"p{prefix}": prefix for prefix in range(3)},
    )
    assert coverage.busy[0].tolist() == pytest.approx(case["busy"])
    shown = [
        int(colour) if busy else None
        for colour, busy in zip(coverage.colour[0], coverage.busy[0], strict=True)
    ]
    assert shown == case["prefix"]


def test_a_million_short_tasks_cover_exactly_their_time() -> None:
    n = 1_000_000
    first = np.linspace(0.0, 1000.0, n, endpoint=False, dtype=np.float64)
    found = column_overlap(
        np.zeros(n, np.int64), first, np.asarray(first + 0.91 * 1000 / n, np.float64), (1, 1000)
    )
    assert np.abs(found - 0.91).max() < 1e-6


def test_an_empty_recording_has_no_lanes() -> None:
    assert measure_coverage(recording_of([]), 10).busy.shape == (0, 10)
