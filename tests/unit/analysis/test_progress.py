from __future__ import annotations

from dataclasses import replace

import pytest

from taskscope.analysis.progress import PrefixCount, Progress, measure_progress
from taskscope.model.records import PrefixProgress, Run

RUN = Run(0, None, None, "threads", 2, 10, 5.0, None, "running", None)


def counts(
    prefix: str = "inc", *, total: int, finished: int = 0, running: int = 0, duration_s: float = 0.0
) -> PrefixProgress:
    return PrefixProgress(0, prefix, total, finished, 0, running, 0, duration_s)


def test_nothing_is_waiting_with_no_estimate() -> None:
    assert measure_progress([], [], 3.0) == Progress(0, 0, 0, 0, 0, 0.0, 0.0, None, "waiting", ())


def test_a_running_compute_is_estimated_from_means_and_concurrency() -> None:
    rows = [counts(total=6, finished=4, running=2, duration_s=8.0), counts("add", total=4)]
    progress = measure_progress(rows, [RUN], 9.0)
    # 8 s of tasks in 4 s are 2 at a time; 2 + 4 tasks of 2 s each are left.
    assert progress == Progress(
        total=10,
        finished=4,
        running=2,
        erred=0,
        interrupted=0,
        fraction=0.4,
        elapsed_s=4.0,
        eta_s=6.0,
        state="running",
        prefixes=(PrefixCount("inc", 6, 4, 2, 0), PrefixCount("add", 4, 0, 0, 0)),
    )


def test_there_is_no_estimate_before_a_task_has_ended() -> None:
    assert measure_progress([counts(total=10, running=2)], [RUN], 9.0).eta_s is None


def test_tasks_that_are_not_counted_yet_belong_to_total_and_estimate() -> None:
    progress = measure_progress([counts(total=4, finished=4, duration_s=4.0)], [RUN], 9.0)
    assert (progress.total, progress.fraction, progress.eta_s) == (10, 0.4, 6.0)


@pytest.mark.parametrize("status", ["finished", "erred", "interrupted"])
def test_an_ended_compute_has_no_estimate_and_its_own_state(status: str) -> None:
    run = replace(RUN, stop_s=7.0, status=status)  # type: ignore[arg-type]  # parametrised
    progress = measure_progress([counts(total=10, finished=10, duration_s=4.0)], [run], 9.0)
    assert (progress.state, progress.eta_s, progress.elapsed_s) == (status, None, 2.0)


def test_elapsed_time_of_computes_at_the_same_time_counts_once() -> None:
    runs = [replace(RUN, start_s=a, stop_s=b, run=i) for i, (a, b) in enumerate([(0, 4), (2, 6), (10, 11)])]
    assert measure_progress([], runs, 20.0).elapsed_s == 7.0
