from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.codec import LIMITS, TICK_S
from taskscope.model.tables.columns import round_down_f4
from taskscope.model.tables.records import Group, Lane
from tests.support.recordings.page_writing import PageFrames
from tests.support.recordings.task_blocks import Row
from tests.support.wire_decoder import DecodedRow, PageReader

_NAMES = {0: "x", 7: "sum-1"}


def told_of(rows: list[Row]) -> dict[str, Any]:
    # As many groups and lanes as rows refer to.
    n_groups, n_lanes = (
        max((getattr(row, name) for row in rows), default=0) + 1 for name in ("group", "lane")
    )
    page = PageFrames.begun("r", "r-1")
    page.add_groups([Group(i, _NAMES.get(i, f"g-{i}"), "g") for i in range(n_groups)])
    page.add_records("lanes", [Lane(i, "main", i, "") for i in range(n_lanes)])
    page.add_row_tasks(0, rows)
    return PageReader().read([page.message()])


def decoded(rows: list[Row]) -> list[DecodedRow]:
    return list(told_of(rows)["rows"])


def test_a_task_decodes_to_what_was_recorded() -> None:
    row = Row(
        key=("sum-1", 2, -3),
        group=7,
        lane=8190,
        start_s=2.5,
        stop_s=3.0,
        cpu_s=0.25,
        size_bytes=1023.0,
        status="interrupted",
        observed_by="scheduler",
    )
    assert decoded([row]) == [
        DecodedRow("('sum-1', 2, -3)", 8190, 7, 2.5, 3.0, 0.25, 1023.0, "interrupted", "scheduler")
    ]


def test_unknown_cpu_time_and_size_stay_unknown_and_zero_stays_zero() -> None:
    rows = [Row(cpu_s=math.nan, size_bytes=math.nan), Row(cpu_s=0.0, size_bytes=0.0)]
    assert [(r.cpu_s, r.size_bytes) for r in decoded(rows)] == [(None, None), (0.0, 0.0)]


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\ud800", "</script><b>", "\u202eabc", ""])
def test_hostile_texts_are_short_and_valid_utf8(text: str) -> None:
    (row,) = decoded([Row(key=text)])
    assert len(row.key) <= 4096
    if len(text) < 100 and text != "\ud800":
        assert row.key == text


def test_ticks_of_a_page_are_coarse_enough_for_years() -> None:
    reader = PageReader()
    reader.read([PageFrames.begun("r", "r-1").message()])
    assert reader.header["tick_s"] * LIMITS["value"] > 10 * 365 * 86_400


times = st.floats(0, 1e6)


@given(st.lists(st.tuples(times, st.floats(0, 3000)), min_size=1, max_size=50))
def test_times_survive_to_a_tick(spans: list[tuple[float, float]]) -> None:
    rows = [Row(start_s=stop - duration, stop_s=stop) for stop, duration in spans]
    got = np.array([(r.start_s, r.stop_s) for r in decoded(rows)])
    # A recorder keeps durations as 32-bit floats.
    start = np.array([r.start_s for r in rows])
    kept = round_down_f4(np.array([r.stop_s for r in rows]) - start)
    want = np.stack([start, start + kept], axis=1)
    # Half a tick, and what sums of floats of a million seconds are off by.
    assert np.abs(got - want).max() <= TICK_S * 0.51
