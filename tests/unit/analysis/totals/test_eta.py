from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskscope.analysis.progress import Remaining, estimate_stop, time_left
from taskscope.model.tables.records import Estimate, PrefixProgress, Run

RUN = Run(0, None, None, "threads", 4, 100, 10.0, None, "running", None)


def row(prefix: str = "inc", *, total: int, finished: int = 0, duration_s: float = 0.0) -> PrefixProgress:
    return PrefixProgress(0, prefix, total, finished, 0, 0, 0, duration_s)


HALFWAY = Remaining(
    run=RUN,
    now_s=12.0,
    rows=[row(total=100, finished=40, duration_s=8.0)],
    recent_s={"inc": np.full(40, 0.2)},
    in_flight_s={},
)
ALONE: tuple[np.ndarray, list[list[int]]] = (np.zeros(60, np.int64), [[] for _ in range(60)])


def left_s(left: Remaining) -> tuple[float, float, float]:
    estimate = estimate_stop(left)
    assert estimate is not None
    assert estimate.earliest_s <= estimate.stop_s <= estimate.latest_s
    return tuple(at_s - left.now_s for at_s in (estimate.stop_s, estimate.earliest_s, estimate.latest_s))  # type: ignore[return-value]  # three of them


@pytest.mark.parametrize("graph", [None, ALONE], ids=["graph not known", "graph known"])
def test_even_tasks_end_after_the_work_ahead_over_the_workers(
    graph: tuple[np.ndarray, list[list[int]]] | None,
) -> None:
    # 60 × 0.2 s by 4 workers, 15 % to either side, and the mean of 40 tasks may be off by 2 %.
    found = left_s(replace(HALFWAY, graph=graph))
    assert found == pytest.approx((3.0, 2.5, 3.5), rel=0.05)


def test_tasks_that_ended_again_make_no_task_longer_and_skipped_ones_are_not_ahead() -> None:
    again = replace(HALFWAY.rows[0], skipped=30, again=40, duration_s=16.0)
    # Twice as much was done in the same time, so 60 × 0.2 s are left at twice the concurrency.
    assert left_s(replace(HALFWAY, rows=[again]))[0] == pytest.approx(1.5, rel=0.05)


def test_the_band_is_as_wide_as_durations_spread_and_as_the_last_ones_differ() -> None:
    _, low, high = left_s(replace(HALFWAY, recent_s={"inc": np.tile([0.02, 0.02, 0.56], 14)}))
    assert (low < 2.6, high > 3.4) == (True, True)
    _, low, high = left_s(replace(HALFWAY, recent_s={"inc": np.repeat([0.3, 0.1], 20)}))
    assert (low < 1.7, high > 2.9) == (True, True)


def test_a_chain_that_is_left_is_waited_for() -> None:
    chain = (np.zeros(60, np.int64), [[i + 1] if i < 59 else [] for i in range(60)])
    assert left_s(replace(HALFWAY, graph=chain))[0] == pytest.approx(60 * 0.2, rel=0.05)


def test_a_prefix_without_an_ended_task_may_take_a_quarter_of_the_mean_or_four_times_as_long() -> None:
    rows = [row(total=70, finished=40, duration_s=8.0), row("sum", total=30)]
    guess, low, high = left_s(replace(HALFWAY, rows=rows))
    assert 1.5 < low < 2.5 < guess < high
    assert 5.0 < high < 12.0


def test_a_task_in_flight_is_partly_done_and_one_that_is_overdue_may_run_as_long_again() -> None:
    rows, run = [row(total=41, finished=40, duration_s=8.0)], replace(RUN, n_tasks=41)
    graph: tuple[np.ndarray, list[list[int]]] = (np.zeros(1, np.int64), [[]])
    begun = replace(HALFWAY, run=run, rows=rows, graph=graph, in_flight_s={"inc": [0.15]})
    assert left_s(begun)[0] == pytest.approx(0.05, rel=0.2)
    overdue = replace(begun, in_flight_s={"inc": [7.0]})
    guess, low, high = left_s(overdue)
    assert 0.0 < low < guess < high
    assert 7.0 < high < 9 * 7.0 * 1.2


def test_tasks_of_prefixes_of_which_none_has_ended_are_counted() -> None:
    rows = [row(total=60, finished=40, duration_s=8.0), row("sum", total=5), row("max", total=4)]
    ahead = [HALFWAY, replace(HALFWAY, rows=rows, run=replace(RUN, n_tasks=70))]
    assert [found and found.n_unseen for found in map(estimate_stop, ahead)] == [0, 5 + 4 + 1]


@pytest.mark.parametrize(
    "left",
    [
        replace(HALFWAY, rows=[row(total=100, finished=2, duration_s=0.4)]),
        replace(HALFWAY, now_s=10.4),
        replace(HALFWAY, run=replace(RUN, n_tasks=0)),
        replace(HALFWAY, rows=[row(total=70, finished=40, duration_s=8.0), row("sum", total=31)]),
        replace(HALFWAY, rows=[row(total=60, finished=30, duration_s=8.0)], run=replace(RUN, n_tasks=121)),
        replace(HALFWAY, rows=[row(total=100, finished=40)]),
    ],
    ids=[
        "two ended",
        "0.4 s",
        "total not known",
        "most of unseen prefixes",
        "most not counted yet",
        "no duration known",
    ],
)
def test_before_there_is_evidence_there_is_no_estimate(left: Remaining) -> None:
    assert estimate_stop(left) is None


def test_several_computes_have_ended_when_the_last_one_has() -> None:
    ends = [Estimate(5.0, 4.0, 9.0, 2), Estimate(6.0, 3.0, 7.0, 1)]
    assert time_left(ends, 1.0) == Estimate(5.0, 3.0, 8.0, 3)
    assert time_left([*ends, None], 1.0) is None
    assert time_left([], 1.0) is None


def test_an_estimate_that_has_passed_leaves_no_time() -> None:
    assert time_left([Estimate(5.0, 4.0, 9.0)], 6.0) == Estimate(0.0, 0.0, 3.0)
