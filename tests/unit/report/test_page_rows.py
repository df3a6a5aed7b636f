"""Rows of an offline page, and what times are rounded to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskscope.recording import Recording
from taskscope.report.embed import data_json, page_tick_s
from taskscope.report.page import page_html
from tests.support.files.report_fixture import content_of
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row


def test_a_page_has_the_times_of_all_tasks() -> None:
    chance = np.random.default_rng(7)
    stop_s = np.zeros(5)
    rows = []
    for n in range(300):
        lane = int(chance.integers(5))
        start_s = float(max(stop_s[lane], stop_s.min()))
        # Whole tenths, so that some tasks end at the very same time.
        stop_s[lane] = start_s + chance.integers(1, 9) / 10
        rows.append(Row(key=("x-1", n), lane=lane, start_s=start_s, stop_s=float(stop_s[lane])))
    told = content_of(data_json(recording_of(rows)))["tables"]["tasks"]
    assert sorted(row["i0"] for row in told) == [*range(300)]
    rows = [rows[row["i0"]] for row in told]
    for row, now in zip(rows, told, strict=True):
        times = (now["lane"], now["stop_s"] - now["duration_s"], now["stop_s"])
        assert times == pytest.approx((row.lane, row.start_s, row.stop_s), abs=1e-6)


def of_mean_duration(n_tasks: int, mean_s: float) -> Recording:
    recording = recording_of([Row(key="x-1", stop_s=0.5 * mean_s), Row(key="x-2", stop_s=1.5 * mean_s)])
    (block,) = recording.blocks
    return replace(recording, blocks=(block.part(np.tile([0, 1], n_tasks // 2)),))


@pytest.mark.parametrize(
    ("n_tasks", "mean_s", "tick_s"),
    [
        (250_000, 5.0, 1e-6),
        (250_002, 0.0001, 1e-6),
        (250_002, 0.0051, 1e-5),
        (250_002, 0.0011, 2e-6),
        (250_002, 1.01, 2e-3),
        (250_002, 3.0, 5e-3),
    ],
)
def test_only_long_tasks_in_large_numbers_are_rounded_to_more_than_a_microsecond(
    n_tasks: int, mean_s: float, tick_s: float
) -> None:
    assert page_tick_s(of_mean_duration(n_tasks, mean_s)) == pytest.approx(tick_s)


def test_a_page_says_what_its_times_are_rounded_to(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = recording_of([Row(key="x-1", stop_s=1.0)])
    assert "rounded" not in page_html(recording)
    monkeypatch.setattr("taskscope.report.page.page_tick_s", lambda _: 0.002)
    assert "times of its chart are rounded to 2 ms, at most a five-hundredth of the mean" in page_html(
        recording
    )
