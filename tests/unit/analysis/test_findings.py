from __future__ import annotations

import json

import pytest

from taskscope.recording import Recording
from tests.support.recordings import recording_of, run_of
from tests.support.schedules import with_dependencies
from tests.support.task_blocks import Row


def filled(
    seconds: list[float], n_workers: int, *, lag_s: float = 0.0, cpu: float = 0.0, late_s: float = 0.0
) -> Recording:
    """Return a recording of independent tasks, each on the worker that is free first."""
    free = [late_s] * n_workers
    rows = []
    for i, own_s in enumerate(seconds):
        lane = free.index(min(free))
        start_s = free[lane] + (lag_s if i >= n_workers else 0.0)
        free[lane] = start_s + own_s
        rows.append(Row(key=("x", i), lane=lane, start_s=start_s, stop_s=free[lane], cpu_s=own_s * cpu))
    run = run_of(n_tasks=len(rows), stop_s=max(free), n_workers=n_workers)
    return recording_of(rows, [run], metadata={"n_cores": 4})


def chain() -> Recording:
    rows = [Row(key=("x", i), start_s=float(i), stop_s=i + 1.0) for i in range(8)]
    rows += [Row(key=("y", i), lane=1, start_s=float(i), stop_s=i + 0.25) for i in range(4)]
    run = run_of(n_tasks=len(rows), stop_s=8.0, n_workers=2)
    return with_dependencies(rows, {i: [i - 1] for i in range(1, 8)}, [run])


def gap() -> Recording:
    rows = [Row(key="a", stop_s=1.0), Row(key="b", run=1, start_s=3.0, stop_s=4.0)]
    return recording_of(
        rows,
        [
            run_of(n_tasks=1, n_workers=1),
            run_of(1, n_tasks=1, start_s=3.0, stop_s=4.0, n_workers=1),
        ],
    )


FAULTS = {
    "interpreter-lock": (filled([1.0] * 40, 4, cpu=0.25), filled([1.0] * 40, 4, cpu=1.0), 7.5),
    "short-tasks": (filled([0.001] * 400, 4, lag_s=0.003), filled([0.1] * 40, 4, lag_s=0.003), 0.297),
    "few-tasks": (filled([1.0] * 2, 4), filled([0.25] * 8, 4), 0.5),
    "long-chain": (chain(), filled([1.0] * 8, 2), 3.5),
    "stragglers": (filled([0.25] * 15 + [8.0], 4), filled([0.25] * 16, 4), 7.75),
    "large-graph": (filled([1.0] * 8, 4, late_s=1.0), filled([1.0] * 8, 4, late_s=0.0625), 1.0),
    "client-gaps": (gap(), filled([1.0] * 4, 2), 2.0),
}
"""With a fault, without it, and how many seconds it cost."""


@pytest.mark.parametrize("cause", FAULTS)
def test_a_fault_is_the_first_finding_with_its_price_and_without_it_there_is_none(cause: str) -> None:
    with_it, without, worth_s = FAULTS[cause]
    first = with_it.explain().findings[0]
    assert (first.cause, round(first.worth_s, 6)) == (cause, worth_s)
    assert first.low_s <= first.worth_s <= first.high_s
    assert without.explain().findings == ()


def test_nothing_to_gain_is_an_answer() -> None:
    found = filled([1.0] * 8, 4).explain()
    assert str(found) == (
        "nothing to gain here that is worth 5 % of the makespan: 4 workers ran tasks 100% of the time"
    )


def test_a_finding_is_text_with_a_cure_and_plain_values() -> None:
    found = FAULTS["stragglers"][0].explain()
    assert str(found).splitlines() == [
        "stragglers: about 7.75 s of 8.75 s (5.81 s to 7.75 s)",
        "  1 task of x took more than three times as long as their like, 8 s together",
        "  split what they work on evenly (rechunk, repartition), or look what is different about them",
    ]
    assert json.loads(json.dumps(found.to_dict()))["findings"][0]["evidence"] == {
        "run": 0,
        "n_tasks": 1,
        "seconds": 8.0,
        "prefixes": ["x"],
    }


def test_what_cannot_be_replayed_is_not_explained() -> None:
    recording = recording_of([Row(key="x")], [run_of(n_tasks=3, status="interrupted")])
    assert str(recording.explain()) == (
        "cannot say why, because a compute did not finish: what was still to do is not known"
    )
