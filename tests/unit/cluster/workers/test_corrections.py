"""What workers have added to their times, from reports that may be late, without a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from taskscope.sources.cluster.rows import Corrections, Executions, read_executions
from tests.support.clusters.scheduler_events import record

IN_TIME_S = 0.001


def executions(*records: Mapping[str, Any]) -> Executions:
    told, errors = read_executions(records)
    assert errors == []
    return told


def found_in(
    known: Corrections,
    added: Sequence[float],
    late: Sequence[float],
    apart_s: float,
    *,
    first: float = 100.0,
    threads: Sequence[int] | None = None,
) -> list[float]:
    """Return what is found that a worker has added to tasks that took 9 ms and stopped so far apart."""
    stops = [first + number * apart_s for number in range(len(added))]
    told = executions(
        *(
            record(stop + more - 0.009, stop + more, stop + wait, thread=thread)
            for stop, more, wait, thread in zip(stops, added, late, threads or [5] * len(added), strict=True)
        ),
        record(99, 100, 100, stimulus_id="odd", worker="tcp://10.0.0.3:1"),
    )
    found = known.applied(told)
    assert np.isnan(found).tolist() == [False] * len(added) + [True]
    return list(found[:-1].tolist())


def corrections(
    added: Sequence[float], late: Sequence[float], apart_s: float, threads: Sequence[int] | None = None
) -> list[float]:
    return found_in(Corrections(), added, late, apart_s, threads=threads)


def test_a_task_does_not_begin_before_the_last_one_on_its_thread_is_over() -> None:
    # The last one seems to be late by 0.04 s, but what is added has changed: else it had run beside another.
    added = [0.5] * 4 + [0.46]
    assert corrections(added, [IN_TIME_S] * 5, 0.01) == pytest.approx([0.499] * 4 + [0.459], abs=0.002)


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
    known, found = Corrections(), np.empty(len(run))
    for look in np.unique(run[:, 3]):
        mine = np.flatnonzero(run[:, 3] == look)
        told = executions(*(record(stop - 0.005, stop, stop - seen) for stop, seen, *_ in run[mine].tolist()))
        found[mine] = known.applied(told)
    return np.abs(found - run[:, 2])


def test_the_largest_error_is_mostly_less_than_if_nothing_was_taken_out() -> None:
    runs = [simulated(seed) for seed in range(20)]
    ours = np.array([errors(run) for run in runs])
    theirs = np.array([np.abs(run[:, 2]) for run in runs])
    assert np.percentile(ours, 95) < 0.001 < np.percentile(theirs, 95)
    assert np.median(ours.max(axis=1)) < np.median(theirs.max(axis=1)) / 2
