from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.model.records import Group
from taskscope.record import Recorder
from taskscope.wire import Batch, encode_batch, encode_tasks
from tests.support.task_blocks import Row, block_of
from tests.support.wire_decoder import DecodedRow, decode_rows


def batch_of(rows: list[Row], **changes: object) -> Batch:
    given_fields: dict[str, object] = {
        "recorder": "r",
        "epoch": "r-1",
        "seq": 0,
        "now_s": 9.0,
        "active": True,
        "final": False,
        "first": 0,
        "cursor": len(rows),
        "dropped": 0,
        "tasks": block_of(rows) if rows else Recorder().tasks_since(0, 1)[1],
    }
    return Batch(**(given_fields | changes))  # type: ignore[arg-type]  # fields vary by test


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
    message, buffers = encode_batch(batch_of([row], groups=[Group(7, "sum-1", "sum")]))
    assert decode_rows(message, buffers) == [
        DecodedRow("('sum-1', 2, -3)", 8190, 7, 2.5, 3.0, 32767 / 65534, 1023.0, "interrupted", "scheduler")
    ]


def test_a_task_takes_16_bytes_besides_its_key() -> None:
    rows = [Row(key=("x-1", i), start_s=i, stop_s=i + 1.0) for i in range(10)]
    buffers = encode_tasks(block_of(rows)).buffers
    assert [len(b) for b in buffers] == [20, 20, 40, 40, 20, 20, 10, 40, 0, 0, 0]


def test_unknown_cpu_time_and_size_stay_unknown_and_zero_stays_zero() -> None:
    rows = [Row(cpu_s=math.nan, size_bytes=math.nan), Row(cpu_s=0.0, size_bytes=0.0)]
    decoded = decode_rows(*encode_batch(batch_of(rows)))
    assert [(r.cpu_share, r.size_bytes) for r in decoded] == [(None, None), (0.0, 0.0)]


def test_a_task_of_no_duration_has_a_cpu_share_of_zero() -> None:
    decoded = decode_rows(*encode_batch(batch_of([Row(start_s=1.0, stop_s=1.0, cpu_s=1e-6)])))
    assert (decoded[0].start_s, decoded[0].cpu_share) == (1.0, 0.0)


def test_a_cpu_clock_that_went_back_has_a_share_of_zero() -> None:
    decoded = decode_rows(*encode_batch(batch_of([Row(start_s=1.0, stop_s=2.0, cpu_s=-1e-3)])))
    assert decoded[0].cpu_share == 0.0


def test_the_largest_size_does_not_read_as_unknown() -> None:
    decoded = decode_rows(*encode_batch(batch_of([Row(size_bytes=2.0**70)])))
    assert decoded[0].size_bytes == 2 ** (65534 / 1024) - 1


def test_lanes_and_groups_beyond_the_wire_share_the_last_number() -> None:
    decoded = decode_rows(*encode_batch(batch_of([Row(lane=9000, group=70_000)])))
    assert (decoded[0].lane, decoded[0].group) == (8191, 65535)


def test_rows_whose_stops_span_too_long_wait_for_the_next_message() -> None:
    rows = [Row(stop_s=s, start_s=s - 1) for s in (5000.0, 5001.0, 1000.5, 5002.0)]
    encoded = encode_tasks(block_of(rows))
    assert (encoded.count, encoded.base_s) == (2, 5000.0)
    rest = encode_tasks(block_of(rows[2:]))
    assert (rest.count, rest.base_s) == (1, 1000.5)
    just = [Row(stop_s=s, start_s=s - 1) for s in (1000.0, 5000.0)]
    assert encode_tasks(block_of(just)).count == 2


def test_the_runs_of_rows_are_told_by_length() -> None:
    rows = [Row(run=run) for run in (3, 3, 4, 3)]
    assert encode_tasks(block_of(rows)).task_runs == [(3, 2), (4, 1), (3, 1)]


def test_a_cut_block_keeps_keys_with_their_rows() -> None:
    rows = [
        Row(key="a", stop_s=1.0),
        Row(key=("x", 1, 2), stop_s=2.0),
        Row(key="é", stop_s=3.0),
        Row(key=("x", 3), stop_s=9000.0),
        Row(key="late", stop_s=9000.0),
    ]
    message, buffers = encode_batch(batch_of(rows, groups=[Group(0, "x", "x")]))
    assert [r.key for r in decode_rows(message, buffers)] == ["a", "('x', 1, 2)", "é"]
    assert (len(buffers[7]), len(buffers[8]), buffers[9]) == (8, 4, "aé".encode())


def test_a_failed_task_carries_its_error_and_each_text_crosses_once() -> None:
    rows = [
        Row(status="erred", error="ValueError: no"),
        Row(),
        Row(status="erred", error="KeyError: 'x'"),
        Row(status="interrupted"),
        Row(status="erred", error="ValueError: no"),
        Row(status="erred", error="late", stop_s=9000.0),
    ]
    message, buffers = encode_batch(batch_of(rows))
    assert message["errors"] == ["ValueError: no", "KeyError: 'x'"]
    assert len(buffers[10]) == 2 * 4
    assert [r.error for r in decode_rows(message, buffers)] == [
        "ValueError: no", None, "KeyError: 'x'", None, "ValueError: no",
    ]  # fmt: skip


def test_more_different_errors_than_a_message_holds_are_told_of_as_one() -> None:
    rows = [Row(status="erred", error=f"ValueError: {i}") for i in range(1_002)]
    message, buffers = encode_batch(batch_of(rows))
    further = "(more than 1,000 different errors)"
    assert message["errors"] == [f"ValueError: {i}" for i in range(1_000)] + [further]
    assert [r.error for r in decode_rows(message, buffers)][998:] == [
        "ValueError: 998", "ValueError: 999", further, further,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\ud800", "</script><b>", "\u202eabc", ""])
def test_hostile_texts_are_short_and_valid_utf8(text: str) -> None:
    decoded = decode_rows(*encode_batch(batch_of([Row(key=text)])))
    assert len(decoded[0].key) <= 513
    if len(text) < 100 and text != "\ud800":
        assert decoded[0].key == text


times = st.floats(0, 1e6)


@given(st.lists(st.tuples(times, st.floats(0, 3000)), min_size=1, max_size=50))
def test_times_survive_to_a_microsecond(spans: list[tuple[float, float]]) -> None:
    rows = [Row(start_s=stop - duration, stop_s=stop) for stop, duration in spans]
    message, buffers = encode_batch(batch_of(rows))
    decoded = decode_rows(message, buffers)
    assert 1 <= len(decoded) <= len(rows)
    got = np.array([(r.start_s, r.stop_s) for r in decoded])
    want = np.array([(r.start_s, r.stop_s) for r in rows[: len(decoded)]])
    assert np.abs(got[:, 1] - want[:, 1]).max() <= 1e-6
    # f32 holds a duration to one part in 16 million.
    assert (np.abs(got[:, 0] - want[:, 0]) <= 1e-6 + 6e-8 * (want[:, 1] - want[:, 0])).all()
