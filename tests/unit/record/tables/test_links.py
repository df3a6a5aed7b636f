from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from taskscope.model.tables.columns import Link, TaskLinks
from taskscope.record import Recorder
from taskscope.record.writers.graph import GraphBuilder, GraphSource
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import DIAMOND, begin_run, end_run, record_run, write_task


@pytest.fixture
def recorder(fake_clock: FakeClock) -> Recorder:
    return Recorder(clock=fake_clock)


def record_diamond(recorder: Recorder, *, ended: int = 4) -> None:
    log = begin_run(recorder, DIAMOND, data={"data": 8.0})
    for place, key in enumerate([("x", 1), ("x", 0), "sum", "last"][:ended]):
        write_task(log, key, log.start + place, log.start + place + 1)
    if ended == 4:
        end_run(log)
    while recorder.pull():
        pass


def test_a_task_knows_what_it_needs_and_what_needs_it_with_the_rows_of_those_that_ended(
    recorder: Recorder,
) -> None:
    record_run(recorder, ["before"])
    record_diamond(recorder)
    x0, x1 = Link(2, "('x', 0)"), Link(1, "('x', 1)")
    data = Link(None, "data")
    assert [recorder.links(row, 10) for row in (0, 1, 3, 4)] == [
        TaskLinks((), 0, (), 0),
        TaskLinks((data,), 1, (Link(3, "sum"),), 1),
        TaskLinks((x1, x0), 2, (Link(4, "last"),), 1),
        TaskLinks((Link(3, "sum"),), 1, (), 0),
    ]


def test_while_the_compute_runs_what_has_not_ended_has_no_row(recorder: Recorder) -> None:
    record_diamond(recorder, ended=1)
    assert recorder.links(0, 10) == TaskLinks((Link(None, "data"),), 1, (Link(None, "sum"),), 1)


def test_more_links_than_asked_for_are_counted(recorder: Recorder) -> None:
    record_diamond(recorder)
    links = recorder.links(2, 1)
    assert links == TaskLinks((Link(0, "('x', 1)"),), 2, (Link(3, "last"),), 1)


def test_rows_that_are_not_held_have_no_links_and_are_no_ends(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock, max_tasks=2)
    record_diamond(recorder)
    assert [recorder.links(row, 10) for row in (0, 1, 4)] == [None, None, None]
    assert recorder.links(2, 10) == TaskLinks(
        (Link(None, "('x', 1)"), Link(None, "('x', 0)")), 2, (Link(3, "last"),), 1
    )


graphs = st.integers(1, 30).flatmap(
    lambda n: st.lists(st.sets(st.integers(0, n - 1), max_size=4), min_size=n, max_size=n)
)


@given(graphs, st.data())
def test_neighbours_are_the_same_however_far_the_graph_was_processed(
    needs: list[set[int]], data: st.DataObject
) -> None:
    source = GraphSource(
        {f"k{i}": {f"k{n}" for n in needed} for i, needed in enumerate(needs)}, frozenset(), {}
    )
    builder = GraphBuilder(source, 0.0, lambda keys: [0] * len(keys))
    builder.advance(data.draw(st.integers(0, len(needs))))
    place = data.draw(st.integers(0, len(needs) - 1))
    (task,) = builder.numbers([f"k{place}"]).tolist()

    def names(found: Iterable[NDArray[np.int64]]) -> list[set[str]]:
        blocks = [builder.identify(numbers.astype(np.int32))[1] for numbers in found]
        return [set(block.iter_text([""] * len(block))) for block in blocks]

    expected = [
        {f"k{n}" for n in needs[place]},
        {f"k{i}" for i, needed in enumerate(needs) if place in needed},
    ]
    assert names(builder.neighbours(task)) == expected
    assert names(builder.finish().neighbours(task)) == expected
