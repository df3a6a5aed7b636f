"""Whatever was recorded, there is an answer with a base, or a reason why there is none."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taskscope.model.tables.records import CLUSTER, Run, RunStatus
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

_TIMES = st.sampled_from([0.0, 0.25, 1.0, 1.5, 4.0])
_MAX_RUNS = 3
_STATUSES: tuple[RunStatus, ...] = ("finished", "finished", "finished", "erred", "interrupted", "running")
_METADATA: tuple[Mapping[str, object], ...] = ({}, {"n_cores": 2}, {"n_cores": None}, {"n_cores": 0})


@st.composite
def rows_of(draw: st.DrawFn, run: int) -> Row:
    """Return a task that may lie anywhere: beside others in its lane, or outside of its compute."""
    start_s = draw(_TIMES)
    return Row(
        key=(draw(st.sampled_from(["load", "sum"])), draw(st.integers(0, 3))),
        lane=draw(st.integers(0, 2)),
        run=run,
        start_s=start_s,
        stop_s=start_s + draw(_TIMES),
        cpu_s=draw(st.sampled_from([math.nan, 0.0, 0.25, 9.0])),
        status=draw(st.sampled_from(["finished", "erred", "lost"])),
    )


@st.composite
def runs_of(draw: st.DrawFn, number: int, n_rows: int) -> Run:
    """Return a compute of which rows may be missing, and which may not have ended."""
    start_s = draw(_TIMES)
    status = draw(st.sampled_from(_STATUSES))
    return run_of(
        number,
        n_tasks=n_rows + draw(st.sampled_from([0, 0, 0, 2])),
        start_s=start_s,
        stop_s=None if status == "running" else start_s + draw(_TIMES),
        status=status,
        n_workers=draw(st.sampled_from([None, 1, 2, 8])),
        scheduler=draw(st.sampled_from(["threads", "processes", "synchronous", CLUSTER])),
    )


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    rows: list[Row] = []
    runs: list[Run] = []
    for number in range(draw(st.integers(0, _MAX_RUNS))):
        mine = draw(st.lists(rows_of(number), max_size=6))
        rows += mine
        runs.append(draw(runs_of(number, len(mine))))
    recording = recording_of(
        rows,
        runs,
        resources=[(i / 2, draw(st.sampled_from([math.nan, 200.0])), 1e6, 1, 0.0) for i in range(4)],
        dropped=draw(st.sampled_from([0, 0, 3])),
        metadata=draw(st.sampled_from(_METADATA)),
    )
    graphs = {}
    for number, graph in recording.graphs.items():
        needs = [
            draw(st.lists(st.integers(0, i - 1), max_size=2, unique=True)) if i else []
            for i in range(len(graph.group))
        ]
        graphs[number] = replace(
            graph,
            n_dependencies=np.array([len(others) for others in needs], "u1"),
            edges=np.array([other for others in needs for other in others], "i4"),
        )
    return replace(recording, graphs=graphs if draw(st.booleans()) else recording.graphs)


def numbers_in(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        for one in value.values():
            yield from numbers_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, int | float):
        yield value


@given(recordings())
def test_an_explanation_has_prices_within_the_makespan_or_a_reason(recording: Recording) -> None:
    found = recording.explain()
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert str(found)
    assert all(number >= 0 for number in numbers_in(said))
    assert found.answer
    assert bool(found) == bool(found.findings) or found.reason is None
    for finding in found.findings:
        assert finding.low_s <= finding.worth_s <= finding.high_s <= found.makespan_s * (1 + 1e-9)


@given(recordings(), st.integers(1, 9))
def test_a_what_if_has_a_band_around_it_or_a_reason(recording: Recording, workers: int) -> None:
    case = recording.what_if(workers=workers)
    assert str(case)
    json.dumps(case.to_dict(), allow_nan=False)
    if case.reason is None:
        assert None not in (case.low_s, case.makespan_s, case.high_s)
        assert 0 <= (case.low_s or 0.0) <= (case.makespan_s or 0.0) <= (case.high_s or 0.0)
    else:
        assert (case.low_s, case.makespan_s, case.high_s) == (None, None, None)


@given(recordings())
def test_a_critical_path_adds_up_to_the_makespan(recording: Recording) -> None:
    path = recording.critical_path()
    assert str(path)
    json.dumps(path.to_dict(), allow_nan=False)
    assert (path.steps_ns >= 0).all()
    assert int(path.steps_ns.sum()) == path.makespan_ns
