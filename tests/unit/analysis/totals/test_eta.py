from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from taskscope.analysis.time_left import Evidence, TimeLeft, estimate_stop, time_left
from taskscope.model.tables.records import Estimate, PrefixProgress, Run

RUN = Run(0, None, None, "threads", 4, 100, 10.0, None, "running", None)


def row(prefix: str = "inc", *, total: int, finished: int = 0, duration_s: float = 0.0) -> PrefixProgress:
    return PrefixProgress(0, prefix, total, finished, 0, 0, 0, duration_s)


HALFWAY = Evidence(
    run=RUN,
    now_s=12.0,
    rows=[row(total=100, finished=40, duration_s=8.0)],
    recent_s={"inc": np.full(40, 0.2)},
    in_flight_s={},
)


def rounded(estimate: Estimate | None) -> tuple[float, ...] | None:
    if estimate is None:
        return None
    return tuple(round(v, 2) for v in (estimate.stop_s, estimate.earliest_s, estimate.latest_s))


def test_even_tasks_end_after_the_work_ahead_over_the_workers() -> None:
    # 60 × 0.2 s by 4 workers, 8% to either side.
    assert rounded(estimate_stop(HALFWAY)) == (15.0, 14.76, 15.24)


def test_tasks_that_ended_again_make_no_task_longer_and_those_that_need_not_run_are_not_ahead() -> None:
    again = replace(HALFWAY.rows[0], total=100, skipped=30, again=40, duration_s=16.0)
    # Twice as much was done in the same time, so 60 × 0.2 s are left at twice the concurrency.
    assert rounded(estimate_stop(replace(HALFWAY, rows=[again]))) == (13.5, 13.38, 13.62)


def test_the_band_is_as_wide_as_the_durations_spread() -> None:
    spread = {"inc": np.tile([0.1, 0.3], 20)}
    # The mean of the last 20 and the sum of 60 tasks, each off by 0.1 s: 1.28 × 0.1 × 60 × √(1/20 + 1/60)
    # = 1.98 s; and the last one may be the longest that was seen.
    assert rounded(estimate_stop(replace(HALFWAY, recent_s=spread))) == (15.0, 14.26, 15.81)


def test_the_last_tasks_count_and_their_difference_to_all_tasks_widens_the_band() -> None:
    faster = {"inc": np.full(20, 0.1)}
    assert rounded(estimate_stop(replace(HALFWAY, recent_s=faster))) == (13.5, 13.38, 15.24)


def test_it_does_not_end_before_the_longest_chain() -> None:
    def five_at_the_end(task_s: Mapping[str, float]) -> float:
        return 50 * task_s["inc"]

    estimate = estimate_stop(replace(HALFWAY, chain_s=five_at_the_end))
    # Graham's bound: the work over the workers, and three quarters of the chain.
    assert rounded(estimate) == (22.0, 21.2, 22.74)


def test_a_prefix_of_which_nothing_has_ended_may_take_nothing_or_four_times_the_mean() -> None:
    rows = [row(total=70, finished=40, duration_s=8.0), row("sum", total=30)]
    assert rounded(estimate_stop(replace(HALFWAY, rows=rows))) == (15.0, 13.38, 20.1)


def test_a_task_in_flight_is_partly_done_and_shows_that_its_kind_may_take_longer() -> None:
    # 9 s of work in 2 s are 4.5 at a time; 60 × 0.2 s less the one that is due; at most 9 s / 40 a task.
    assert rounded(estimate_stop(replace(HALFWAY, in_flight_s={"inc": [1.0]}))) == (14.62, 14.41, 15.19)


def test_a_task_that_has_run_longer_than_any_may_run_as_long_again() -> None:
    estimate = estimate_stop(replace(HALFWAY, now_s=20.0, in_flight_s={"inc": [7.0]}))
    assert estimate is not None
    assert (estimate.stop_s >= 23.5, estimate.latest_s >= 27.0) == (True, True)


def test_durations_that_rise_may_rise_as_far_again() -> None:
    rising = {"inc": np.concatenate([np.tile([0.1, 0.5], 10), np.tile([0.1, 0.7], 10)])}
    # Too uneven for a trend. The last ones take 0.4 s, all that are known took 0.35: at most 60 × 0.45 s.
    assert rounded(estimate_stop(replace(HALFWAY, recent_s=rising))) == (18.0, 13.47, 20.77)


def test_durations_on_a_rising_line_stay_or_go_on_rising() -> None:
    line = {"inc": np.linspace(0.01, 0.4, 40)}
    # The middle of the 60 tasks ahead is 30.5 after the last: 0.705 s if it goes on, 0.4 s if it ends now;
    # the guess goes three quarters of the way.
    assert rounded(estimate_stop(replace(HALFWAY, recent_s=line))) == (21.43, 16.95, 24.05)


def test_durations_on_a_falling_line_do_not_fall_to_nothing() -> None:
    line = {"inc": np.linspace(0.4, 0.01, 40)}
    # 0.01 s if it ends now; else it would be below zero, so three tenths of the mean of the last 20.
    assert rounded(estimate_stop(replace(HALFWAY, recent_s=line))) == (12.47, 12.0, 13.36)


def test_tasks_of_prefixes_of_which_none_has_ended_are_counted() -> None:
    rows = [row(total=60, finished=40, duration_s=8.0), row("sum", total=5), row("max", total=4)]
    ahead = [HALFWAY, replace(HALFWAY, rows=rows, run=replace(RUN, n_tasks=70))]
    assert [found and found.n_unseen for found in map(estimate_stop, ahead)] == [0, 5 + 4 + 1]


@pytest.mark.parametrize(
    "evidence",
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
def test_before_there_is_evidence_there_is_no_estimate(evidence: Evidence) -> None:
    assert estimate_stop(evidence) is None


def test_several_computes_have_ended_when_the_last_one_has() -> None:
    ends = [Estimate(5.0, 4.0, 9.0, 2), Estimate(6.0, 3.0, 7.0, 1)]
    assert time_left(ends, 1.0) == TimeLeft(5.0, 3.0, 8.0, 3)
    assert time_left([*ends, None], 1.0) is None
    assert time_left([], 1.0) is None


def test_an_estimate_that_has_passed_leaves_no_time() -> None:
    assert time_left([Estimate(5.0, 4.0, 9.0)], 6.0) == TimeLeft(0.0, 0.0, 3.0)
