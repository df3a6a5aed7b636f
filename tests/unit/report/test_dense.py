"""Rows of a page: whose turn a lane is, and what times are rounded to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskscope.analysis.page_tables import recorded_messages
from taskscope.recording import Recording
from taskscope.report.dense import dense_tasks, page_tick_s
from taskscope.report.page import page_html
from taskscope.wire import BUFFERS
from taskscope.wire.schema import LANE_BITS
from tests.support.recordings import recording_of
from tests.support.task_blocks import Row


def lanes_of(turns: list[int], stops: list[float]) -> list[int]:
    """Return whose turn it was, from the words of `taskscope.report.dense.DenseTasks`."""
    last_stop: dict[int, tuple[float, int]] = {}
    lanes = []
    for row, (turn, stop) in enumerate(zip(turns, stops, strict=True)):
        others = [lane for lane in range(100) if lane not in last_stop]
        lane = [*sorted(last_stop, key=last_stop.__getitem__), *others][turn]
        last_stop[lane] = (stop, row)
        lanes.append(lane)
    return lanes


def test_lanes_are_told_by_how_long_they_were_idle() -> None:
    chance = np.random.default_rng(7)
    stop_s = np.zeros(5)
    rows = []
    for n in range(300):
        lane = int(chance.choice(5, p=(0.4, 0.3, 0.1, 0.1, 0.1)))
        start_s = float(max(stop_s[lane], stop_s.min()))
        # Whole tenths, so that some tasks end at the very same time.
        stop_s[lane] = start_s + chance.integers(1, 9) / 10
        rows.append(Row(key=("x-1", n), lane=lane, start_s=start_s, stop_s=float(stop_s[lane])))
    recorded = next(iter(recorded_messages(recording_of(rows))))
    tasks = recorded.rows
    content = dense_tasks(tasks, recorded.buffers[: len(BUFFERS)]).content
    n = len(tasks)
    turns = np.frombuffer(content[:n], "u1") | (np.frombuffer(content[n : 2 * n], "u1").astype("u2") << 8)
    assert set((turns >> LANE_BITS).tolist()) == {0}
    assert lanes_of(turns.tolist(), np.rint(tasks.stop * 1e6).tolist()) == tasks.lane.tolist()


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
