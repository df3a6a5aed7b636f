from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taskscope.codec import TICK_S
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
