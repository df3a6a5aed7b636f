from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.codec import TICK_S
from taskscope.model.tables.records import Group, Lane
from taskscope.record import Recorder
from taskscope.wire import Batch, PageEncoder
from tests.support.recordings.task_blocks import Row, block_of
from tests.support.wire_decoder import DecodedRow, PageReader


def batch_of(rows: list[Row]) -> Batch:
    # As many groups and lanes as rows refer to.
    n_groups, n_lanes = (
        max((getattr(row, name) for row in rows), default=0) + 1 for name in ("group", "lane")
    )
    return Batch(
        now_s=9.0,
        active=True,
        final=False,
        first=0,
        cursor=len(rows),
        dropped=0,
        tasks=block_of(rows) if rows else Recorder().tasks_since(0, 1)[1],
        groups=[Group(i, _NAMES.get(i, f"g-{i}"), "g") for i in range(n_groups)],
        lanes=[Lane(i, "main", i, "") for i in range(n_lanes)],
    )


_NAMES = {0: "x", 7: "sum-1"}


def told_of(rows: list[Row]) -> dict[str, Any]:
    buffers, n_tasks = PageEncoder("r", "r-1").frames(batch_of(rows))
    told = PageReader().read(buffers)
    assert told["count"] == n_tasks
    return told


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
        DecodedRow(
            "('sum-1', 2, -3)", 8190, 7, 2.5, 3.0, 0.25, 1023.0, "interrupted", "scheduler", "measured"
        )
    ]


def test_tasks_one_after_the_other_take_few_bytes() -> None:
    chance = np.random.default_rng(0)
    took = chance.gamma(2.0, 0.0025, (16, 4_000))
    stops = np.cumsum(took + chance.exponential(0.0001, took.shape), axis=1)
    rows = [
        Row(
            key=("x-1", 4_000 * lane + i),
            lane=lane,
            start_s=float(stops[lane, i] - took[lane, i]),
            stop_s=float(stops[lane, i]),
            cpu_s=float(took[lane, i]) * 0.9,
            size_bytes=8.0,
        )
        for i in range(4_000)
        for lane in range(16)
    ]
    (frames,), _ = PageEncoder("r", "r-1").frames(batch_of(rows))
    assert len(frames) / len(rows) < 16


def test_unknown_cpu_time_and_size_stay_unknown_and_zero_stays_zero() -> None:
    rows = [Row(cpu_s=math.nan, size_bytes=math.nan), Row(cpu_s=0.0, size_bytes=0.0)]
    assert [(r.cpu_s, r.size_bytes) for r in decoded(rows)] == [(None, None), (0.0, 0.0)]


def test_a_task_of_no_duration_has_no_cpu_time() -> None:
    (row,) = decoded([Row(start_s=1.0, stop_s=1.0, cpu_s=1e-6)])
    assert (row.start_s, row.cpu_s) == (1.0, 0.0)


def test_a_cpu_clock_that_went_back_has_taken_nothing() -> None:
    (row,) = decoded([Row(start_s=1.0, stop_s=2.0, cpu_s=-1e-3)])
    assert row.cpu_s == 0.0


def test_a_clock_that_went_back_makes_no_task_end_before_it_began() -> None:
    (row,) = decoded([Row(start_s=2.0, stop_s=1.0)])
    assert (row.start_s, row.stop_s) == (1.0, 1.0)


def test_the_largest_size_does_not_read_as_unknown() -> None:
    (row,) = decoded([Row(size_bytes=2.0**70)])
    assert row.size_bytes == 2.0**52 - 1


def test_lanes_and_groups_beyond_the_wire_share_the_last_number() -> None:
    told = told_of([Row(lane=9000, group=70_000)])
    (row,) = told["rows"]
    assert (row.lane, row.group) == (8191, 65535)
    assert (len(told["lanes"]), told["groups"][-1]) == (
        8192,
        (65535, "further groups", "further groups", None),
    )


def test_the_compute_of_each_row_is_told() -> None:
    rows = [Row(run=run) for run in (3, 3, 4, 3)]
    assert [row["run"] for row in told_of(rows)["tables"]["tasks"]] == [3, 3, 4, 3]


def test_keys_of_all_kinds_stay_with_their_rows() -> None:
    keys = ["a", ("x", 1, 2), "é", ("x", 3), ("x",), ("x", *range(-4, 5)), ("x", *range(8))]
    assert [r.key for r in decoded([Row(key=key) for key in keys])] == [
        "a", "('x', 1, 2)", "é", "('x', 3)", "('x',)",
        "('x', -4, -3, -2, -1, 0, 1, 2, 3, 4)", "('x', 0, 1, 2, 3, 4, 5, 6, 7)",
    ]  # fmt: skip


def test_a_failed_task_carries_its_error_and_each_text_crosses_once() -> None:
    rows = [
        Row(status="erred", error="ValueError: no"),
        Row(),
        Row(status="erred", error="KeyError: 'x'"),
        Row(status="interrupted"),
        Row(status="erred", error="ValueError: no"),
    ]
    told = told_of(rows)
    assert told["errors"] == ["ValueError: no", "KeyError: 'x'"]
    assert [r.error for r in told["rows"]] == [
        "ValueError: no", None, "KeyError: 'x'", None, "ValueError: no",
    ]  # fmt: skip


def test_more_different_errors_than_a_message_holds_are_told_of_as_one() -> None:
    rows = [Row(status="erred", error=f"ValueError: {i}") for i in range(1_002)]
    told = told_of(rows)
    further = "(more than 1,000 different errors)"
    assert told["errors"] == [f"ValueError: {i}" for i in range(1_000)] + [further]
    assert [r.error for r in told["rows"]][998:] == [
        "ValueError: 998", "ValueError: 999", further, further,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\ud800", "</script><b>", "\u202eabc", ""])
def test_hostile_texts_are_short_and_valid_utf8(text: str) -> None:
    (row,) = decoded([Row(key=text)])
    assert len(row.key) <= 513
    if len(text) < 100 and text != "\ud800":
        assert row.key == text


times = st.floats(0, 1e6)


@given(st.lists(st.tuples(times, st.floats(0, 3000)), min_size=1, max_size=50))
def test_times_survive_to_a_tick(spans: list[tuple[float, float]]) -> None:
    rows = [Row(start_s=stop - duration, stop_s=stop) for stop, duration in spans]
    got = np.array([(r.start_s, r.stop_s) for r in decoded(rows)])
    want = np.array([(r.start_s, r.stop_s) for r in rows])
    # Half a tick, and what sums of floats of a million seconds are off by.
    assert np.abs(got - want).max() <= TICK_S * 0.51
