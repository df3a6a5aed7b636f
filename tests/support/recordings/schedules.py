"""Recordings of graphs as a greedy scheduler without any cost would run them, spelled out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from taskscope.model.tables.records import Run
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

__all__ = ["GRAPHS", "Plan", "greedy", "recorded", "with_dependencies"]


@dataclass(frozen=True)
class Plan:
    """Tasks by number; each needs some of those before it.

    Parameters
    ----------
    needs, seconds
        What each task needs, and how long it takes.
    lags
        How long each begins after it could.
    """

    needs: tuple[frozenset[int], ...]
    seconds: tuple[int, ...]
    lags: tuple[int, ...]
    n_workers: int


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    n = draw(st.integers(1, 9))
    needs = tuple(
        frozenset(draw(st.sets(st.integers(0, i - 1), max_size=3))) if i else frozenset[int]()
        for i in range(n)
    )
    seconds = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    lags = draw(st.one_of(st.just([0] * n), st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    return Plan(needs, tuple(seconds), tuple(lags), draw(st.integers(1, 4)))


GRAPHS = plans()


def greedy(plan: Plan) -> list[Row]:
    """Return the tasks in the order of their starts; of those that could start the lowest number does."""
    free = [0] * plan.n_workers
    stop: dict[int, int] = {}
    rows: list[Row] = []
    left = set(range(len(plan.needs)))
    while left:
        able = {
            task: max((stop[other] for other in plan.needs[task]), default=0)
            for task in left
            if plan.needs[task] <= set(stop)
        }
        earliest = min(max(at, min(free)) for at in able.values())
        task = min(task for task, at in able.items() if max(at, min(free)) == earliest)
        lane = free.index(min(free))
        start = earliest + plan.lags[task]
        stop[task] = free[lane] = start + plan.seconds[task]
        rows.append(Row(key=("x", task), lane=lane, start_s=float(start), stop_s=float(stop[task])))
        left.remove(task)
    return sorted(rows, key=lambda row: (row.start_s, row.stop_s))


def recorded(plan: Plan, rows: Sequence[Row] | None = None) -> Recording:
    """Return the recording of a plan; it ends with its last task."""
    rows = greedy(plan) if rows is None else rows
    numbers = [key[1] for key in (row.key for row in rows) if isinstance(key, tuple)]
    place = {number: i for i, number in enumerate(numbers)}
    needs = {i: [place[other] for other in sorted(plan.needs[number])] for number, i in place.items()}
    run = run_of(n_tasks=len(rows), stop_s=max(row.stop_s for row in rows), n_workers=plan.n_workers)
    return with_dependencies(rows, needs, [run])


def with_dependencies(
    rows: Sequence[Row], needs: Mapping[int, Sequence[int]], runs: Sequence[Run] | None = None
) -> Recording:
    """Return a recording of one compute in which the tasks of these rows need those of others."""
    recording = recording_of(rows, runs)
    counts = np.array([len(needs.get(i, ())) for i in range(len(rows))], "u1")
    edges = np.array([other for i in range(len(rows)) for other in needs.get(i, ())], "i4")
    graphs = {
        run: replace(graph, n_dependencies=counts, edges=edges) for run, graph in recording.graphs.items()
    }
    return replace(recording, graphs=graphs)
