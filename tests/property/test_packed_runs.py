"""Packing old computes changes nothing that anybody reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from taskscope.record import Recorder, RunLog
from taskscope.record import recorder as recorder_module
from taskscope.record.tables import packing
from taskscope.recording import Recording
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, independent, write_task

_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.integers(1, 4)),
        st.tuples(st.just("end"), st.integers(0, 3)),
        st.tuples(st.just("compute"), st.integers(1, 4)),
        st.tuples(st.just("samples"), st.integers(0, 6)),
        st.tuples(st.just("window"), st.just(0)),
    ),
    min_size=8,
    max_size=30,
)


def recorded(steps: list[tuple[str, int]], max_tasks: int) -> Iterator[list[Any]]:
    """Record computes in these steps; yield all that can be read after each."""
    clock = FakeClock()
    recorder = Recorder(clock=clock, max_tasks=max_tasks)
    going: list[tuple[RunLog, int]] = []
    for step, n in steps:
        if step in ("begin", "compute"):
            number = recorder.next_run
            log = begin_run(recorder, independent([(f"x-{number % 3}", i) for i in range(n)]))
            going.append((log, n))
        if step in ("end", "compute") and going:
            log, n_tasks = going.pop(-1 if step == "compute" else n % len(going))
            for i in range(n_tasks):
                write_task(log, (f"x-{log.run % 3}", i), clock.perf_counter(), clock.perf_counter() + 1)
                clock.advance(1.5)
            end_run(log, status="erred" if n_tasks == 3 else "finished")
        if step == "samples":
            recorder.hand_over_samples(0.0, n, [])
        if step == "window":
            recorder.open_window()
        clock.advance(0.5)
        recorder.pull_all()
        yield all_read(recorder)


def all_read(recorder: Recorder) -> list[Any]:
    runs, tasks = recorder.runs(), recorder.tasks_since(0, 1_000)
    recording = Recording.of(recorder.snapshot())
    return [
        runs,
        recorder.runs(2, 5),
        [recorder.runs_since(version) for version in range(0, recorder.version + 1, 3)],
        recorder.progress(),
        recorder.run_numbers(3),
        recorder.dropped_of(0, None),
        (tasks[0], [tasks[1].group.tolist(), tasks[1].start.tolist()]),
        [recorder.links(row, 3) for row in range(recorder.cursor)],
        [None if (ended := recorder.ended(run.run)) is None else ended.tolist() for run in runs],
        [recording.to_pandas(name).to_csv() for name in ("runs", "tasks")],
    ]


@settings(max_examples=25, deadline=None)
@given(_STEPS, st.sampled_from([3, 7, 1_000]), st.sampled_from([6, 1_000]))
def test_what_is_read_is_the_same_with_old_computes_packed(
    steps: list[tuple[str, int]], max_tasks: int, max_runs: int
) -> None:
    found = []
    for n_open, n_packed in ((10_000, 10_000), (2, 2)):
        with (
            patch.object(packing, "N_OPEN", n_open),
            patch.object(packing, "N_PACKED", n_packed),
            patch.object(recorder_module, "_MAX_RUNS", max_runs),
        ):
            found.append(list(recorded(steps, max_tasks)))
    assert found[0] == found[1]
