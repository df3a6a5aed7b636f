from __future__ import annotations

from dataclasses import replace

import pytest

from taskscope.analysis.progress import Progress, headline, measure_progress
from taskscope.model.tables.records import Estimate, PrefixProgress, Run
from taskscope.model.tables.workers import Scheduled

RUN = Run(0, None, None, "threads", 2, 10, 5.0, None, "running", None)


def counts(
    prefix: str = "inc", *, total: int, finished: int = 0, running: int = 0, duration_s: float = 0.0
) -> PrefixProgress:
    return PrefixProgress(0, prefix, total, finished, 0, running, 0, duration_s)


def test_nothing_is_waiting_with_no_estimate() -> None:
    assert measure_progress([], [], 3.0) == Progress(0, 0, 0, 0, 0, 0.0, 0.0, None, "waiting", ())


def test_a_running_compute_has_counts_and_the_time_that_is_left() -> None:
    rows = [counts(total=6, finished=4, running=2, duration_s=8.0), counts("add", total=4)]
    assert measure_progress(rows, [RUN], 9.0, {0: Estimate(15.0, 13.0, 20.0)}) == Progress(
        total=10,
        finished=4,
        running=2,
        erred=0,
        interrupted=0,
        fraction=0.4,
        elapsed_s=4.0,
        left=Estimate(6.0, 4.0, 11.0),
        state="running",
        prefixes=tuple(rows),
    )


def test_what_tasks_ahead_wait_for_is_summed_and_partial_where_it_is_not_known_of_all() -> None:
    told, more = Scheduled(3.0, 4, True, 1, 2, 1), Scheduled(2.0, 6, True, 6, 0, 0)
    rows = [replace(counts(total=6), scheduled=told), replace(counts(total=6), run=1, scheduled=more)]
    progress = measure_progress([*rows, counts("add", total=4, finished=4)], [RUN, replace(RUN, run=1)], 9.0)
    whole = Scheduled(2.0, 10, True, 7, 2, 1)
    assert (progress.scheduled, [row.scheduled for row in progress.prefixes]) == (whole, [whole, None])
    progress = measure_progress([rows[0], counts("add", total=4)], [RUN], 9.0)
    assert (progress.scheduled, [row.scheduled for row in progress.prefixes]) == (
        replace(told, is_all=False),
        [told, None],
    )


def test_without_an_estimate_for_each_running_compute_the_time_left_is_unknown() -> None:
    runs = [RUN, replace(RUN, run=1)]
    assert measure_progress([counts(total=10)], runs, 9.0, {0: Estimate(15.0, 13.0, 20.0)}).left is None


def test_tasks_that_are_not_counted_yet_belong_to_the_total() -> None:
    progress = measure_progress([counts(total=4, finished=4, duration_s=4.0)], [RUN], 9.0)
    assert (progress.total, progress.fraction) == (10, 0.4)


def test_while_it_is_not_known_how_many_tasks_there_are_there_is_no_fraction() -> None:
    rows, runs = [counts(total=4, finished=3, duration_s=4.0)], [RUN, replace(RUN, run=1, n_tasks=0)]
    at_work, over = (
        measure_progress(rows, [run, runs[0]], 9.0) for run in (runs[1], replace(runs[1], status="erred"))
    )
    assert (at_work.fraction, over.fraction) == (0.0, 0.3)


@pytest.mark.parametrize("status", ["finished", "erred", "interrupted"])
def test_an_ended_compute_has_no_estimate_and_its_own_state(status: str) -> None:
    run = replace(RUN, stop_s=7.0, status=status)  # type: ignore[arg-type]  # parametrised
    progress = measure_progress([counts(total=10, finished=10)], [run], 9.0, {0: Estimate(9.0, 9.0, 9.0)})
    assert (progress.state, progress.left, progress.elapsed_s) == (status, None, 2.0)


def test_elapsed_time_of_computes_at_the_same_time_counts_once() -> None:
    runs = [replace(RUN, start_s=a, stop_s=b, run=i) for i, (a, b) in enumerate([(0, 4), (2, 6), (10, 11)])]
    assert measure_progress([], runs, 20.0).elapsed_s == 7.0


@pytest.mark.parametrize(
    ("spans", "shown"),
    [
        ([], []),
        ([(0, 1), (2, 3), (4, None)], [2]),
        # One that was cancelled, or failed, is no headline of the next.
        ([(0, 1), (2, 3)], [1]),
        # Two threads, or a cluster that goes on in the background.
        ([(0, None), (1, 2), (2, None)], [0, 2]),
        # The one around others ends last.
        ([(0, 5), (1, 2), (3, 4)], [0]),
    ],
)
def test_the_headline_of_a_session_is_what_runs_else_what_ran_last(
    spans: list[tuple[float, float | None]], shown: list[int]
) -> None:
    runs = [
        replace(RUN, run=i, start_s=start, stop_s=stop, status="running" if stop is None else "erred")
        for i, (start, stop) in enumerate(spans)
    ]
    assert [run.run for run in headline(runs)] == shown
