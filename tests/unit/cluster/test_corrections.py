"""What workers have added to their times, from reports that may be late, without a worker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from taskscope.sources.cluster.corrections import Reports, applied_corrections
from tests.unit.cluster.test_records import executions, record

IN_TIME_S = 0.001


def found_in(
    reports: Reports, added: Sequence[float], late: Sequence[float], apart_s: float, first: float = 100.0
) -> list[float]:
    """Return what is found that a worker has added to tasks that stopped so far apart."""
    told = executions(
        *(
            record(first + i * apart_s + a - 1, first + i * apart_s + a, first + i * apart_s + wait)
            for i, (a, wait) in enumerate(zip(added, late, strict=True))
        ),
        record(99, 100, 100, stimulus_id="odd"),
    )
    # The last is another worker's.
    worker = np.array([0] * len(added) + [1])
    found = applied_corrections(worker, told, [reports, Reports()])
    assert np.isnan(found).tolist() == [False] * len(added) + [True]
    return list(found[:-1].tolist())


def corrections(added: Sequence[float], late: Sequence[float], apart_s: float) -> list[float]:
    return found_in(Reports(), added, late, apart_s)


def heard(added: Sequence[float]) -> Reports:
    """Return the reports of a worker that has added this before, each in a stretch of its own."""
    reports = Reports()
    found_in(reports, added, [IN_TIME_S] * len(added), 1.0, 100.0 - len(added))
    return reports


def test_what_a_worker_added_is_seen_in_spite_of_late_reports_and_of_heartbeats() -> None:
    # It adds 0.5 s, from the fifth task on 0.25 s. The second report is late by 0.1 s.
    added = [0.5] * 4 + [0.25] * 4
    late = [0.001, 0.1, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001]
    assert corrections(added, late, 0.01) == pytest.approx([a - 0.001 for a in added])


@pytest.mark.parametrize("late", [[0.1, 0.001, 0.001, 0.001, 0.1], [0.001, 0.1, 0.1, 0.1, 0.001]])
def test_reports_may_be_late_where_nothing_is_told_of_before_or_of_after(late: list[float]) -> None:
    assert corrections([0.5] * 5, late, 0.01) == pytest.approx([0.499] * 5)


def test_what_was_added_to_tasks_that_are_far_apart_is_what_each_says_itself() -> None:
    assert corrections([0.5, 0.25, 0.5], [0.001, 0.002, 0.003], 0.5) == pytest.approx([0.499, 0.248, 0.497])


def test_the_first_report_of_a_look_is_compared_with_the_last_of_the_one_before() -> None:
    reports = Reports()
    found_in(reports, [0.5] * 4, [IN_TIME_S] * 4, 0.01)
    # The same worker could begin its next task only once the late report was made.
    late = found_in(reports, [0.5, 0.5], [0.08, IN_TIME_S], 0.09, first=100.04)
    assert late == pytest.approx([0.499] * 2)


def test_what_is_read_again_is_no_witness_of_itself() -> None:
    reports = Reports()
    for _ in range(2):
        assert found_in(reports, [0.5, 0.5], [0.08, IN_TIME_S], 0.09) == pytest.approx([0.42, 0.499])


USUAL = [0.5, 0.502, 0.498, 0.501, 0.499, 0.503, 0.497, 0.5]


@pytest.mark.parametrize(
    ("added", "late", "apart_s", "expected"),
    [
        # Alone, and 80 ms less than usual, where 2 ms are usual: as if it was in time, with what is usual.
        ([0.5], [0.08], 0.0, [0.499]),
        # What it adds now is known from the next one, which is too far away to be believed otherwise.
        ([0.505, 0.505], [0.08, IN_TIME_S], 0.1, [0.504, 0.504]),
        # Within what heartbeats were seen to differ, it is believed.
        ([0.49], [IN_TIME_S], 0.0, [0.489]),
        # So is the second of two that say the same, and a clock that was set.
        ([0.4, 0.4], [IN_TIME_S] * 2, 10.0, [0.499, 0.399]),
        ([-3599.5], [IN_TIME_S], 0.0, [-3599.501]),
        # And whatever is more than usual.
        ([0.9], [IN_TIME_S], 0.0, [0.899]),
    ],
)
def test_what_only_one_report_says_is_believed_as_far_as_heartbeats_can_explain_it(
    added: list[float], late: list[float], apart_s: float, expected: list[float]
) -> None:
    assert found_in(heard(USUAL), added, late, apart_s) == pytest.approx(expected)


def test_where_little_is_known_of_a_worker_every_report_is_believed() -> None:
    assert found_in(heard(USUAL[1:]), [0.5], [0.08], 0.0) == pytest.approx([0.42])


_Run = NDArray[np.float64]


def simulated(seed: int) -> _Run:
    """Return when tasks stopped by their worker, what that seemed to have added, what it had, and the look.

    Ten bursts of twenty tasks on one thread, messages that take an exponential time of 20 ms each way, and
    reports that are late by 40 ms: one in ten at the beginning of a burst, else one in a hundred.
    """
    chance = np.random.default_rng(seed)
    rows: list[tuple[float, ...]] = []
    now = beat = added = 0.0
    for _ in range(10):
        for number in range(20):
            while beat <= now:
                there, back = chance.exponential(0.02, 2)
                beat, added = beat + 0.5, (there - back) / 2
            stop = now + 0.005
            late = 0.0001 + chance.exponential(0.0003)
            if chance.random() < (0.01 if number else 0.1):
                late += chance.exponential(0.04)
            now = stop + late + 0.0005
            rows.append((stop + added, added - late, added, (stop + late) // 0.2))
        now += 0.6
    return np.array(rows)


def errors(run: _Run) -> NDArray[np.float64]:
    """Return by how much what is found is off, in seconds, when it is read in looks."""
    reports, found = Reports(), np.empty(len(run))
    for look in np.unique(run[:, 3]):
        mine = np.flatnonzero(run[:, 3] == look)
        told = executions(*(record(stop - 0.005, stop, stop - seen) for stop, seen, *_ in run[mine].tolist()))
        found[mine] = applied_corrections(np.zeros(len(mine), np.int64), told, [reports])
    return np.abs(found - run[:, 2])


def test_the_largest_error_is_mostly_less_than_if_nothing_was_taken_out() -> None:
    runs = [simulated(seed) for seed in range(20)]
    ours = np.array([errors(run) for run in runs])
    theirs = np.array([np.abs(run[:, 2]) for run in runs])
    assert np.percentile(ours, 95) < 0.001 < np.percentile(theirs, 95)
    assert np.median(ours.max(axis=1)) < np.median(theirs.max(axis=1)) / 2
